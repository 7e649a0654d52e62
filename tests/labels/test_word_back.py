"""The answers to a shop beside the label itself: the point's address, warnings, and where and when to go on."""

from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import pytest

from carriers.shipment import PickupPoint, PurchasedLabel
from labels.lifecycle import outcomes
from labels.models import LabelState, ShippingLabel
from labels.views import headers_of
from parcels.models import Parcel
from shops.api.paths import PARCEL
from shops.contracts import clients
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import PDF, LabelFactory
from tests.labels.orders import LINKED, PRODUCT, RECIPIENT, order, post
from tests.support.api import Caller
from tests.support.paths import SHIPMENTS

BETA, WORLD = PRODUCT["beta"], "beta_domicile_signature_monde"
POINT = PickupPoint(
    "001234", "TABAC DU PORT", "7 RUE DU RELAIS", "", "BP 3", "21000", "DIJON", "FR", "R03", Decimal(20)
)
MISSING_FORM = "The customs form did not come with the label, and can't be fetched again."


def kept(buyer: Caller, **purchased: Any) -> ShippingLabel:
    """Keep and finish what a carrier gave for a pickup order, as a purchase does."""
    product_code = "beta_point_retrait_france"
    label = LabelFactory(shop=buyer.shop, state="purchasing", finished_at=None, product_code=product_code)
    outcomes.save_received(label, PurchasedLabel(("6A10000000012",), {"6A10000000012": PDF}, **purchased))
    return outcomes.publish(label)


def test_a_pickup_parcel_shows_the_points_address_and_the_customers_contacts(buyer: Caller) -> None:
    label = kept(buyer, pickup_point=POINT)
    destination = Parcel.objects.get(id=label.id).destination
    assert (destination["company"], destination["address1"]) == ("TABAC DU PORT", "7 RUE DU RELAIS")
    assert (destination["address2"], destination["zip"]) == ("BP 3", "21000")
    assert (destination["city"], destination["countryCode"], destination["country"]) == ("DIJON", "FR", "France")
    assert (destination["firstName"], destination["phone"]) == (RECIPIENT["firstName"], RECIPIENT["phone"])
    assert destination["isPickupPoint"] is True
    assert row().recipient == RECIPIENT


def test_a_point_that_is_not_known_is_not_the_customers_home(buyer: Caller) -> None:
    """A process that was killed had the answer with the point; staff adopt the parcel later."""
    destination = Parcel.objects.get(id=kept(buyer).id).destination
    assert destination["isPickupPoint"] is True
    place = ("company", "address1", "address2", "zip", "city", "provinceCode")
    assert [destination[name] for name in place] == ["", "", None, "", "", ""]
    assert (destination["name"], destination["countryCode"]) == ("Søren Grünwald", "FR")


@pytest.mark.parametrize(
    ("product_code", "name", "city"),
    [("relais", "Tabac de la République", "Lyon"), ("beta_point_retrait_france", "Tabac du Port", "Nantes")],
)
def test_a_parcel_to_a_point_is_found_with_the_points_address(
    product_code: str, name: str, city: str, buyer: Caller
) -> None:
    label = post(buyer, order(product_code, destination={"provinceCode": "IF"})).json()
    parcel = buyer.get(f"{PARCEL}{label['trackingNumber']}").json()
    assert parcel["id"] == label["id"]
    destination = parcel["destination"]
    assert (destination["company"], destination["city"], destination["provinceCode"]) == (name, city, "")
    assert (destination["name"], destination["isPickupPoint"]) == ("Søren Grünwald", True)


