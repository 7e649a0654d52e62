"""A bought label as a parcel of its shop: made with it, withdrawn with its cancellation, erased with its addresses."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q, QuerySet

from carriers.products import DISPLAY_NAMES, PRODUCTS
from carriers.tracking import Status
from labels.models import ShippingLabel
from parcels.importing.numbers import GIVEN_OUT_AGAIN_MS, lock_imports, lock_shop, new_number, try_to_lock_imports
from parcels.models import NumberState, Parcel, TrackingNumber
from parcels.personal_data.retention import removed_before
from parcels.tracking.events import milliseconds
from parcels.tracking.schedule import schedule_next_check
from parcels.tracking.steps import moved_numbers
from parcels.tracking.timeline import events_of, locked, recompute
from shops.contracts.addresses import COUNTRY_NAMES
from shops.db import clock
from shops.db.bulk import PreparedInsert, instance
from shops.db.prepared import PreparedQuery, Row, argument, pipelined
from shops.db.querysets import rows_with

# What a label's parcel takes from another parcel of the same order, that of the shop's last report if there is one.
OF_THE_ORDER: Final = (
    *("order_number", "line_items", "customer_email", "customer_locale", "previous_emails"),
    *("gift_config", "cross_sell_recommendations", "web_template"),
)
NOWHERE: Final = dict.fromkeys(("company", "address1", "address2", "zip", "city", "provinceCode"), "")
SIBLING = PreparedQuery(
    lambda: (
        Parcel.objects.for_shop(argument("shop"))
        .filter(order_id=argument("order"))
        .order_by(F("imported_at").desc(nulls_last=True), "-created_at", "-id")
        .values_list(*OF_THE_ORDER)[:1]
    )
)
INSERT_PARCEL, INSERT_NUMBER = map(PreparedInsert, (Parcel, TrackingNumber))


@cache
def with_numbers(count: int) -> PreparedQuery:
    """Return a query for parcels that have one of so many numbers, or the label's id."""
    numbers = [argument(f"number{rank}") for rank in range(count)]
    is_same = Q(number__in=numbers, created_at__gt=argument("since")) | Q(parcel=argument("label"))
    found = TrackingNumber.objects.filter(is_same, shop=argument("shop"))
    return PreparedQuery(lambda: found.order_by().values_list("parcel")[:1])


def show(label: ShippingLabel, *, is_withdrawn: bool) -> None:
    """Show the label's parcel again, or hide it from the API unless the carrier has moved it.

    Leave a parcel that the shop has imported, and do not hide one that another bought label has a number on.
    """
    rows = TrackingNumber.objects.for_shop(label.shop_id)
    own = lock_parcels(label.shop_id, numbers_of(label).filter(parcel__imported_at=None))
    others = {*own, *rows.filter(parcel__in=own).values_list("label", flat=True)} - {label.id}
    bought = ShippingLabel.objects.for_shop(label.shop_id).generated().filter(id__in=others)
    if not (is_withdrawn and bought.exists()):
        recompute(own, clock.now(), is_withdrawn=is_withdrawn)


def numbers_of(label: ShippingLabel) -> QuerySet[TrackingNumber]:
    """Return a query for the rows of the label's numbers, and of its parcel's."""
    is_own = Q(parcel=label.id) | Q(label=label.id, number__in=label.tracking_numbers)
    return TrackingNumber.objects.for_shop(label.shop_id).filter(is_own)


def handed_in(label: ShippingLabel) -> set[str]:
    """Return the label's numbers whose parcel the carrier has reported to have, or the shop to be delivered."""
    rows = rows_of(label, label.tracking_numbers)
    delivered = rows.filter(label=label.id, parcel__last_status=Status.DELIVERED).values_list("number", flat=True)
    return moved_numbers(events_of(rows)).union(delivered)


