"""Tracking in the admin: the sources of a parcel's story, the next question, silent parcels, unlisted codes."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from carriers.tracking import Status, TrackingAnswer, TrackingEvent
from parcels.models import Parcel, TrackingNumber
from shops.contracts.clients import tracker
from shops.models import Shop
from tests.parcels.admin.pages import PARCELS, listed, page_of
from tests.support.api import logged_in
from tests.support.audit import changes, note
from tests.support.factories import import_parcel, ms_ago
from tests.support.tracking import record

ASK, LET_GO = f"{PARCELS}P1/ask/", f"{PARCELS}P1/let-go/"

PERMISSIONS = ("view_parcel", "view_personal_data")


def followed(shop: Shop, parcel_id: str = "P1", days_silent: float = 0, *, is_listed: bool = True) -> None:
    old = ms_ago(20)
    import_parcel(shop, id=parcel_id, trackingId=f"N-{parcel_id}", createdAt=old, lastStatusUpdatedAt=old, events=[])
    at = timezone.now() - timedelta(days=days_silent)
    event = TrackingEvent(f"N-{parcel_id}", "SC", at, "Sorted", "75015 PARIS", Status.IN_TRANSIT, is_listed)
    record(parcel_id, [TrackingAnswer(f"N-{parcel_id}", True, (event,))], now=timezone.now())


def test_the_page_shows_what_the_carrier_reported_and_when_it_is_asked(staff: Client, shop: Shop) -> None:
    followed(shop)
    page = page_of(staff, "P1")
    for text in ("told by the carrier", "75015 PARIS", "N-P1", "Asked next", "Known"):
        assert text in page
    assert "Ask the carrier now" not in page


def test_staff_with_the_permission_have_the_carrier_asked_now(shop: Shop) -> None:
    followed(shop)
    staff = logged_in("view_parcel", "change_trackingnumber", "view_personal_data")
    assert "Ask the carrier now" in page_of(staff, "P1")
    answer = staff.post(ASK, follow=True)
    assert "The carrier is asked now" in answer.text
    due_at = TrackingNumber.objects.get(parcel="P1").due_at
    assert due_at is not None
    assert due_at <= timezone.now()
    assert (changes()[0].actor, changes()[0].object_id, note()) == ("ada", "P1", "The carrier is asked by hand.")


def assert_not_asked() -> None:
    """The page offers no question, and whoever asks all the same is told so."""
    before = TrackingNumber.objects.get(parcel="P1").due_at
    staff = logged_in("view_parcel", "change_trackingnumber")
    assert "Ask the carrier now" not in page_of(staff, "P1")
    answer = staff.post(ASK, follow=True).text
    assert "asked now" not in answer
    assert "be asked" in answer
    assert changes() == []
    assert TrackingNumber.objects.get(parcel="P1").due_at == before


def test_a_carrier_without_a_tracking_service_is_not_said_to_be_asked(shop: Shop, settings: Settings) -> None:
    followed(shop)
    none = {"beta": settings.CARRIER_ENDPOINTS["beta"] | {"tracking_url": None}}
    settings.CARRIER_ENDPOINTS = settings.CARRIER_ENDPOINTS | none
    tracker.cache.clear()  # type: ignore[union-attr]  # it has one
    assert_not_asked()
    tracker.cache.clear()  # type: ignore[union-attr]  # it has one


def test_a_number_that_its_carrier_has_given_out_again_is_not_asked_about(shop: Shop) -> None:
    """tracking.md, 3: numbers are given out again after about 13 months; only for younger parcels is asked."""
    old = ms_ago(400)
    line = {"carrierCode": "beta", "lastStatus": "IN_TRANSIT", "lastStatusUpdatedAt": old, "events": []}
    import_parcel(shop, id="P1", trackingId="6A12345678901", createdAt=old, **line)
    assert TrackingNumber.objects.get(parcel="P1").due_at is None
    assert_not_asked()


def test_staff_let_a_number_go_that_was_never_handed_in(shop: Shop) -> None:
    at = ms_ago(1)
    line = {"id": "P1", "trackingId": "N1", "trackingNumbers": ["N1", "N2"], "carrierCode": "alpha", "events": []}
    import_parcel(shop, createdAt=at, lastStatus=None, lastStatusUpdatedAt=None, **line)
    TrackingNumber.objects.filter(number="N1").update(state="bought", label="L1")
    event = TrackingEvent("N2", "D", timezone.now(), "Livré", "PARIS", Status.DELIVERED, True)
    record("P1", [TrackingAnswer("N2", True, (event,))], now=timezone.now())
    assert Parcel.objects.get().last_status == "FULFILLED"
    assert logged_in("view_parcel", name="bob").post(LET_GO, {"number": "N1"}).status_code == 403
    staff = logged_in("view_parcel", "change_trackingnumber", "view_personal_data")
    assert "A look-up of N1 no longer finds this parcel" in page_of(staff, "P1")
    answer = staff.post(LET_GO, {"number": "N1"}, follow=True)
    assert "N1 is no number of this parcel any more" in answer.text
    parcel = Parcel.objects.get()
    assert (parcel.tracking_id, parcel.tracking_numbers, parcel.last_status) == ("N2", ["N2"], "DELIVERED")
    assert (changes()[0].object_id, note()) == ("P1", "Number N1 was let go.")
    assert "only number" in staff.post(LET_GO, {"number": "N2"}, follow=True).text
    assert TrackingNumber.objects.get().number == "N2"


def test_nobody_else_has_it_asked(staff: Client, shop: Shop) -> None:
    followed(shop)
    before = TrackingNumber.objects.get(parcel="P1").due_at
    assert staff.post(ASK).status_code == 403
    assert logged_in("view_parcel", "change_trackingnumber", name="bob").get(ASK).status_code == 302
    assert TrackingNumber.objects.get(parcel="P1").due_at == before


@pytest.mark.both_databases
def test_the_list_is_narrowed_to_parcels_without_news(staff: Client, shop: Shop) -> None:
    for days in (1, 5, 10, 19):
        followed(shop, f"P{days}", days)
    assert set(listed(staff, silent="3")) == {"P5", "P10", "P19"}
    assert set(listed(staff, silent="14")) == {"P19"}
    assert len(listed(staff, silent="x")) == 4


def test_unlisted_codes_are_listed(shop: Shop) -> None:
    followed(shop, is_listed=False)
    page = logged_in("view_unlistedeventcode", "view_personal_data").get("/admin/parcels/unlistedeventcode/")
    assert page.status_code == 200
    for text in ("SC", "Sorted", "beta"):
        assert text in page.text
