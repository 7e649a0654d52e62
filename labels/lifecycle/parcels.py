"""A bought label as a parcel of its shop: made with it, withdrawn with its cancellation, erased with its addresses."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

from babel import Locale
from django.db.models import QuerySet

from carriers.products import DISPLAY_NAMES, PRODUCTS
from labels.models import ShippingLabel
from parcels.importing.numbers import GIVEN_OUT_AGAIN_MS, lock_numbers, numbers_of, own_numbers
from parcels.models import Parcel, ParcelNumber, ParcelTracking
from parcels.tracking.events import milliseconds
from parcels.tracking.following import events_of, new_tracking, plan
from parcels.tracking.recording import write_story
from parcels.tracking.reporting import take_numbers
from parcels.tracking.story import has_moved
from shops.db import clock
from shops.db.batches import batches
from shops.db.prepared import PreparedInsert, PreparedQuery, argument, pipelined

# What a label's parcel takes from another parcel of the same order.
OF_THE_ORDER: Final = (
    *("order_number", "line_items", "customer_email", "customer_locale", "previous_emails"),
    *("gift_config", "cross_sell_recommendations", "web_template"),
)
SIBLING = PreparedQuery(
    lambda: (
        Parcel.objects.for_shop(argument("shop"))
        .filter(order_id=argument("order"))
        .newest_first()
        .values_list(*OF_THE_ORDER)[:1]
    )
)
INSERT_PARCEL, INSERT_NUMBER, INSERT_TRACKING = map(PreparedInsert, (Parcel, ParcelNumber, ParcelTracking))


@cache
def with_numbers(count: int) -> PreparedQuery:
    """Return a query for parcels that have one of so many numbers."""
    numbers = [argument(f"number{rank}") for rank in range(count)]
    found = ParcelNumber.objects.filter(shop=argument("shop"), number__in=numbers, created_at__gt=argument("since"))
    return PreparedQuery(lambda: found.order_by().values_list("parcel")[:1])


def own_parcel(label: ShippingLabel) -> QuerySet[Parcel]:
    """Return a query for the label's parcel if the shop has not reported it itself."""
    rows: QuerySet[Parcel] = Parcel.objects.for_shop(label.shop_id).filter(id=label.id, imported_at=None)
    return rows


def withdraw(label: ShippingLabel) -> None:
    """Hide the label's parcel from the API, unless the carrier has moved it."""
    rows = ParcelTracking.objects.filter(pk=label.id, shop=label.shop_id).select_related("parcel")
    tracking = rows.select_for_update().first()
    if tracking is not None and not has_moved(events_of(tracking)):
        own_parcel(label).update(is_withdrawn=True)


def bring_back(label: ShippingLabel) -> None:
    """Show the parcel of a label again that stays bought."""
    own_parcel(label).update(is_withdrawn=False)


def trackings(label: ShippingLabel) -> QuerySet[ParcelTracking]:
    """Return a query for what follows the parcels that have the label's numbers."""
    numbers = ParcelNumber.objects.filter(shop=label.shop_id, number__in=label.tracking_numbers)
    parcels = numbers.filter(created_at__gt=since(label)).order_by().values("parcel")
    rows: QuerySet[ParcelTracking] = ParcelTracking.objects.filter(pk__in=parcels, shop=label.shop_id)
    return rows.select_related("parcel").order_by("pk")


def is_handed_in(label: ShippingLabel) -> bool:
    """Tell if the carrier has reported that it has one of the label's parcels."""
    reported = [event for tracking in trackings(label) for event in events_of(tracking)]
    return has_moved(event for event in reported if event.number in label.tracking_numbers)


def release_numbers(label: ShippingLabel, cancelled: Collection[str]) -> None:
    """Let cancelled numbers hold no parcel back; they leave one that the shop has reported without them."""
    if not cancelled:
        return
    for tracking in trackings(label).select_for_update(of=("self", "parcel")):
        parcel, added = tracking.parcel, set(tracking.added_numbers).intersection(cancelled)
        tracking.label_numbers = [number for number in tracking.label_numbers if number not in cancelled]
        tracking.added_numbers = [number for number in tracking.added_numbers if number not in added]
        tracking.save(update_fields=["label_numbers", "added_numbers"])
        if added:
            parcel.tracking_numbers = [number for number in parcel.tracking_numbers if number not in added]
            parcel.save(update_fields=["tracking_numbers"])
            ParcelNumber.objects.filter(shop=label.shop_id, parcel=parcel.id, number__in=added).delete()
        write_story(tracking, clock.now())


class Publication:
    """A generated label becomes a parcel, or the shop's parcel with one of its numbers is followed.

    In the transaction that makes it visible.
    """

    def __init__(self, label: ShippingLabel) -> None:
        self.label = label

    def prefetch(self) -> None:
        """Hold the shop's numbers, and ask for all that a usual label's parcel depends on."""
        shop_id, numbers = self.label.shop_id, self.label.tracking_numbers or [""]
        lock_numbers(shop_id)
        arguments = {f"number{rank}": number for rank, number in enumerate(numbers)}
        self.taken = with_numbers(len(numbers)).start(shop=shop_id, since=since(self.label), **arguments)
        self.siblings = SIBLING.start(shop=shop_id, order=self.label.order_id)

    def publish(self) -> None:
        known = parcels_with_numbers(self.label) if self.taken() else []
        for parcel, numbers in known:
            follow_known(parcel, self.label, numbers)
        if not known:
            self.insert()

    def insert(self) -> None:
        label = self.label
        sibling = next((dict(zip(OF_THE_ORDER, row, strict=True)) for row in self.siblings()), {})
        parcel = new_parcel(label, sibling)
        tracking = new_tracking(parcel, finished_at(label), label_numbers=label.tracking_numbers)
        with pipelined():
            INSERT_PARCEL.start(parcel)
            for number in numbers_of(parcel):
                INSERT_NUMBER.start(number)
            INSERT_TRACKING.start(tracking)