def rows_of(label: ShippingLabel, numbers: Collection[str]) -> QuerySet[TrackingNumber]:
    """Return a query for the rows of these numbers of the label, on all parcels that name them."""
    is_same = Q(label=label.id) | Q(label=None, created_at__gt=since(label))
    return TrackingNumber.objects.for_shop(label.shop_id).filter(is_same, number__in=numbers)


def is_removed(label: ShippingLabel) -> bool:
    """Return whether retention has removed the label's parcel, and with it what the carrier reported."""
    before, own = removed_before(), TrackingNumber.objects.for_shop(label.shop_id).filter(label=label.id)
    is_old = before is not None and label.created_at < before
    return is_old and not own.filter(number__in=label.tracking_numbers).exists()


def release_numbers(label: ShippingLabel, cancelled: Collection[str], *, is_kept: bool = False) -> None:
    """Mark numbers as cancelled, so that they hold no parcel back; remove them from parcels imported without them.

    If the label `is_kept` for its other parcels, remove them from its own one too, unless the carrier has the parcel.
    """
    rows = rows_of(label, cancelled)
    parcels = lock_parcels(label.shop_id, rows)
    leaving = Q(is_added=True)
    if is_kept:
        leaving |= Q(parcel=label.id, parcel__imported_at=None) & ~Q(number__in=moved_numbers(events_of(rows)))
    rows.filter(leaving).delete()
    rows.update(state=NumberState.CANCELLED)
    recompute(parcels, clock.now())


def are_held(label: ShippingLabel) -> bool:
    """Return whether a change of the label would wait for an import or an erasure; lock the parcels that are free."""
    is_own = Q(parcel=label.id) | Q(number__in=[*label.tracking_numbers, *label.surplus_numbers])
    own = set(TrackingNumber.objects.for_shop(label.shop_id).filter(is_own).values_list("parcel", flat=True))
    if len(own) > 1 and not try_to_lock_imports(label.shop_id):
        return True
    return len(locked(own).select_for_update(skip_locked=True).values("id")) < len(own)


def lock_parcels(shop_id: str, rows: QuerySet[TrackingNumber]) -> set[str]:
    """Lock the parcels of these rows, again if an import that was waited for has moved a number meanwhile."""
    while True:
        with transaction.atomic():
            parcels = set(rows.values_list("parcel", flat=True))
            if len(parcels) > 1:
                lock_imports(shop_id)  # an import locks parcels batch by batch, not all in one order
            list(locked(parcels))
            if parcels == set(rows.values_list("parcel", flat=True)):
                return parcels
            transaction.set_rollback(True)  # nothing is held while others are waited for


def prepare_publication(label: ShippingLabel) -> Callable[[], None]:
    """Lock the shop's numbers, and ask for all that a usual label's parcel depends on.

    Return the function that makes the parcel of a generated label, or follows the shop's own with one of its numbers,
    in the transaction that makes the label visible.
    """
    numbers = label.tracking_numbers
    lock_shop(label.shop_id)
    arguments = {f"number{rank}": number for rank, number in enumerate(numbers)}
    own = {"shop": label.shop_id, "label": label.id, "since": since(label)}
    taken = with_numbers(len(numbers)).start(**own, **arguments)
    siblings = SIBLING.start(shop=label.shop_id, order=label.order_id)

    def publish() -> None:
        if taken() and (shares := parcels_with_numbers(label)):
            follow_known(label, shares)
        else:
            insert(label, siblings())

    return publish


def insert(label: ShippingLabel, siblings: Sequence[Row]) -> None:
    sibling = next((dict(zip(OF_THE_ORDER, row, strict=True)) for row in siblings), {})
    parcel, now = new_parcel(label, sibling), finished_at(label)
    with pipelined():
        INSERT_PARCEL.start(parcel)
        for number in parcel.tracking_numbers:
            row = new_number(parcel, number)
            buy(row, label, None, now)
            INSERT_NUMBER.start(row)