def test_a_missing_customs_form_reaches_the_shop_and_is_a_notice_for_staff(
    buyer: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    bought = post(buyer, order(WORLD, reference="FAULT NOCN23"))
    assert (bought.status_code, bought.json()["status"]) == (201, "label_generated")
    assert bought["Label-Warnings"].startswith(MISSING_FORM.replace(",", "%2C"))
    assert buyer.get(f"{SHIPMENTS}/{row().id}")["Label-Warnings"] == bought["Label-Warnings"]
    assert unquote(bought["Label-Warnings"]) == row().staff_notice
    assert list(ShippingLabel.objects.with_notice()) == [row()]
    (record,) = (record for record in caplog.records if record.message == "customs form missing")
    assert record.levelname == "WARNING"


def test_the_header_has_the_missing_form_however_much_the_carrier_says(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tuple(f"line {number} was cut" for number in range(9))
    purchased = PurchasedLabel(("6A1",), {"label": b"%PDF-1.4 %%EOF"}, said, is_customs_form_missing=True)
    beta = type(clients.client("beta", is_test=False))
    monkeypatch.setattr(beta, "create_label", lambda *_: purchased)
    bought = post(buyer, order(WORLD))
    assert unquote(bought["Label-Warnings"]).startswith(row().staff_notice)
    assert len(row().warnings) == 10


def test_a_carriers_warning_reaches_the_shop_and_a_replay_repeats_it(buyer: Caller) -> None:
    body = order(BETA, reference="FAULT WARNING")
    bought, again = post(buyer, body, key="k"), post(buyer, body, key="k")
    (warning,) = row().warnings
    assert warning
    assert unquote(bought["Label-Warnings"]) == unquote(again["Label-Warnings"]) == warning
    assert again["Idempotent-Replayed"] == "true"


def test_a_label_without_a_warning_has_no_such_header(buyer: Caller) -> None:
    assert "Label-Warnings" not in post(buyer, order(BETA))


def test_warnings_are_safe_and_bounded_in_a_header() -> None:
    texts = ["Coupé, 100 %\r\nSet-Cookie: a=b", "x" * 500, "漢" * 500, "d", "e", "f"]
    value = headers_of(ShippingLabel(id="X" * 15, warnings=texts))["Label-Warnings"]
    assert value.isascii()
    assert value.isprintable()
    assert len(value) < 3000
    read = [unquote(text) for text in value.split(", ")]
    assert read == ["Coupé, 100 %\r\nSet-Cookie: a=b", "x" * 200, "漢" * 200, "d", "e"]


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_bought_label_has_its_place(product_code: str, buyer: Caller) -> None:
    bought = post(buyer, order(product_code), key="k")
    assert bought["Location"] == f"/public/v1/tracking/shipments/{bought.json()['id']}"
    assert buyer.get(bought["Location"]).status_code == 200
    assert post(buyer, order(product_code), key="k")["Location"] == bought["Location"]


@pytest.mark.parametrize("key", ["k", None])
def test_an_unknown_outcome_names_its_label_and_with_a_key_the_pause(
    key: str | None, buyer: Caller, sandbox: Sandbox
) -> None:
    sandbox.arm("closemade", count=1)
    answer = post(buyer, order(), key=key)
    assert_coded(answer, 502, "ALPHA_OUTCOME_UNKNOWN")
    assert answer["Label-Id"] == row().id
    assert answer.get("Retry-After") == ("180" if key else None)
    if key:
        again = post(buyer, order(), key=key)
        assert (again["Label-Id"], again["Retry-After"]) == (row().id, "180")


@pytest.mark.parametrize("fault", ["36", "html503"])
def test_a_carrier_that_is_down_may_be_asked_again(fault: str, buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm(fault)
    answers = [post(buyer, order(), key=f"k{number}") for number in range(6)]
    last = answers[-1]  # the circuit breaker's, after five that the carrier did not answer
    assert (last.json()["code"], last["Retry-After"]) == ("ALPHA_UNAVAILABLE", "30")
    assert "Label-Id" not in last


@pytest.mark.parametrize(("fault", "code"), [("38", "ALPHA_ADDRESS_REJECTED"), ("30", "ALPHA_CREDENTIALS_REJECTED")])
def test_what_is_refused_again_has_no_pause(fault: str, code: str, buyer: Caller) -> None:
    answer = post(buyer, order(reference=f"FAULT {fault}"))
    assert answer.json()["code"] == code
    assert "Retry-After" not in answer
    assert "Label-Id" not in answer


def test_an_order_of_which_some_parcels_were_made_has_no_pause(buyer: Caller) -> None:
    two = [{"weight": 1}, {"weight": 1}]
    answer = post(buyer, order(LINKED, parcels=two, reference="FAULT 2 40015"))
    assert (answer.status_code, row().state) == (502, LabelState.INCOMPLETE)
    assert "Retry-After" not in answer
