"""An order's fields, as alpha receives them: firms, second lines, references, values, days and paper."""

from decimal import Decimal

import pytest

from carriers.sandbox.server import SandboxServer
from carriers.shipment import Customs, CustomsItem, Package
from tests.carriers.sandbox.control import ledger, sold
from tests.carriers.support.pdfs import merged, sizes
from tests.carriers.support.sandbox import Desk, order
from tests.carriers.support.shipments import CREDENTIALS

ALPHA = CREDENTIALS["alpha"]
SIZES_PT = {"10x15": (283, 425), "A4": (595, 842)}
TWO = (Package(Decimal(1), reference="N°1-A"), Package(Decimal(2)))


@pytest.fixture
def alpha(sandbox: SandboxServer) -> Desk:
    return Desk(sandbox, "alpha")


def test_a_firm_stands_above_the_person_and_is_a_professional(alpha: Desk) -> None:
    home = {"company": "Dupont & Fils S.A.R.L.", "address2": "Bât. C, 3e étage"}
    (sent,) = alpha.received(recipient=home)[0]["recipientValue"]
    assert sent["recipientName"] == "Dupont Fils S A R L"
    assert sent["recipientName2"] == sent["recipientContactName"] == "Soren Grunwald"
    assert sent["recipientAdress2"] == "Bat C 3e etage"
    assert sent["recipientType"] == "1"


@pytest.mark.parametrize("company", ["", "-"])
def test_a_person_without_a_firm_is_private(alpha: Desk, company: str) -> None:
    (sent,) = alpha.received(recipient={"company": company})[0]["recipientValue"]
    assert (sent["recipientName"], sent.get("recipientName2"), sent["recipientType"]) == ("Soren Grunwald", None, "2")


def test_the_senders_firm_and_second_line_are_the_shippers_and_the_customers(alpha: Desk) -> None:
    sender = {"company": "L'Atelier", "address2": "Hall B-2"}
    received = alpha.received(sender=sender)[0]
    for structure, prefix in (("shipperValue", "shipper"), ("customerValue", "customer")):
        sent = received[structure][0]
        assert (sent[f"{prefix}Name"], sent[f"{prefix}Name2"]) == ("L Atelier", "Zoe Lefevre")
        assert sent[f"{prefix}Adress2"] == "Hall B-2"
    assert received["shipperValue"][0]["shipperType"] == "1"


def test_at_a_relay_the_customers_own_address_is_neither_sent_nor_refused(sandbox: SandboxServer, alpha: Desk) -> None:
    home = {"company": "x" * 200, "address1": "Οδός Ερμού 5 " * 9, "address2": "y" * 200, "city": "Αθήνα"}
    label = alpha.buy("relais", recipient=home)
    (sent,) = sold(sandbox, label.tracking_numbers[0]).request["recipientValue"]
    assert sent["recipientName2"] == sent["recipientContactName"] == "Soren Grunwald"
    assert sent["recipientType"] == "2"
    assert ledger(sandbox)[0]["misrouted"] is False
    assert label.pickup_point is not None
    assert label.pickup_point.code == order("relais").pickup_point_code
    assert label.pickup_point.zip_code == sent["recipientZipCode"]


def test_each_parcel_has_its_own_reference_else_the_orders(alpha: Desk) -> None:
    received = alpha.received(packages=TWO, reference="CMD-12-3")[0]
    assert [ref["recipientRef"] for ref in received["refValue"]] == ["N 1-A", "CMD-12-3"]


def test_a_relays_parcels_have_their_references_as_contents(alpha: Desk) -> None:
    received = alpha.received("relais", packages=TWO, reference="CMD-12-3")[0]
    assert [skybill["content1"] for skybill in received["skybillValue"]] == ["N 1-A", "CMD-12-3"]
    assert len({ref["recipientRef"] for ref in received["refValue"]}) == 1


def test_articles_beyond_the_fields_share_them_and_none_is_left_out(alpha: Desk) -> None:
    items = tuple(CustomsItem(f"Article {rank} en coton", 1, Decimal(1), Decimal("0.1")) for rank in range(1, 10))
    (sent,) = alpha.received("alpha_express_world", customs=Customs(items))[0]["skybillValue"]
    contents = [sent[f"content{rank}"] for rank in range(1, 6) if f"content{rank}" in sent]
    assert " ".join(contents) == " ".join(item.description for item in items)
    many = tuple(CustomsItem(f"Article {rank} {'x' * 30}", 1, Decimal(1), Decimal("0.01")) for rank in range(1, 10))
    error = alpha.refuse("alpha_express_world", customs=Customs(many))
    assert str(error) == "customs.items: does not fit into 5 lines of 45 characters"


@pytest.mark.parametrize(("value", "cents"), [("149.90", "14990"), ("0.01", "1"), ("20000", "2000000"), (None, "0")])
def test_an_insured_value_is_each_parcels_in_cents(alpha: Desk, value: str | None, cents: str) -> None:
    received = alpha.received(packages=TWO, insured_value_eur=Decimal(value) if value else None)[0]
    sent = [(skybill["insuredValue"], skybill["insuredCurrency"]) for skybill in received["skybillValue"]]
    assert sent == [(cents, "EUR")] * 2


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("label_format", SIZES_PT)
def test_a_label_has_the_paper_that_was_ordered_on_each_page(alpha: Desk, label_format: str, count: int) -> None:
    label = alpha.buy(count=count, label_format=label_format)
    fetched = alpha.client.fetch_label(label.reservation_number, ALPHA, label_format)
    assert sizes(merged(label)) == sizes(fetched) == [SIZES_PT[label_format]] * count
