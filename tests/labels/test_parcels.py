"""A bought label is a parcel at once; imports, cancellations and erasures leave it one story."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import orjson
import pytest
from babel import Locale
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from carriers.tracking import Status, TrackingAnswer, TrackingEvent
from labels.lifecycle import cancelling
from labels.lifecycle.reconciling import reconcile
from labels.lifecycle.states import Event, move
from labels.models import LabelState, ShippingLabel
from labels.personal_data.retention import remove_addresses
from parcels.importing.reading import BATCH_SIZE
from parcels.models import Parcel, TrackingNumber
from shops.contracts.addresses import COUNTRY_NAMES
from shops.db import clock
from shops.staff import days
from shops.webhooks.models import WebhookEvent
from tests.labels.conftest import Sandbox, bought
from tests.labels.factories import LabelFactory, publish
from tests.labels.interruptions import interrupt
from tests.labels.orders import RECIPIENT, order, post, weighing
from tests.support.api import Caller, Response
from tests.support.documents import assert_documents_agree
from tests.support.factories import UNTOLD, ParcelLineFactory, import_lines, import_parcel
from tests.support.threads import Elsewhere, in_threads
from tests.support.tracking import number_of, record

S = Status
EMAIL = RECIPIENT["email"]


def reported(
    label: ShippingLabel, status: Status | None, code: str = "SC", minutes: int = 0, number: str = ""
) -> TrackingEvent:
    at = timezone.now() - timedelta(minutes=minutes)
    return TrackingEvent(number or label.tracking_number, code, at, "Carrier's text", "PARIS", status)


def hear(label: ShippingLabel, *events: TrackingEvent, parcel: str = "") -> None:
    answer = TrackingAnswer(label.tracking_number, is_known=True, events=events)
    record(parcel or label.id, [answer], now=timezone.now())


def found(caller: Caller, label: ShippingLabel) -> list[Response]:
    return [caller.look_up(number) for number in label.tracking_numbers]


def ids(response: Response) -> list[str]:
    return [parcel["id"] for parcel in response.json()]


def test_a_label_is_a_parcel_at_once(buyer: Caller, other: Caller) -> None:
    label = bought(buyer)
    parcel = buyer.look_up(label.tracking_number).json()
    assert list(parcel) == list(import_parcel(other.shop))
    created_at = bought_ms(label)
    assert {name: value for name, value in parcel.items() if name not in ("destination", "updatedAt")} == {
        "id": label.id,
        "shopId": buyer.shop.id,
        "orderId": "5400000001",
        "orderNumber": "",
        "trackingId": label.tracking_number,
        "trackingNumbers": label.tracking_numbers,
        "carrierCode": "alpha",
        "carrierProduct": "alpha-13",
        "carrierDisplayName": "Alpha Express",
        "lastStatus": None,
        "lastStatusUpdatedAt": None,
        "carrierLastStatus": None,
        "estimatedDeliveryDateWindow": None,
        "deliveryDate": None,
        "endDepositDate": None,
        "lineItems": [],
        "events": [],
        "createdAt": created_at,
    }
    assert parcel["destination"] == {
        "firstName": "Søren",
        "lastName": "Grünwald",
        "name": "Søren Grünwald",
        "company": "",
        "address1": "128 boulevard Œdipe",
        "address2": None,
        "city": "Villeneuve",
        "zip": "75011",
        "province": "",
        "provinceCode": "",
        "country": "France",
        "countryCode": "FR",
        "phone": "+33699001122",
        "latitude": None,
        "longitude": None,
        "isPickupPoint": False,
    }


def test_its_country_has_its_french_name() -> None:
    names: dict[str, str] = dict(Locale("fr").territories)
    no_countries = set("AC CP DG EA EU EZ IC QO TA UN XA XB XK ZZ".split())  # of ISO 3166-1
    assert {code: names[code] for code in names.keys() - no_countries if len(code) == 2} == COUNTRY_NAMES


def test_it_is_found_by_each_number_and_by_email_and_not_by_its_reference(buyer: Caller, other: Caller) -> None:
    label = bought(buyer, parcels=weighing(1, 2, 3))
    assert len(label.tracking_numbers) == 3
    assert {response.json()["id"] for response in found(buyer, label)} == {label.id}
    assert ids(buyer.search(email=EMAIL)) == [label.id]
    assert ids(buyer.search(orderName="CMD 4711")) == []  # free text, in which a person's name may be
    assert {response.status_code for response in found(other, label)} == {404}


def test_a_label_to_a_pickup_point_goes_there_when_its_pdf_is_fetched_later_too(
    buyer: Caller, sandbox: Sandbox
) -> None:
    label = interrupt(buyer, sandbox, "nolabel", order("relais"), operation="shippingMultiParcelV4")
    assert reconcile() == {LabelState.GENERATED: 1}
    at_once = bought(buyer, "relais")
    numbers = (*label.tracking_numbers, at_once.tracking_number)
    fetched, bought_at_once = (buyer.look_up(number).json()["destination"] for number in numbers)
    assert fetched == bought_at_once


def test_order_items_and_customer_come_from_the_parcel_of_the_order_that_the_shop_has(buyer: Caller) -> None:
    bought(buyer)  # a newer parcel of the order, which knows none of it
    first = import_parcel(buyer.shop, orderId="5400000001", orderNumber="#1001")
    label = bought(buyer)
    parcel = buyer.look_up(label.tracking_number).json()
    assert (parcel["orderNumber"], parcel["lineItems"]) == ("#1001", first["lineItems"])
    row = Parcel.objects.get(id=label.id)
    assert (row.customer_email, row.customer_locale, row.web_template) == (EMAIL, "fr-FR", "noel-2026")
    assert ids(buyer.search(orderName="#1001")) == [label.id, first["id"]]


def test_the_carrier_is_asked_about_it(buyer: Caller) -> None:
    label = bought(buyer)
    row = number_of(label.id)
    assert (row.carrier_code, row.state, row.label, row.outcome) == ("alpha", "bought", label.id, "")
    assert row.due_at is not None
    hear(label, reported(label, S.IN_TRANSIT))
    assert buyer.look_up(label.tracking_number).json()["lastStatus"] == "IN_TRANSIT"
    assert_documents_agree()


def test_a_labels_parcel_is_of_the_labels_own_time_and_day(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    midnight = days.start_of(days.today())
    monkeypatch.setattr(clock, "upper_bound_now", lambda: midnight - timedelta(microseconds=1))
    label = post(buyer, order()).json()
    (parcel,) = buyer.search(email=EMAIL).json()
    assert parcel["createdAt"] == datetime.fromisoformat(label["createdAt"]).timestamp() * 1000
    assert parcel["createdAt"] < midnight.timestamp() * 1000


# --- Imports ---


def bought_ms(label: ShippingLabel) -> int:
    """The time of a purchase: a number that comes a year later was given out again."""
    return int(label.created_at.timestamp()) * 1000 + label.created_at.microsecond // 1000


def untold(label: ShippingLabel) -> dict[str, Any]:
    return UNTOLD | {"carrierCode": "alpha", "createdAt": bought_ms(label)}


def test_an_import_takes_the_labels_place_with_all_its_numbers_and_events(buyer: Caller) -> None:
    label = bought(buyer, parcels=weighing(1, 2))
    first, second = label.tracking_numbers
    hear(label, reported(label, S.IN_TRANSIT))
    before = buyer.look_up(first).json()
    facts: dict[str, Any] = {"id": "P1", "trackingId": first, "carrierCode": "alpha", "events": []}
    facts["createdAt"] = bought_ms(label)
    imported = import_parcel(buyer.shop, customerEmail=EMAIL, orderNumber="#7", **facts)
    for number in (first, second):
        parcel = buyer.look_up(number).json()
        assert (parcel["id"], parcel["orderNumber"], parcel["trackingNumbers"]) == ("P1", "#7", [first, second])
        assert parcel["events"] == before["events"]
        assert parcel["destination"] == imported["destination"]
    assert ids(buyer.search(email=EMAIL)) == ["P1"]
    assert (Parcel.objects.count(), TrackingNumber.objects.count()) == (1, 2)
    again = import_parcel(buyer.shop, **facts)
    assert again["lastStatus"] == "IN_TRANSIT"
    assert buyer.look_up(second).json()["events"] == before["events"]


def lines_of(label: ShippingLabel) -> list[bytes]:
    facts: dict[str, Any] = {"carrierCode": "alpha", "events": [], "carrierLastStatus": None}
    facts["createdAt"] = bought_ms(label)
    names = zip(("P1", "P2"), label.tracking_numbers, strict=True)
    return [
        orjson.dumps(ParcelLineFactory(id=name, trackingId=number, trackingNumbers=[number], **facts))
        for name, number in names
    ]


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0), (1, 0, 1)])
@pytest.mark.parametrize("is_one_file", [True, False])
def test_imports_that_each_name_a_number_of_a_label_divide_it(
    order: tuple[int, ...], buyer: Caller, *, is_one_file: bool
) -> None:
    label = bought(buyer, parcels=weighing(1, 2))
    first, second = label.tracking_numbers
    hear(label, reported(label, S.IN_TRANSIT, "S1", number=first), reported(label, S.DELIVERED, "S2", number=second))
    lines = [lines_of(label)[place] for place in order]
    if is_one_file:
        import_lines(buyer.shop, lines)
    else:
        for line in lines:
            import_lines(buyer.shop, [line])
    for number, parcel_id, code in ((first, "P1", "S1"), (second, "P2", "S2")):
        parcel = buyer.look_up(number).json()
        assert (parcel["id"], parcel["trackingNumbers"]) == (parcel_id, [number])
        assert [event["carrierStatusCode"] for event in parcel["events"]] == [code]
        row = number_of(parcel_id)
        assert (row.number, row.label, row.is_added) == (number, label.id, False)
    assert Parcel.objects.count() == TrackingNumber.objects.count() == 2


@pytest.mark.parametrize("order", [("P1", "P2"), ("P2", "P1")], ids=["taker first", "giver first"])
def test_a_number_that_the_shop_moves_in_two_imports_is_on_one_parcel(order: tuple[str, str], buyer: Caller) -> None:
    label = bought(buyer)
    number = label.tracking_number
    facts = untold(label)
    import_parcel(buyer.shop, id="P1", trackingId="N1", trackingNumbers=["N1"], **facts)
    import_parcel(buyer.shop, id="P2", trackingId="N2", trackingNumbers=["N2", number], **facts)
    hear(label, reported(label, S.IN_TRANSIT), parcel="P2")
    moved = {"P1": ["N1", number], "P2": ["N2"]}
    for name in order:
        import_parcel(buyer.shop, id=name, trackingId=moved[name][0], trackingNumbers=moved[name], **facts)
    for name, numbers in moved.items():
        parcel = buyer.look_up(numbers[0]).json()
        assert (parcel["id"], parcel["trackingNumbers"]) == (name, numbers)
        assert (parcel["lastStatus"], len(parcel["events"])) == (("IN_TRANSIT", 1) if name == "P1" else (None, 0))
    assert buyer.look_up(number).json()["id"] == "P1"
    assert [row.parcel_id for row in TrackingNumber.objects.filter(label=label.id)] == ["P1"]


@pytest.mark.parametrize("parcel_id", ["the label's", "P1"])
def test_an_import_never_turns_the_carriers_newer_status_back(parcel_id: str, buyer: Caller) -> None:
    label = bought(buyer)
    hear(label, reported(label, S.OUT_FOR_DELIVERY))
    old = label.created_at - timedelta(days=1)
    facts = {"lastStatus": "FULFILLED", "lastStatusUpdatedAt": round(old.timestamp() * 1000), "events": []}
    facts |= {"id": parcel_id.replace("the label's", label.id), "createdAt": bought_ms(label)}
    import_parcel(buyer.shop, trackingId=label.tracking_number, **facts)
    found = buyer.look_up(label.tracking_number).json()
    assert (found["id"], found["lastStatus"]) == (facts["id"], "OUT_FOR_DELIVERY")


@pytest.mark.parametrize("weights", [(1,), (1, 2)])
def test_an_import_under_the_labels_own_id_updates_it(weights: tuple[int, ...], buyer: Caller) -> None:
    label = bought(buyer, parcels=weighing(*weights))
    times = [buyer.look_up(label.tracking_number).json()["updatedAt"]]
    for number in ("#7", "#8"):  # whatever time the shop gives
        import_parcel(
            buyer.shop, id=label.id, trackingId=label.tracking_number, orderNumber=number, updatedAt=times[0] - 1
        )
        times.append(buyer.look_up(label.tracking_number).json()["updatedAt"])
    assert times[0] < times[1] <= times[2]
    assert {response.json()["orderNumber"] for response in found(buyer, label)} == {"#8"}
    assert Parcel.objects.count() == 1
    assert_documents_agree()


def test_an_import_under_the_id_of_a_label_that_is_not_finished_yet_is_its_parcel(
    buyer: Caller, sandbox: Sandbox
) -> None:
    label = interrupt(buyer, sandbox, "nolabel", order("relais"), operation="shippingMultiParcelV4")
    import_parcel(buyer.shop, id=label.id, trackingId="N1", trackingNumbers=["N1"])
    assert reconcile() == {LabelState.GENERATED: 1}
    (number,) = label.tracking_numbers
    assert buyer.look_up(number).json() == buyer.look_up("N1").json()


def test_a_number_that_was_given_out_again_is_another_parcels(buyer: Caller) -> None:
    label = bought(buyer)
    created_at = round((label.created_at - timedelta(days=400)).timestamp() * 1000)
    import_parcel(buyer.shop, id="P1", trackingId=label.tracking_number, createdAt=created_at)
    assert buyer.look_up(label.tracking_number).json()["id"] == label.id
    assert Parcel.objects.count() == 2


def test_another_shops_import_of_the_number_changes_nothing(buyer: Caller, other: Caller) -> None:
    label = bought(buyer)
    import_parcel(other.shop, id="P1", trackingId=label.tracking_number)
    assert buyer.look_up(label.tracking_number).json()["id"] == label.id
    assert other.look_up(label.tracking_number).json()["id"] == "P1"


# --- Cancellation ---


def test_a_cancelled_labels_parcel_is_withdrawn(buyer: Caller) -> None:
    label, left = bought(buyer, "beta"), bought(buyer, "beta")
    hear(label, reported(label, S.FULFILLED, "PCHMQT"))
    cancelling.cancel(label)
    assert buyer.look_up(label.tracking_number).status_code == 404
    assert ids(buyer.search(email=EMAIL)) == [left.id]
    assert Parcel.objects.get(id=label.id).is_withdrawn
    hear(label, reported(label, S.FULFILLED, "PCHMQT"), reported(label, S.IN_TRANSIT))
    assert buyer.look_up(label.tracking_number).json()["lastStatus"] == "IN_TRANSIT"


@pytest.mark.parametrize("was_imported", [True, False])
def test_a_cancelled_number_that_an_import_names_afterwards_holds_nothing_back(
    buyer: Caller, *, was_imported: bool
) -> None:
    cancelled, label = bought(buyer), bought(buyer)
    hear(cancelled, reported(cancelled, S.FULFILLED, "DC", minutes=9))
    facts = {"id": "P1"} | untold(label)
    numbers = [label.tracking_number, cancelled.tracking_number]
    if was_imported:
        import_parcel(buyer.shop, trackingId=numbers[1], **facts)
    cancelling.cancel(cancelled)
    import_parcel(buyer.shop, trackingId=numbers[0], trackingNumbers=numbers, **facts)
    hear(label, reported(label, S.DELIVERED, "D"), parcel="P1")
    for number in numbers:
        parcel = buyer.look_up(number).json()
        assert (parcel["id"], parcel["trackingNumbers"], parcel["lastStatus"]) == ("P1", numbers, "DELIVERED")
        assert [event["carrierStatusCode"] for event in parcel["events"]] == ["D", "DC"]
    assert list(Parcel.objects.values_list("id", flat=True)) == ["P1"]


def test_a_cancelled_number_holds_back_none_of_the_parcels_that_name_it(buyer: Caller) -> None:
    label = bought(buyer)
    facts = untold(label)
    for name in ("P1", "P2"):
        import_parcel(buyer.shop, id=name, trackingId=name, trackingNumbers=[name, label.tracking_number], **facts)
        hear(label, reported(label, S.FULFILLED, "DC", minutes=9), parcel=name)
        hear(label, reported(label, S.DELIVERED, "D", number=name), parcel=name)
    cancelling.cancel(label)
    assert [buyer.look_up(name).json()["lastStatus"] for name in ("P1", "P2")] == ["DELIVERED", "DELIVERED"]


def test_a_report_ends_a_cancellation_that_the_carrier_could_not_carry_out_yet(buyer: Caller) -> None:
    label = bought(buyer)
    cancelling.begin(label)
    hear(label, reported(label, S.IN_TRANSIT))
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert reconcile() == {LabelState.GENERATED: 1}
    assert buyer.look_up(label.tracking_number).json()["lastStatus"] == "IN_TRANSIT"


def test_a_cancelled_number_holds_back_no_parcel_that_the_shop_has_made_of_it(buyer: Caller) -> None:
    """The address was wrong: the label was cancelled, and the order is sent with another."""
    label = bought(buyer, "beta")
    import_parcel(buyer.shop, id="P1", trackingId=label.tracking_number, trackingNumbers=[label.tracking_number])
    cancelling.cancel(label)
    import_parcel(buyer.shop, id="P1", trackingId="N2", trackingNumbers=["N2"], lastStatus="DELIVERED")
    parcel = buyer.look_up("N2").json()
    assert (parcel["trackingNumbers"], parcel["lastStatus"]) == (["N2"], "DELIVERED")
    assert buyer.look_up(label.tracking_number).status_code == 404


def test_what_came_while_a_label_was_being_cancelled_is_told_when_it_stays_bought(buyer: Caller) -> None:
    label = bought(buyer)
    begun = cancelling.begin(label)
    hear(label, reported(label, S.FULFILLED, "DC"))
    assert not WebhookEvent.objects.filter(type="parcel.status_changed").exists()
    updated_at = Parcel.objects.get(id=label.id).updated_at
    assert move(begun, Event.CANCEL_REFUSED)
    told = WebhookEvent.objects.get(subject=label.id, type="parcel.status_changed").data
    assert (told["previousStatus"], told["status"]) == (None, "FULFILLED")
    assert buyer.look_up(label.tracking_number).json()["updatedAt"] >= updated_at


# --- Erasure and retention ---


def test_an_erased_customers_label_is_an_erased_parcel(buyer: Caller) -> None:
    label = bought(buyer, destination={"email": ""})
    hear(label, reported(label, S.IN_TRANSIT))
    import_parcel(buyer.shop, id="P1", orderId=label.order_id, customerEmail="who@example.com")
    call_command("erase_customer", buyer.shop.id, "who@example.com", stdout=StringIO())
    row, tracking = Parcel.objects.get(id=label.id), number_of(label.id)
    assert row.destination["lastName"] == row.events[0]["label"] == row.carrier_last_status["description"] == ""
    assert [(event["text"], event["place"]) for event in tracking.events] == [("", "")]
    hear(label, reported(label, S.IN_TRANSIT), reported(label, S.DELIVERED, "D"))
    row.refresh_from_db()
    assert (row.last_status, {event["label"] for event in row.events}) == ("DELIVERED", {""})
    assert_documents_agree()


def test_a_labels_addresses_leave_its_parcel_by_their_age_too(buyer: Caller) -> None:
    kept, label = bought(buyer), bought(buyer)
    import_parcel(buyer.shop, id=kept.id, trackingId=kept.tracking_number)
    before = timezone.now() + timedelta(minutes=1)
    assert remove_addresses(before=before, batch_size=10, is_dry_run=False) == 2
    assert Parcel.objects.get(id=label.id).destination["lastName"] == ""
    assert Parcel.objects.get(id=kept.id).destination["lastName"] != ""


@pytest.mark.parametrize("product", ["alpha-13", "beta"])
def test_the_shown_carrier_is_the_labels(product: str, buyer: Caller) -> None:
    label = bought(buyer, product)
    parcel = buyer.look_up(label.tracking_number).json()
    assert parcel["carrierDisplayName"] == {"alpha": "Alpha Express", "beta": "Beta Post"}[parcel["carrierCode"]]


# --- At the same time ---


@pytest.mark.real_services
def test_a_label_bought_during_an_import_of_its_number_is_that_parcel(transactional_db: None, own: Caller) -> None:
    """Neither sees the other's rows: the end of the import finds the label."""
    label = LabelFactory(shop=own.shop, tracking_numbers=["N1", "N2"])

    def lines() -> Iterator[bytes]:
        yield orjson.dumps(ParcelLineFactory(id="P1", trackingId="N1", createdAt=now))
        for n in range(BATCH_SIZE):
            yield orjson.dumps(ParcelLineFactory(id=f"Q{n}", trackingId=f"Q{n}"))
        in_threads(1, lambda _: publish(label))  # the first batch is written, and not committed
        assert own.look_up("N2").json()["id"] in (label.id, "P1")

    now = round(timezone.now().timestamp() * 1000)
    import_lines(own.shop, lines())
    assert {response.json()["id"] for response in found(own, label)} == {"P1"}
    assert not Parcel.objects.filter(id=label.id).exists()
    numbers = TrackingNumber.objects.filter(parcel="P1", label=label.id).values_list("number", flat=True)
    assert set(numbers) == {"N1", "N2"}


