"""The carrier's proof of delivery: a button of the parcel's page, a part of the claim, on record."""

from io import BytesIO
from unittest.mock import Mock

import pytest
from pypdf import PdfReader

from carriers.http.transport import UnreadableError
from parcels.models import Parcel
from parcels.tracking.events import milliseconds
from shops.models import Shop
from shops.staff.audit.models import Action, AuditEntry
from tests.carriers.sandbox.control import advance, foreign
from tests.labels.conftest import Sandbox
from tests.labels.factories import ContractFactory, LabelFactory, publish
from tests.labels.orders import SENDER
from tests.support.api import Response
from tests.support.desk import member
from tests.support.factories import ShopFactory, import_parcel

pytestmark = pytest.mark.django_db
PAGE = "/admin/parcels/parcel/P1/"
NUMBER = "XU123456789FR"


@pytest.fixture
def shop() -> Shop:
    shop: Shop = ShopFactory()
    import_parcel(
        shop, id="P1", trackingId=NUMBER, trackingNumbers=[NUMBER], carrierCode="alpha", deliveryDate=1_790_000_000_000
    )
    return shop


def text_of(answer: Response) -> str:
    assert answer.headers["Content-Type"] == "application/pdf"
    return "".join(page.extract_text() for page in PdfReader(BytesIO(answer.content)).pages)


@pytest.fixture
def delivered(shop: Shop, sandbox: Sandbox) -> None:
    ContractFactory(shop=shop)
    foreign(sandbox.server, "alpha", NUMBER)
    advance(sandbox.server, NUMBER, 20)


def test_the_proof_is_asked_for_from_the_parcels_page_and_each_is_on_record(delivered: None) -> None:
    staff = member("Support")
    assert f'href="{PAGE}proof/"' in staff.get(f"{PAGE}change/").text
    assert "Preuve de livraison" in text_of(staff.get(f"{PAGE}proof/"))
    entry = AuditEntry.objects.filter(action=Action.PDF_OPENED).get()
    assert (entry.actor, entry.object_id, entry.details["note"]) == ("support", "P1", "proof")
    assert member("Operations").get(f"{PAGE}proof/").status_code == 403


def test_the_claim_has_the_proof_behind_its_text(delivered: None) -> None:
    text = text_of(member("Support").get(f"{PAGE}claim/"))
    assert text.index("The carrier's proof follows.") < text.index("Preuve de livraison")


def test_a_proof_that_can_not_be_read_is_no_part_of_the_claim(delivered: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carriers.pdf.rewritten", Mock(side_effect=UnreadableError("the labels cannot be merged")))
    staff = member("Support")
    assert "The carrier's proof cannot be read." in text_of(staff.get(f"{PAGE}claim/"))
    assert "gives no proof of this delivery now." in staff.get(f"{PAGE}proof/", follow=True).text


def test_a_claims_sender_is_that_of_the_label(shop: Shop) -> None:
    """api.md, 1: an order has a sender of its own; it may be another warehouse, or whoever sends something back."""
    shop.sender_address = SENDER
    shop.save()
    label = LabelFactory(shop=shop, sender=SENDER | {"address1": "9 quai du Retour"}, tracking_numbers=["XU2"])
    publish(label)
    staff = member("Support")
    for imported in ((), ("own-id",)):  # as the label's parcel, and as the one that replaces it
        for name in imported:
            import_parcel(shop, id=name, trackingId="XU2", createdAt=milliseconds(label.created_at))
        parcel = Parcel.objects.get(tracking_id="XU2")
        text = text_of(staff.get(f"/admin/parcels/parcel/{parcel.id}/claim/"))
        assert "9 quai du Retour" in text
        assert SENDER["address1"] not in text
    assert SENDER["address1"] in text_of(staff.get(f"{PAGE}claim/"))


def test_without_a_proof_the_claim_says_so_and_the_page_too(shop: Shop, sandbox: Sandbox) -> None:
    staff = member("Support")
    assert "could not be asked" in text_of(staff.get(f"{PAGE}claim/"))  # no contract
    ContractFactory(shop=shop)
    assert "has no proof of it" in text_of(staff.get(f"{PAGE}claim/"))
    assert "gives no proof" in staff.get(f"{PAGE}proof/", follow=True).text
    sandbox.arm("1", operation="searchPOD")
    assert "could not be asked" in text_of(staff.get(f"{PAGE}claim/"))