def buy(row: TrackingNumber, label: ShippingLabel, status: str | None, now: datetime) -> None:
    """Make a number the label's, and schedule the first question to its carrier."""
    row.label, row.state, row.carrier_code = label.id, NumberState.BOUGHT, label.carrier_code
    row.followed_since = row.followed_since or now
    schedule_next_check(row, status, now)


def finished_at(label: ShippingLabel) -> datetime:
    assert label.finished_at is not None  # it is generated
    return label.finished_at


def since(label: ShippingLabel) -> int:
    """Return the time since which a parcel with one of the label's numbers is the same, in milliseconds."""
    return milliseconds(label.created_at) - GIVEN_OUT_AGAIN_MS


def parcels_with_numbers(label: ShippingLabel) -> dict[str, list[str]]:
    """Find and lock the shop's newest parcel with each number, and the label's own; return the numbers of each.

    A parcel from before a number was given out again does not count, nor does a withdrawn one, which is a cancelled
    label's. Numbers without a parcel are the newest one's. A parcel that an import holds is not waited for, as the
    import waits for the numbers at its end: the label is finished again later.
    """
    found = TrackingNumber.objects.for_shop(label.shop_id).filter(number__in=label.tracking_numbers)
    is_shown = Q(parcel__is_withdrawn=False) | Q(parcel=label.id)
    recent = found.filter(is_shown, created_at__gt=since(label)).order_by("-created_at", "-parcel")
    owners: dict[str, str] = {}
    for number, parcel_id in recent.values_list("number", "parcel"):
        owners.setdefault(number, parcel_id)
    own = Parcel.objects.for_shop(label.shop_id).filter(id__in=[*owners.values(), label.id]).order_by("id")
    held = own.select_for_update(nowait=True).values_list("id", "created_at")
    ids = dict(held)
    if not ids:
        return {}
    newest = max(ids, key=lambda parcel_id: (ids[parcel_id], parcel_id))
    shares: dict[str, list[str]] = {parcel_id: [] for parcel_id in ids}
    for number in label.tracking_numbers:
        shares[owners[number] if owners.get(number) in ids else newest].append(number)
    return shares


def follow_known(label: ShippingLabel, shares: dict[str, list[str]]) -> None:
    """Add the label's numbers to the shop's own parcels, and have the label's carrier asked about them."""
    now = finished_at(label)
    for parcel in Parcel.objects.for_shop(label.shop_id).filter(id__in=shares):
        rows = {row.number: row for row in TrackingNumber.objects.filter(parcel=parcel)}
        for number in shares[parcel.id]:
            row = rows.get(number) or new_number(parcel, number, is_added=True)
            buy(row, label, parcel.last_status, now)
            row.save()
    recompute(shares, now, is_withdrawn=False)  # its own may be, after a restore during a cancellation


def new_parcel(label: ShippingLabel, of_the_order: dict[str, Any]) -> Parcel:
    """Make the parcel of a label; its order's number, items and customer are those of another parcel of the order."""
    email = label.recipient.get("email") or of_the_order.get("customer_email")
    story: dict[str, Any] = {"destination": destination(label), "events": [], "customer_email": email}
    return instance(
        Parcel,
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
    """Return where the parcel goes, with all fields of a destination in their order: of a pickup product the point.

    If the point is unknown, because the answer with it was lost, only the country is given.
    """
    is_to_point = PRODUCTS[label.product_code].needs_pickup_point
    to = label.recipient | (NOWHERE | (label.pickup_point or {}) if is_to_point else {})
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
        "country": COUNTRY_NAMES.get(to["countryCode"], to["countryCode"]),
        "countryCode": to["countryCode"],
        "phone": to["phone"],
        "latitude": None,
        "longitude": None,
        "isPickupPoint": is_to_point,
    }


def parcels_of(label_ids: Sequence[str]) -> list[str]:
    """Lock these labels' parcels, without those that the shop has imported; return their ids."""
    own = Parcel.objects.filter(imported_at=None).order_by("id").select_for_update()
    return list(rows_with(label_ids, own.values_list("id", flat=True)))