@pytest.mark.real_services
def test_numbers_that_an_import_moves_while_their_label_is_cancelled_hold_nothing_back(buyer: Caller) -> None:
    label = bought(buyer, parcels=weighing(1, 2))
    facts = {"id": "P1", "trackingId": "N9"} | untold(label)
    import_parcel(buyer.shop, **facts)
    hear(label, reported(label, S.DELIVERED, "D", number="N9"), parcel="P1")
    begun = cancelling.begin(label)
    cancelled = Elsewhere(lambda: move(begun, Event.CANCELLED))
    numbers = ["N9", label.tracking_number]
    with transaction.atomic():
        import_parcel(buyer.shop, trackingNumbers=numbers, **facts)
        cancelled.begin()
    cancelled.join()
    parcel = buyer.look_up("N9").json()
    assert (parcel["trackingNumbers"], parcel["lastStatus"]) == (numbers, "DELIVERED")
    told = WebhookEvent.objects.filter(subject="P1").order_by("id").values_list("data", flat=True)
    assert [each["status"] for each in told] == ["DELIVERED", "FULFILLED", "DELIVERED"]


@pytest.mark.real_services
def test_a_parcel_that_the_shop_reports_while_its_label_is_cancelled_is_shown(buyer: Caller) -> None:
    label = bought(buyer)
    imported = Elsewhere(lambda: import_parcel(buyer.shop, id=label.id, trackingId=label.tracking_number))
    with transaction.atomic():
        cancelling.begin(label)
        imported.begin()
    imported.join()
    assert buyer.look_up(label.tracking_number).json()["id"] == label.id


def test_a_number_of_a_cancelled_label_that_another_label_has_is_that_ones_parcel(own: Caller) -> None:
    """A cancelled label stays hidden; the one that is bought is found."""
    number = "6A00000000001"
    cancelled, bought = (LabelFactory(shop=own.shop, tracking_numbers=[number]) for _ in range(2))
    publish(cancelled)
    assert cancelling.cancel(cancelled).state == LabelState.CANCELLED
    assert own.look_up(number).status_code == 404
    publish(bought)
    found = own.look_up(number)
    assert found.status_code == 200
    assert (found.json()["id"], found.json()["trackingNumbers"]) == (bought.id, [number])


@pytest.mark.parametrize("first", [0, 1])
def test_a_parcel_of_two_labels_is_hidden_when_both_are_cancelled(first: int, own: Caller) -> None:
    number = "6A00000000001"
    labels = [LabelFactory(shop=own.shop, tracking_numbers=[number]) for _ in range(2)]
    for label in labels:
        publish(label)
    cancelling.cancel(labels[first])
    assert own.look_up(number).status_code == 200
    cancelling.cancel(labels[1 - first])
    assert own.look_up(number).status_code == 404
