"""Secrets and addresses show in no repr, no log line and no error text, even when a carrier echoes them."""

import logging
import traceback
from contextlib import nullcontext
from dataclasses import replace

import pytest

from carriers.base import Limits
from carriers.beta.client import MAX_WARNINGS
from carriers.errors import CarrierError
from carriers.redaction import MAX_TEXT_LENGTH, Redactor
from carriers.shipment import Credentials, PurchasedLabel
from tests.carriers.conftest import Serve
from tests.carriers.support.logs import said
from tests.carriers.support.servers import LABEL, MULTIPART, always, answer_file, http, once
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, RECIPIENT, SENDER, client, shipment

SECRETS = ("255562", "s3cret-Pass", "k-123456", "19869502", "804735")
PERSONAL = (
    *("Zoé", "Lefèvre", "Lefevre", "Bougies & Cie", "3 rue de l'Église", "69002", "atelier@shop.example"),
    *("Søren", "Soren", "Grünwald", "Grunwald", "128 boulevard Œdipe", "128 boulevard Oedipe", "Bâtiment C"),
    *("75011", "+33612345678", "0612345678", "soren@mail.example", "3 rue de lEglise", "Oedipe"),
)


def hidden(text: str) -> list[str]:
    """What shows although it must not."""
    return [value for value in (*SECRETS, *PERSONAL) if value.lower() in text.lower()]


def test_no_repr_shows_a_secret_or_an_address() -> None:
    order = shipment("relais")
    label = PurchasedLabel(("XS1",), b"%PDF-1.4 Lefevre")
    keys = replace(CREDENTIALS["beta"], account_number="", api_key="k-123456")
    for thing in (order, order.sender, order.recipient, keys, label):
        assert hidden(repr(thing)) == []
    assert hidden(repr(Credentials(password="255562"))) == []


@BOTH
def test_a_carrier_that_echoes_everything_gives_an_error_text_without_it(serve: Serve, carrier: str) -> None:
    echo = " | ".join((*SECRETS, *PERSONAL))[:1900]
    if carrier == "alpha":
        text = echo.replace("&", "&amp;").encode()
        server = serve(
            always(http(answer_file("alpha_refusal.xml").replace(b"@TEXT@", text).replace(b"@CODE@", b"38")))
        )
        shown = {"255562", "19869502"}
    else:
        body = answer_file("beta_refusal.json").replace(b"@TEXT@", echo.encode()).replace(b"@CODE@", b"s3cret-Pass")
        server = serve(always(http(body, 400, "application/json")))
        shown = {"s3cret-Pass", "804735"}
    with pytest.raises(CarrierError) as caught:
        client(carrier, server.url).create_label(shipment(PRODUCT[carrier]), CREDENTIALS[carrier])
    # What belongs to the other carrier's contract is unknown to this one.
    foreign = set(SECRETS) - shown
    whole = "".join(traceback.format_exception(caught.value))
    assert set(hidden(str(caught.value))) <= foreign
    assert set(hidden(caught.value.carrier_code + caught.value.carrier_text)) <= foreign
    assert set(hidden(whole)) <= foreign


def test_warnings_are_cleaned_like_errors_and_there_is_an_end_of_them(serve: Serve) -> None:
    warning = b'{"id": "30219", "type": "WARNING", "messageContent": "%s"}'
    echo = warning % f"{RECIPIENT.address1} s3cret-Pass".encode()
    many = b", ".join([echo, *(warning % str(number).encode() for number in range(2 * MAX_WARNINGS))])
    answer = answer_file("beta_parcel_1.multipart").replace(b'{"messages": [', b'{"messages": [' + many + b", ")
    server = serve(always(http(answer, content_type=MULTIPART)))
    label = client("beta", server.url).create_label(shipment("beta"), CREDENTIALS["beta"])
    assert hidden(" ".join(label.warnings)) == []
    assert len(label.warnings) == MAX_WARNINGS


@BOTH
@pytest.mark.parametrize("outcome", ["ok", "outcome_unknown"])
def test_one_log_line_tells_the_facts_and_nothing_personal(
    serve: Serve, carrier: str, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(always(LABEL[carrier]) if outcome == "ok" else once(b""))
    with caplog.at_level(logging.DEBUG):
        expected = nullcontext() if outcome == "ok" else pytest.raises(CarrierError)
        with expected:
            client(carrier, server.url).create_label(shipment(PRODUCT[carrier]), CREDENTIALS[carrier])
    records = [record for record in caplog.records if record.name == "carriers"]
    assert len(records) == 1
    facts = vars(records[0])
    assert facts["carrier"] == carrier
    assert facts["operation"] == {"alpha": "shippingMultiParcelV4", "beta": "generateLabel"}[carrier]
    assert facts["outcome"] == outcome
    assert facts["http_status"] == (200 if outcome == "ok" else None)
    assert facts["carrier_code"] == ""
    assert isinstance(facts["duration_ms"], int)
    assert hidden(said(caplog.records)) == []


def test_a_call_that_is_refused_at_once_is_logged_too(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(once(b""))
    alpha = client("alpha", server.url, Limits(failure_threshold=1))
    for _ in range(2):
        with pytest.raises(CarrierError):
            alpha.create_label(shipment(), CREDENTIALS["alpha"])
    outcomes = [vars(record)["outcome"] for record in caplog.records if record.name == "carriers"]
    assert outcomes == ["outcome_unknown", "unavailable"]
    assert len(server.requests) == 1


def test_control_characters_and_length_are_taken_from_a_carriers_text() -> None:
    redactor = Redactor(CREDENTIALS["alpha"], shipment())
    assert redactor.text("a\x00b\x1b[31m\r\nc\u202ed\u2028e") == "a b [31m c d e"
    assert len(redactor.text("mot " * 10_000)) <= MAX_TEXT_LENGTH
    assert redactor.text("mot " * 10_000).endswith("…")
    assert redactor.code("x" * 33) == ""


def test_words_of_an_address_are_masked_wherever_a_carrier_cuts_it() -> None:
    redactor = Redactor(CREDENTIALS["alpha"], shipment())
    assert redactor.text("Street 'boulevard Œdipe' unknown") == "Street '*** ***' unknown"
    assert redactor.text("no route to 75011 PARIS for grunwald") == "no route to *** *** for ***"
    assert redactor.text("contrat 19869502/255562") == "contrat ***/***"


def test_a_cleaner_without_anything_to_hide_hides_nothing() -> None:
    assert Redactor(Credentials()).text("System error") == "System error"
    assert SENDER != RECIPIENT
