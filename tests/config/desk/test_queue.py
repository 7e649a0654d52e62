"""The queue of the first page: each row equals its list and a count by hand; who took it, and notes, on record."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from labels.models import ShippingLabel
from parcels.figures.counting import recount
from parcels.models import Parcel, TrackingNumber
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.staff import days, taking
from shops.staff.audit.models import AuditEntry
from shops.staff.panels import Row
from shops.staff.taking import QueueRow
from shops.webhooks.models import WebhookEndpoint
from tests.labels.factories import ContractFactory, LabelFactory, publish
from tests.labels.gates import during
from tests.support.api import logged_in
from tests.support.desk import listed, member
from tests.support.factories import ParcelLineFactory, ShopFactory, import_lines, import_parcel, promise
from tests.support.sql import held

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
ENDED = ("DELIVERED", "RETURNED_TO_SENDER")
STATUSES = (None, "IN_TRANSIT", "WAITING_FOR_PICKUP", "EXCEPTION", "RETURN_TO_SENDER", *ENDED)
VIEWS = ("view_parcel", "view_shippinglabel", "view_webhookendpoint", "view_carriercontract", "view_shop")


def ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def queue(staff: Client) -> dict[str, Row]:
    return {row.name: row for row in staff.get("/admin/").context["queue"]}


def label(chance: random.Random, shop: Shop, now: datetime) -> tuple[ShippingLabel, bool]:
    """A label; whether its parcel was handed in."""
    state = chance.choice(["label_generated", "label_generated", "label_generated", "failed", "unknown"])
    at = now - chance.uniform(0.1, 90) * HOUR
    code = chance.choice(["ALPHA_ADDRESS_REJECTED", "BETA_UNAVAILABLE"]) if state == "failed" else ""
    carrier = chance.choice(["alpha", "beta"])
    facts: dict[str, Any] = {"created_at": at, "finished_at": at, "leased_until": at, "carrier_code": carrier}
    numbers = [f"XU{chance.randrange(10**9):09}FR"] if state == "label_generated" else []
    made = LabelFactory(shop=shop, state=state, error_code=code, tracking_numbers=numbers, **facts)
    if not numbers:
        return made, False
    publish(made)
    is_handed_in = chance.random() < 0.5
    if is_handed_in:
        Parcel.objects.filter(id=made.id).update(handed_in_at=ms(at))
    return made, is_handed_in


def parcel(chance: random.Random, now: datetime) -> dict[str, Any]:
    end = now + chance.uniform(-50, 50) * HOUR
    facts: dict[str, Any] = {
        "lastStatus": chance.choice(STATUSES),
        "createdAt": ms(now - chance.uniform(1, 40 * 24) * HOUR),
        "endDepositDate": chance.choice([None, ms(now + chance.uniform(-10, 100) * HOUR)]),
        "deliveryDate": None,
        "estimatedDeliveryDateWindow": promise(ms(end)),
    }
    if facts["lastStatus"] == "DELIVERED":
        facts["deliveryDate"] = ms(now - chance.uniform(1, 60) * HOUR)
    return facts


def import_all(shop: Shop, parcels: list[dict[str, Any]]) -> None:
    import_lines(shop, [orjson.dumps(ParcelLineFactory(**facts)) for facts in parcels])


# Just before and after midnight of Paris, an hour around ten in the morning, and the days when the clock changes.
MOMENTS = ("2026-11-23T22:30", "2026-11-23T23:30", "2026-11-24T08:59", "2026-11-24T09:01")
CHANGES = ("2026-03-29T22:30", "2026-03-28T23:30", "2026-10-25T22:30", "2026-10-24T22:30")
ONCE = [pytest.param(moment, marks=pytest.mark.real_services) for moment in MOMENTS]
ONCE += [pytest.param(moment, marks=pytest.mark.any_database) for moment in CHANGES]


@pytest.mark.parametrize("moment", ONCE)
def test_each_row_is_its_list_and_a_count_by_hand(
    moment: str, no_sidebar: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    for place in ("labels.admin.figures", "parcels.admin.figures", "parcels.admin.filters", "parcels.figures.counting"):
        monkeypatch.setattr(f"{place}.clock.now", lambda: now)
    monkeypatch.setattr(days, "today", lambda: days.day_of(now))
    monkeypatch.setattr("parcels.admin.figures.today", lambda: days.day_of(now))
    chance, shop, staff = random.Random(moment), ShopFactory(), logged_in(*VIEWS)
    labels = [label(chance, shop, now) for _ in range(40)]
    import_all(shop, parcels := [parcel(chance, now) for _ in range(60)])
    not_counted = ShopFactory(is_test=True)
    for _ in range(10):
        label(chance, not_counted, now)
    import_all(not_counted, [parcel(chance, now) for _ in range(20)])
    recount()
    rows = queue(staff)
    today = days.start_of(days.day_of(now))
    late_before = days.start_of(days.day_of(now - 10 * HOUR))
    trouble_since = ms(days.start_of(days.day_of(now) - timedelta(days=30)))
    failed = [each for each, _ in labels if each.state == "failed" and each.created_at >= today]
    expected = {
        "refused": len(failed),
        "overdue": sum(
            each["lastStatus"] not in ENDED and each["estimatedDeliveryDateWindow"]["exactDeliveryDay"] < ms(now)
            for each in parcels
        ),
        "goes_back": sum(
            each["lastStatus"] == "WAITING_FOR_PICKUP"
            and each["endDepositDate"] is not None
            and each["endDepositDate"] < ms(now + 48 * HOUR)
            for each in parcels
        ),
        "trouble": sum(
            each["lastStatus"] in ("EXCEPTION", "RETURN_TO_SENDER") and each["createdAt"] >= trouble_since
            for each in parcels
        ),
    }
    for carrier in ("alpha", "beta"):
        expected[f"not_handed_in-{carrier}"] = sum(
            each.state == "label_generated" and not is_in and each.carrier_code == carrier
            for each, is_in in labels
            if each.created_at < late_before
        )
    assert {name: rows[name].count for name in expected} == expected
    for name, count in expected.items():
        assert listed(staff, rows[name].link) == count, name
    for figure in rows["refused"].further:
        assert listed(staff, figure.link) == int(figure.text.split()[0])
    assert sum(int(figure.text.split()[0]) for figure in rows["refused"].further) == len(failed)
    ages = [row.since for row in rows.values() if row.count]
    assert ages == sorted(ages)  # type: ignore[type-var]  # each has one
    yesterday = staff.get("/admin/").context["beside"][0]
    assert yesterday.title == "Yesterday"
    for _, figures in yesterday.rows:
        for figure in figures[1:]:  # the labels' figures are counted by another count
            assert listed(staff, figure.link) == int(figure.text.split()[0])
    start, end = map(ms, days.bounds(days.day_of(now) - timedelta(days=1)))
    handed_in = Parcel.objects.for_shop(shop.id).filter(handed_in_at__gte=start, handed_in_at__lt=end)
    own = handed_in.filter(carrier_code__in=("alpha", "beta"))
    assert sum(int(figures[1].text) for _, figures in yesterday.rows) == own.count()


@pytest.mark.any_database
def test_endpoints_and_contracts_that_need_somebody_are_rows(settings: Any) -> None:
    shop, staff = ShopFactory(), logged_in(*VIEWS)
    now = timezone.now()
    for number, state in enumerate(["failing", "failing", "disabled", ""]):
        at = {"failing": "failing_since", "disabled": "disabled_at"}.get(state)
        facts = {at: now - HOUR} if at else {}
        WebhookEndpoint.objects.create(shop=shop, url=f"https://{number}.example/", **facts)
    ContractFactory(shop=shop, carrier_code="alpha")
    ContractFactory(shop=shop, carrier_code="beta")
    CarrierContract.objects.filter(carrier_code="alpha").update(tracking_refused_at=now + HOUR)
    rows = queue(staff)
    for name, count in (("webhooks-failing", 2), ("webhooks-disabled", 1), ("contracts-refused", 1)):
        assert (rows[name].count, listed(staff, rows[name].link)) == (count, count)
    assert (rows["contracts-password"].count, listed(staff, rows["contracts-password"].link)) == (1, 1)
    LabelFactory.create_batch(2, shop=shop, state="unknown", days_ago=2)
    assert (rows := queue(staff))["to_decide"].count == listed(staff, rows["to_decide"].link) == 2


@pytest.mark.any_database
def test_an_endpoint_of_a_shop_that_has_left_is_tried_no_more_and_no_row() -> None:
    shop = ShopFactory(is_active=False)
    WebhookEndpoint.objects.create(shop=shop, url="https://gone.example/", failing_since=timezone.now() - HOUR)
    WebhookEndpoint.objects.create(shop=shop, url="https://off.example/", disabled_at=timezone.now() - HOUR)
    rows = queue(logged_in(*VIEWS))
    assert (rows["webhooks-failing"].count, rows["webhooks-disabled"].count) == (0, 0)


@pytest.mark.any_database
def test_a_row_is_taken_handed_over_and_let_go_with_notes_on_record() -> None:
    first, second, third = member("Support"), member("Operations"), member("Reporting")
    for form, taker in (
        ({"do": "take"}, "support"),
        ({"do": "note", "note": "Called Madame Quibble"}, "support"),
        ({"do": "hand", "to": "operations"}, "operations"),
        ({"do": "hand", "to": "nobody"}, "operations"),
        ({"do": "hand", "to": "reporting"}, "operations"),  # who may take nothing
        ({"do": "release"}, ""),
    ):
        assert first.post("/admin/queue/refused/", form).status_code == 302
        row = QueueRow.objects.get()
        assert row.taken_by == taker
        assert (row.taken_at is None) == (not taker)
    assert [(note["by"], note["text"]) for note in row.notes] == [("support", "Called Madame Quibble")]
    assert "Called Madame Quibble" in first.get("/admin/").text
    assert "Quibble" not in second.get("/admin/").text  # a note is free text
    entries = AuditEntry.objects.filter(object_id="refused").order_by("id")
    takers = [entry.changes.get("taken_by") for entry in entries]
    assert takers == [["", "support"], None, ["support", "operations"], ["operations", ""]]
    assert "Quibble" not in str(entries.values())
    assert first.post("/admin/queue/nothing/").status_code == 404
    assert third.post("/admin/queue/refused/", {"do": "take"}).status_code == 403


@pytest.mark.any_database
def test_a_note_of_as_many_characters_as_its_field_takes_is_kept_whole() -> None:
    written = "Called again.\n" * 71 + "Ended."  # 1,000, as a browser counts
    member("Support").post("/admin/queue/refused/", {"do": "note", "note": written.replace("\n", "\r\n")})
    assert [note["text"] for note in QueueRow.objects.get().notes] == [written]


def test_a_parcel_keeps_who_took_it_and_its_notes_when_it_is_imported_again() -> None:
    shop = ShopFactory()
    made = import_parcel(shop, lastStatus=None)
    staff = member("Support")
    page = f"/admin/parcels/parcel/{made['id']}/"
    staff.post(f"{page}take/", {"do": "take", "note": "Ask the depot"})
    import_parcel(shop, **made | {"lastStatus": "IN_TRANSIT", "updatedAt": made["updatedAt"] + 1})
    kept = Parcel.objects.get()
    assert (kept.taken_by, kept.last_status) == ("support", "IN_TRANSIT")
    assert "Ask the depot" in staff.get(f"{page}change/").text
    assert "Ask the depot" not in member("Operations").get(f"{page}change/").text
    assert TrackingNumber.objects.get().parcel_id == kept.id


@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
def test_what_staff_took_and_noted_of_a_labels_parcel_is_the_ones_that_replaces_it(*, is_known: bool) -> None:
    label = LabelFactory(tracking_numbers=["N1"])
    publish(label)
    line: dict[str, Any] = {"id": "P1", "trackingId": "R1", "trackingNumbers": [], "createdAt": ms(label.created_at)}
    staff, other = member("Support"), member("Operations")
    if is_known:
        import_parcel(label.shop, **line)
        other.post("/admin/parcels/parcel/P1/take/", {"do": "take", "note": "Lost?"})
    staff.post(f"/admin/parcels/parcel/{label.id}/take/", {"do": "take", "note": "Ask the depot"})
    import_parcel(label.shop, **line | {"trackingId": "N1", "trackingNumbers": ["N1"], "updatedAt": ms(timezone.now())})
    parcel = Parcel.objects.get()
    noted = ["Lost?", "Ask the depot"] if is_known else ["Ask the depot"]
    assert (parcel.id, [note["text"] for note in parcel.notes]) == ("P1", noted)
    assert (parcel.taken_by, parcel.taken_at is None) == ("operations" if is_known else "support", False)


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_whoever_takes_a_parcel_that_an_import_holds_is_told_so() -> None:
    parcel = import_parcel(ShopFactory())
    staff, page = member("Support"), f"/admin/parcels/parcel/{parcel['id']}/"
    with held("SELECT FROM parcels_parcel FOR UPDATE"):
        answer = staff.post(f"{page}take/", {"do": "take"}, follow=True)
    assert (answer.redirect_chain, "held by another process" in answer.text) == ([(f"{page}change/", 302)], True)
    staff.post(f"{page}take/", {"do": "take"})
    assert Parcel.objects.get().taken_by == "support"


def test_a_parcel_that_an_import_replaces_meanwhile_is_taken_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who wants to take a label's parcel waits for the import that holds it, and then there is another parcel."""
    label = LabelFactory(tracking_numbers=["N1"])
    publish(label)
    facts: dict[str, Any] = {"trackingId": "N1", "trackingNumbers": ["N1"], "createdAt": ms(label.created_at)}
    during(monkeypatch, taking, "act", before=lambda *_: import_parcel(label.shop, **facts))
    answer = member("Support").post(f"/admin/parcels/parcel/{label.id}/take/", {"do": "take"})
    assert (answer.status_code, Parcel.objects.get().taken_by) == (404, "")


@pytest.mark.parametrize("act", ["queue/overdue", "morning"])
def test_whoever_had_to_log_in_before_an_act_is_led_to_the_first_page(act: str) -> None:
    answer = logged_in(*VIEWS).get(f"/admin/{act}/")  # what was sent is lost, and the log-in leads back
    assert (answer.status_code, answer.headers.get("Location")) == (302, "/admin/")
