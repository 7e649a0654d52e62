"""An order's fields, as alpha receives them: firms, second lines, references, values, days and paper."""

from decimal import Decimal
from typing import Any

import pytest

from carriers.base import Carrier
from carriers.errors import CarrierError, RequestRejected
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Customs, CustomsItem, Package, PurchasedLabel
from tests.carriers.conftest import Clients
from tests.carriers.sandbox.control import ledger, sold
from tests.carriers.support.pdfs import merged, sizes
from tests.carriers.support.sandbox import order
from tests.carriers.support.shipments import CREDENTIALS

ALPHA = CREDENTIALS["alpha"]
SIZES_PT = {"10x15": (283, 425), "A4": (595, 842)}
TWO = (Package(Decimal(1), reference="N°1-A"), Package(Decimal(2)))

Structures = dict[str, list[dict[str, str]]]


class Alpha:
    """alpha's client, and what the carrier has received of the last order."""

    def __init__(self, sandbox: SandboxServer, client: Carrier) -> None:
        self._sandbox = sandbox
        self.client = client

    def buy(self, code: str = "alpha-13", **changes: Any) -> PurchasedLabel:
        return self.client.create_label(order(code, **changes), ALPHA)

    def received(self, code: str = "alpha-13", **changes: Any) -> Structures:
        """Buy a label and return the structures of the request."""
        number = self.buy(code, **changes).tracking_numbers[0]
        return dict(sold(self._sandbox, number).request)

    def recipient(self, code: str = "alpha-13", **recipient: str) -> dict[str, str]:
        return self.received(code, recipient=recipient)["recipientValue"][0]


@pytest.fixture
def alpha(sandbox: SandboxServer, clients: Clients) -> Alpha:
    return Alpha(sandbox, clients["alpha"])


def refused(alpha: Alpha, error: type[CarrierError] = RequestRejected, **changes: Any) -> CarrierError:
    with pytest.raises(error) as caught:
        alpha.buy(**changes)
    return caught.value


def test_a_firm_stands_above_the_person_and_is_a_professional(alpha: Alpha) -> None:
    sent = alpha.recipient(company="Dupont & Fils S.A.R.L.", address2="Bât. C, 3e étage")
    assert sent["recipientName"] == "Dupont Fils S A R L"
    assert sent["recipientName2"] == sent["recipientContactName"] == "Soren Grunwald"
    assert sent["recipientAdress2"] == "Bat C 3e etage"
    assert sent["recipientType"] == "1"


@pytest.mark.parametrize("company", ["", "-"])
def test_a_person_without_a_firm_is_private(alpha: Alpha, company: str) -> None:
    sent = alpha.recipient(company=company)
    assert (sent["recipientName"], sent.get("recipientName2"), sent["recipientType"]) == ("Soren Grunwald", None, "2")


def test_the_senders_firm_and_second_line_are_the_shippers_and_the_customers(alpha: Alpha) -> None:
    sender = {"company": "L'Atelier", "address2": "Hall B-2"}
    received = alpha.received(sender=sender)
    for structure, prefix in (("shipperValue", "shipper"), ("customerValue", "customer")):
        sent = received[structure][0]
        assert (sent[f"{prefix}Name"], sent[f"{prefix}Name2"]) == ("L Atelier", "Zoe Lefevre")
        assert sent[f"{prefix}Adress2"] == "Hall B-2"
    assert received["shipperValue"][0]["shipperType"] == "1"


def test_at_a_relay_the_customers_own_address_is_neither_sent_nor_refused(sandbox: SandboxServer, alpha: Alpha) -> None:
    home = {"company": "x" * 200, "address1": "Οδός Ερμού 5 " * 9, "address2": "y" * 200, "city": "Αθήνα"}
    label = alpha.buy("relais", recipient=home)
    (sent,) = sold(sandbox, label.tracking_numbers[0]).request["recipientValue"]
    assert sent["recipientName2"] == sent["recipientContactName"] == "Soren Grunwald"
    assert sent["recipientType"] == "2"
    assert ledger(sandbox)[0]["misrouted"] is False
    assert label.pickup_point is not None
    assert label.pickup_point.code == order("relais").pickup_point_code
    assert label.pickup_point.zip_code == sent["recipientZipCode"]


def test_each_parcel_has_its_own_reference_else_the_orders(alpha: Alpha) -> None:
    received = alpha.received(packages=TWO, reference="CMD-12-3")
    assert [ref["recipientRef"] for ref in received["refValue"]] == ["N 1-A", "CMD-12-3"]


def test_a_relays_parcels_have_their_references_as_contents(alpha: Alpha) -> None:
    received = alpha.received("relais", packages=TWO, reference="CMD-12-3")
    assert [skybill["content1"] for skybill in received["skybillValue"]] == ["N 1-A", "CMD-12-3"]
    assert len({ref["recipientRef"] for ref in received["refValue"]}) == 1


def test_articles_beyond_the_fields_share_them_and_none_is_left_out(alpha: Alpha) -> None:
    items = tuple(CustomsItem(f"Article {rank} en coton", 1, Decimal(1), Decimal("0.1")) for rank in range(1, 10))
    (sent,) = alpha.received("alpha_express_world", customs=Customs(items))["skybillValue"]
    contents = [sent[f"content{rank}"] for rank in range(1, 6) if f"content{rank}" in sent]
    assert " ".join(contents) == " ".join(item.description for item in items)
    many = tuple(CustomsItem(f"Article {rank} {'x' * 30}", 1, Decimal(1), Decimal("0.01")) for rank in range(1, 10))
    error = refused(alpha, code="alpha_express_world", customs=Customs(many))
    assert str(error) == "customs.items: does not fit into 5 lines of 45 characters"


@pytest.mark.parametrize(("value", "cents"), [("149.90", "14990"), ("0.01", "1"), ("20000", "2000000"), (None, "0")])
def test_an_insured_value_is_each_parcels_in_cents(alpha: Alpha, value: str | None, cents: str) -> None:
    received = alpha.received(packages=TWO, insured_value_eur=Decimal(value) if value else None)
    sent = [(skybill["insuredValue"], skybill["insuredCurrency"]) for skybill in received["skybillValue"]]
    assert sent == [(cents, "EUR")] * 2


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("label_format", SIZES_PT)
def test_a_label_has_the_paper_that_was_ordered_on_each_page(alpha: Alpha, label_format: str, count: int) -> None:
    label = alpha.buy(count=count, label_format=label_format)
    fetched = alpha.client.fetch_label(label.reservation_number, ALPHA, label_format)
    assert sizes(merged(label)) == sizes(fetched) == [SIZES_PT[label_format]] * count