def finished_at(label: ShippingLabel) -> datetime:
    assert label.finished_at is not None  # it is generated
    return label.finished_at


def since(label: ShippingLabel) -> int:
    """Return the time since which a parcel with one of the label's numbers is the same, in milliseconds."""
    return milliseconds(label.created_at) - GIVEN_OUT_AGAIN_MS


def parcels_with_numbers(label: ShippingLabel) -> list[tuple[Parcel, list[str]]]:
    """Find the shop's newest parcel with each number, unless they were given out again since.

    Numbers that no parcel has are the newest one's. A parcel that an import holds is not waited for, as the import
    waits for the numbers at its end: the label is finished again.
    """
    numbers = ParcelNumber.objects.filter(shop=label.shop_id, number__in=label.tracking_numbers)
    found = numbers.filter(created_at__gt=since(label))
    rows = list(found.order_by("-created_at", "-parcel").values_list("parcel", "number"))
    owners = {number: parcel_id for parcel_id, number in reversed(rows)}
    own = Parcel.objects.for_shop(label.shop_id).filter(id__in=owners.values()).order_by("id")
    parcels = {parcel.id: parcel for parcel in own.select_for_update(nowait=True)}
    if not parcels:
        return []
    newest = next(parcel_id for parcel_id, _ in rows if parcel_id in parcels)
    shares: dict[str, list[str]] = {parcel_id: [] for parcel_id in parcels}
    for number in label.tracking_numbers:
        shares.get(owners.get(number, newest), shares[newest]).append(number)
    return [(parcel, shares[parcel_id]) for parcel_id, parcel in parcels.items()]


def follow_known(parcel: Parcel, label: ShippingLabel, numbers: list[str]) -> None:
    """Let the shop's own parcel have the label's numbers, and ask the label's carrier about it."""
    now = finished_at(label)
    tracking = ParcelTracking.objects.filter(pk=parcel.id).select_for_update().first() or new_tracking(parcel, now)
    tracking.carrier_code = label.carrier_code
    before = own_numbers(parcel)
    take_numbers(parcel, tracking, numbers, named=before - set(tracking.added_numbers))
    plan(tracking, parcel, now)
    tracking.save()
    if missing := own_numbers(parcel) - before:
        Parcel.objects.for_shop(label.shop_id).filter(id=parcel.id).update(tracking_numbers=parcel.tracking_numbers)
        rows = [row for row in numbers_of(parcel) if row.number in missing]
        ParcelNumber.objects.bulk_create(rows, ignore_conflicts=True)


def new_parcel(label: ShippingLabel, of_the_order: dict[str, Any]) -> Parcel:
    """Make the parcel of a label; its order's number, items and customer are those of another parcel of the order."""
    email = label.recipient.get("email") or of_the_order.get("customer_email")
    story: dict[str, Any] = {"destination": destination(label), "events": [], "customer_email": email}
    return Parcel(
        **{"order_number": "", "line_items": []} | of_the_order | story,
        id=label.id,
        shop_id=label.shop_id,
        order_id=label.order_id,
        tracking_id=label.tracking_number,
        tracking_numbers=label.tracking_numbers,
        carrier_code=label.carrier_code,
        carrier_product=label.product_code,
        carrier_display_name=DISPLAY_NAMES[label.carrier_code],
        created_at=milliseconds(label.created_at),
        updated_at=milliseconds(finished_at(label)),
    )


def destination(label: ShippingLabel) -> dict[str, Any]:
    """Return where the parcel goes, with all fields of a destination in their order: of a pickup product the point."""
    to = label.recipient | (label.pickup_point or {})
    return {
        "firstName": to["firstName"],
        "lastName": to["lastName"],
        "name": f"{to['firstName']} {to['lastName']}".strip(),
        "company": to.get("company", ""),
        "address1": to["address1"],
        "address2": to.get("address2") or None,
        "city": to["city"],
        "zip": to["zip"],
        "province": "",
        "provinceCode": to.get("provinceCode", ""),
        "country": country_name(to["countryCode"]),
        "countryCode": to["countryCode"],
        "phone": to["phone"],
        "latitude": None,
        "longitude": None,
        "isPickupPoint": PRODUCTS[label.product_code].needs_pickup_point,
    }


def country_name(code: str) -> str:
    """Return a country's name in French, the carriers' language."""
    name: str = Locale("fr").territories.get(code, code)
    return name


def parcels_of(label_ids: Sequence[str]) -> list[str]:
    """Return the ids of the parcels that these labels are, without those that the shop has reported itself."""
    return [
        parcel_id
        for ids in batches(label_ids)
        for parcel_id in Parcel.objects.filter(id__in=ids, imported_at=None).values_list("id", flat=True)
    ]
