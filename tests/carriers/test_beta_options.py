"""An order's fields beyond name, street and weight, and where beta gets them: read from the sandbox's ledger."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from carriers.errors import RequestRejected
from carriers.products import PARIS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Package, ProductOverride
from tests.carriers.conftest import Serve, SetTime
from tests.carriers.support.beta import bodies, labels
from tests.carriers.support.pdfs import merged, sizes
from tests.carriers.support.sandbox import POSTAL_CODES, Desk
from tests.carriers.support.shipments import CREDENTIALS, client, shipment

BETA = CREDENTIALS["beta"]
FRANCE, EUROPE = "beta_point_retrait_france", "beta_point_retrait_europe"
SIGNED, SIGNED_OVERSEAS = "beta_domicile_signature_france", "beta_domicile_signature_outre_mer"
REUNION = {"country_code": "RE", "zip_code": "97400"}
PAPERS = {"10x15": (283, 425), "A4": (595, 842)}


@pytest.fixture
def desk(sandbox: SandboxServer) -> Desk:
    return Desk(sandbox, "beta")


def letter_of(desk: Desk, code: str = "", **changes: Any) -> dict[str, Any]:
    (request,) = desk.received(code, **changes)
    letter: dict[str, Any] = request["letter"]
    return letter


def lines(letter: dict[str, Any], party: str = "addressee") -> dict[str, str]:
    address: dict[str, str] = letter[party]["address"]
    return {name: text for name, text in address.items() if name in ("companyName", "line0", "line1", "line2", "line3")}


# Addresses


@pytest.mark.parametrize("party", ["addressee", "sender"])
def test_company_and_second_line_are_printed(desk: Desk, party: str) -> None:
    said = {"company": "Zimmer & Co", "address1": "12-14 rue n°5", "address2": "Bât. C, 3e étage"}
    changes: dict[str, Any] = {"recipient" if party == "addressee" else party: said}
    letter = letter_of(desk, **changes)
    assert lines(letter, party) == {"companyName": "Zimmer & Co", "line2": "12-14 rue n°5", "line3": "Bât. C, 3e étage"}


def test_of_a_pickup_order_the_customers_own_address_is_neither_printed_nor_refused(desk: Desk) -> None:
    home = {"company": "x" * 60, "address1": "mot " * 30, "address2": "y" * 60}
    letter = letter_of(desk, FRANCE, recipient=home)
    assert lines(letter) == {"companyName": "Tabac du Port", "line2": "12 quai de la Fosse"}
    assert "mot" not in str(letter)


@pytest.mark.parametrize("words", ["😀", "♥", "\u200b", "東京"])
def test_of_a_pickup_order_the_customers_own_words_need_not_be_printable(desk: Desk, words: str) -> None:
    home = {"company": words, "address1": words, "address2": words, "city": words, "zip_code": words}
    letter = letter_of(desk, FRANCE, recipient=home)
    assert lines(letter) == {"companyName": "Tabac du Port", "line2": "12 quai de la Fosse"}


def test_the_label_of_a_pickup_product_says_where_it_goes(desk: Desk) -> None:
    point = desk.buy(FRANCE, pickup_point_code="123456").pickup_point
    assert point is not None
    assert (point.code, point.name, point.address1, point.address2, point.zip_code, point.city, point.country_code) == (
        "123456",
        "Épicerie du Bœuf",
        "9 rue du Bœuf",
        "Angle de la place",
        "69005",
        "Lyon",
        "FR",
    )
    assert desk.buy().pickup_point is None


@pytest.mark.parametrize("zip_code", ["00000", "12345", "-"])
def test_the_emirates_have_no_postal_code(desk: Desk, zip_code: str) -> None:
    letter = letter_of(desk, recipient={"country_code": "AE", "zip_code": zip_code})
    assert letter["addressee"]["address"]["zipCode"] == "00000"


# Words to the driver


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("Code 12A", "Code 12A"),
        ("L'été, 2e étage \u2013 n°5 (gauche)", "L ete 2e etage n 5 gauche"),
        ("Sonner @ Œuvrard & Fils", "Sonner Oeuvrard Fils"),
        ("12\u201314, 7½ Straße", "12 14 7 1 2 Strasse"),
        ("é" * 35, "e" * 35),
        *((said, None) for said in ("", " ", "…")),
    ],
)
def test_instructions_are_letters_and_digits_or_no_field(desk: Desk, said: str, sent: str | None) -> None:
    assert letter_of(desk, instructions=said)["parcel"].get("instructions") == sent


# Insurance


@pytest.mark.parametrize(
    ("code", "changes", "value", "cents"),
    [
        (SIGNED, {}, "5000", 500_000),
        (SIGNED, {}, "0.01", 1),
        (SIGNED, {}, "149.99", 14_999),
        (FRANCE, {}, "1000", 100_000),
        (SIGNED_OVERSEAS, {}, "5000", 500_000),
        ("beta", {"recipient": {"country_code": "DE"}}, "12.30", 1_230),
        ("beta", {"sender": REUNION, "recipient": {"country_code": "DE"}}, "9", 900),
        (SIGNED, {}, None, None),
    ],
)
def test_a_value_is_insured_in_cents(
    desk: Desk, code: str, changes: dict[str, Any], value: str | None, cents: int | None
) -> None:
    parcel = letter_of(desk, code, insured_value_eur=Decimal(value) if value else None, **changes)["parcel"]
    assert parcel.get("insuranceValue") == cents


def test_every_parcel_is_insured_for_the_value(desk: Desk) -> None:
    received = desk.received(SIGNED, 3, insured_value_eur=Decimal(200))
    assert [request["letter"]["parcel"]["insuranceValue"] for request in received] == [20_000] * 3


@pytest.mark.parametrize(
    ("code", "changes", "value"),
    [
        ("beta", {}, "10"),
        ("beta_domicile_sans_signature_outre_mer", {}, "10"),
        (SIGNED, {}, "5000.01"),
        (SIGNED, {}, "0"),
        (FRANCE, {}, "1000.01"),
        (FRANCE, {"override": ProductOverride("A2P")}, "10"),
        ("beta_domicile_signature_monde", {"recipient": {"country_code": "SX", "zip_code": "0"}}, "10"),
    ],
)
def test_a_value_that_the_product_does_not_insure_is_refused_by_name(
    desk: Desk, code: str, changes: dict[str, Any], value: str
) -> None:
    error = desk.refuse(code, insured_value_eur=Decimal(value), **changes)
    assert (type(error), error.field) == (RequestRejected, "insuredValue")


# Paper, references, the network


@pytest.mark.parametrize("paper", PAPERS)
def test_labels_are_drawn_on_the_paper_that_the_order_names(desk: Desk, paper: str) -> None:
    assert sizes(merged(desk.buy(count=2, label_format=paper))) == [PAPERS[paper]] * 2


def test_a_parcels_own_reference_takes_the_place_of_the_orders(desk: Desk) -> None:
    packages = (Package(Decimal(1), reference="N°1 rouge-vif"), Package(Decimal(2)))
    received = desk.received(packages=packages)
    assert [request["letter"]["sender"]["senderParcelRef"] for request in received] == ["N°1 rouge-vif", "CMD 4711"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        *(({"instructions": said}, "destinationAddress.instructions") for said in ("x" * 36, "ß" * 18, "Позвоните")),
        *(
            ({"packages": (Package(Decimal(1)), Package(Decimal(2), reference=reference))}, "parcels[1].reference")
            for reference in ("x" * 16, "заказ")
        ),
    ],
)
def test_text_that_cannot_be_printed_is_refused_by_name(desk: Desk, changes: dict[str, Any], field: str) -> None:
    error = desk.refuse(**changes)
    assert (type(error), error.field) == (RequestRejected, field)


@pytest.mark.parametrize(
    ("code", "country", "zip_code", "network"),
    [
        *(("beta", "ES", zip_code, 1) for zip_code in ("35002", "38001", "51001", "52001")),
        ("beta", "ES", "\ufeff35002", 1),
        (EUROPE, "ES", "35001", 1),
        ("beta", "ES", "28012", None),
        ("beta", "DE", "35037", None),
    ],
)
def test_the_local_post_is_said_to_the_canaries_ceuta_and_melilla(
    desk: Desk, code: str, country: str, zip_code: str, network: int | None
) -> None:
    point = {"pickup_point_code": "840102"} if code == EUROPE else {}
    recipient = {"country_code": country, "zip_code": zip_code, "city": "Las Palmas"}
    assert letter_of(desk, code, recipient=recipient, **point)["service"].get("reseauPostal") == network


@pytest.mark.parametrize(("country", "choice"), [("US", 2), ("CH", 3), ("DE", 3)])
def test_what_is_not_delivered_comes_back_from_the_united_states_alone(desk: Desk, country: str, choice: int) -> None:
    recipient = {"country_code": country, "zip_code": POSTAL_CODES[country]}
    assert letter_of(desk, recipient=recipient)["service"]["returnTypeChoice"] == choice


# The day


def midnight() -> datetime:
    """Return the end of a day that the sandbox does not refuse."""
    return datetime.combine(datetime.now(PARIS).date() + timedelta(days=2), datetime.min.time(), PARIS)


def test_the_day_of_deposit_is_that_of_the_call_in_paris(desk: Desk, at: SetTime) -> None:
    for moment, day in ((midnight() - timedelta(seconds=1), 1), (midnight(), 2)):
        at(moment)
        letter = letter_of(desk)
        assert letter["service"]["depositDate"] == str(datetime.now(PARIS).date() + timedelta(days=day))


def test_each_parcel_has_the_day_of_its_own_call(serve: Serve, at: SetTime) -> None:
    answers = labels(2)

    def overnight(stream: Any, request: bytes) -> bool:
        at(midnight())
        stream.sendall(answers.pop(0))
        return True

    at(midnight() - timedelta(seconds=1))
    server = serve(overnight)
    client("beta", server.url).create_label(shipment("beta", 2), BETA)
    days = [date.fromisoformat(body["letter"]["service"]["depositDate"]) for body in bodies(server)]
    assert days == [midnight().date() - timedelta(days=1), midnight().date()]


@pytest.mark.parametrize(("days", "expected"), [(-1, 0), (0, 0), (7, 7)])
def test_an_order_may_name_a_later_day(desk: Desk, days: int, expected: int) -> None:
    today = datetime.now(PARIS).date()
    letter = letter_of(desk, ship_on=today + timedelta(days=days))
    assert letter["service"]["depositDate"] == str(today + timedelta(days=expected))
