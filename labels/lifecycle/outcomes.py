"""Records how a purchase ended: with what was received, with a published label, or with a failure."""

import logging
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown
from carriers.http.connections import Deadline
from carriers.http.transport import UnreadableError
from carriers.shipment import PickupPoint, PurchasedLabel
from labels import metrics
from labels.lifecycle.db_retry import with_db_retry
from labels.lifecycle.errors import PurchaseFailedError, StorageUnavailableError
from labels.lifecycle.notices import CUSTOMS_FORM_MISSING, of_missing_forms
from labels.lifecycle.states import Event, facts_to_find_it_by, move
from labels.models import IN_CANCELLATION, STORED, LabelState, ShippingLabel, lease, settle_wait
from labels.pdfs import recovery, storage, unmerged
from shops import spans
from shops.api.errors.coded import CarrierFailedError, SettledError
from shops.contracts.addresses import address_of
from shops.contracts.clients import client
from shops.db import clock
from shops.db.failures import DATABASE_ERRORS

NOT_AS_ORDERED = "its parcels are not those ordered"
CAME_LATE = "its label came after the order had been settled, and is cancelled"
# Only then does alpha's search find each parcel that was made.
SEARCH_DELAY = timedelta(hours=1)
MERGE_AGAIN_AFTER = timedelta(minutes=1)
NO_ERROR = {"error_code": "", "error_message": "", "error_status": None}
RESERVATION_LENGTH = ShippingLabel._meta.get_field("reservation_number").max_length
logger = logging.getLogger("labels.purchase")


def save_received(label: ShippingLabel, purchased: PurchasedLabel, *, deadline: float | None = None) -> None:
    """Save what the carrier gave before anything else can fail; raise PurchaseFailedError.

    It is raised too if the numbers are not one for each parcel, or if the order was settled meanwhile. If another
    process has published the label, `label` is read from its row.
    """
    numbers = list(purchased.tracking_numbers)
    if not are_as_ordered(label, numbers):
        raise fail_during_request(label, OutcomeUnknown(label.carrier_code, NOT_AS_ORDERED, made=purchased))
    ours = [of_missing_forms(label, numbers, purchased.pdfs)] if purchased.is_customs_form_missing else []
    facts: dict[str, Any] = {
        "tracking_numbers": numbers,
        "reservation_number": fitting(purchased.reservation_number),
        "pdf": unmerged.packed(purchased.pdfs),
        "staff_notice": CUSTOMS_FORM_MISSING if ours else label.staff_notice,
        "warnings": unique(ours, label.warnings, purchased.warnings),
        "ask_again_at": None,
        **NO_ERROR,
    }
    facts |= kept_of(purchased.pickup_point)
    if ours:
        logger.warning("customs form missing", extra={"label": label.id, "carrier": label.carrier_code})
    try:
        is_saved = with_db_retry(lambda: move(label, Event.BOUGHT, **facts), deadline=deadline)
    except DATABASE_ERRORS as error:
        logger.critical("label bought and not recorded", extra=facts_to_find_it_by(label, numbers), exc_info=True)
        # The last resort: the numbers by which a person finds the parcels again, and the PDF in the storage.
        metrics.UNRECORDED.labels(label.carrier_code).inc()
        with suppress(storage.StorageError):
            recovery.save(label, purchased)
        label.state = LabelState.UNKNOWN
        set_error(label, OutcomeUnknown(label.carrier_code, "it could not be recorded"))
        raise PurchaseFailedError(label) from error
    if not is_saved:
        logger.warning("label came too late", extra={"label": label.id})
        join(label, numbers)


def kept_of(point: PickupPoint | None) -> dict[str, Any]:
    """Return the columns for the point that a parcel goes to, if it goes to one."""
    return {"pickup_point": {"company": point.name, **address_of(point)}} if point else {}


def are_as_ordered(label: ShippingLabel, numbers: Iterable[str]) -> bool:
    """Return whether there is a different number for each parcel."""
    numbers = list(numbers)
    return all(numbers) and len(numbers) == len(set(numbers)) == len(label.weights_kg)


def fitting(reservation_number: str) -> str:
    """Return the number if it fits its column, else nothing: it only serves to fetch the PDF again."""
    return reservation_number if len(reservation_number) <= (RESERVATION_LENGTH or 0) else ""


def join(label: ShippingLabel, numbers: Iterable[str]) -> None:
    """Take over the state that others gave the label; raise PurchaseFailedError, or ApiError until its PDF is stored.

    Numbers that they do not know are cancelled: the key of an order that was settled may have bought others.
    """
    state = with_db_retry(lambda: save_late(label, numbers))
    if state in STORED:
        label.refresh_from_db(from_queryset=ShippingLabel.objects.row_of(label))
        return
    label.state = state
    if state == LabelState.RECEIVED:
        raise StorageUnavailableError(label)
    is_settled = state == LabelState.FAILED
    set_error(label, (SettledError if is_settled else OutcomeUnknown)(label.carrier_code, CAME_LATE))
    raise PurchaseFailedError(label)


@transaction.atomic
def save_late(label: ShippingLabel, numbers: Iterable[str]) -> str:
    """Add numbers to a row that others have settled, for the reconciliation to cancel at once; return its state.

    Of a bought label they are surplus; if it is being cancelled, the end of that takes them up. The process that works
    on the row has not seen them, so it loses its lease, which is moved by a microsecond.
    """
    row = ShippingLabel.objects.row_of(label).select_for_update(of=("self",)).get()
    state: str = row.state
    new = [number for number in unique(numbers) if number not in {*row.tracking_numbers, *row.surplus_numbers}]
    if not new:
        return state
    now, leased_until = clock.now(), row.leased_until + timedelta(microseconds=1)
    if state in {LabelState.RECEIVED, *STORED}:
        again = {} if state in IN_CANCELLATION else {"ask_again_at": now, "leased_until": leased_until}
        ShippingLabel.objects.row_of(label).update(surplus_numbers=[*row.surplus_numbers, *new], **again)
        return state
    known = [*row.tracking_numbers, *new]
    facts = {"cancel_requested_at": row.cancel_requested_at or now, "ask_again_at": now}
    if not move(row, Event.ANSWERED_LATE, tracking_numbers=known, leased_until=leased_until, **facts):
        ShippingLabel.objects.row_of(label).update(tracking_numbers=known, **facts)
    return state


def see_surplus(label: ShippingLabel) -> None:
    """Lock the row, and read the surplus that came late: a cancellation ends with it."""
    rows = ShippingLabel.objects.row_of(label).select_for_update().values_list("surplus_numbers", flat=True)
    label.surplus_numbers = next(iter(rows), label.surplus_numbers)


def unique(*numbers: Iterable[str]) -> list[str]:
    """Return all numbers, each once, in their order."""
    return list(dict.fromkeys(number for some in numbers for number in some if number))


@spans.step("finish")
def publish(label: ShippingLabel, *, deadline: float | None = None, is_leased: bool = True) -> ShippingLabel:
    """Merge and store the PDF, and make the label visible, unless others have; two processes may do it at once.

    `is_leased` is false if another process may hold the row's lease. Raise StorageUnavailableError; the reconciliation
    tries again.
    """
    if label.pdf is None:
        return label
    try:
        pdf = unmerged.merged(bytes(label.pdf))
        ends = with_db_retry(lambda: leased_again(label, is_leased=is_leased), deadline=deadline)
        if is_ours := ends is not None:
            storage.store(label, pdf, ends)
            is_ours = with_db_retry(lambda: move(label, Event.STORED, pdf=None), deadline=deadline)
    except UnreadableError as error:
        logger.warning("PDFs not merged", extra={"label": label.id})
        if is_leased:
            end_lease(label, ask_again_at=clock.now() + MERGE_AGAIN_AFTER)
        raise StorageUnavailableError(label) from error
    except storage.StorageError as error:
        end_lease(label)
        raise StorageUnavailableError(label) from error
    except DATABASE_ERRORS as error:
        label.state = LabelState.RECEIVED  # as its row says
        logger.exception("label stored and not finished", extra={"label": label.id})
        raise StorageUnavailableError(label) from error
    if not is_ours:
        join(label, label.tracking_numbers)
    return label


def leased_again(label: ShippingLabel, *, is_leased: bool) -> Deadline | None:
    """Renew the lease, so that nobody adopts a part of a `received` label while its PDF is stored.

    Return the deadline of storing it; None if others have adopted or stored it. The deadline begins before the check,
    so a process that is suspended after it finds its time over.
    """
    ends = storage.deadline()
    if is_leased and clock.upper_bound_now() + timedelta(seconds=settings.STORAGE_TIMEOUT_S) < label.leased_until:
        return ends
    row, until = ShippingLabel.objects.row_of(label), lease()
    if not row.filter(state=LabelState.RECEIVED, decided_at=label.decided_at).update(leased_until=until):
        return None if row.exists() else ends  # one that vanished is written again
    label.leased_until = until
    return ends


def fail_during_request(label: ShippingLabel, error: CarrierError) -> PurchaseFailedError:
    """Record a failure and return the client's answer; the reconciliation may go on at once."""
    answer = set_error(label, error)
    try:
        with_db_retry(lambda: save_failure(label, error, answer))
    except DATABASE_ERRORS:
        logger.exception("failure not recorded", extra={"label": label.id, "reason": error.code})
    if label.state != LabelState.FAILED:
        end_lease(label)
    return PurchaseFailedError(label)


@transaction.atomic
def save_failure(label: ShippingLabel, error: CarrierError, answer: dict[str, Any]) -> None:
    """Write a failure to the row, and keep what others have found out meanwhile."""
    locked = ShippingLabel.objects.row_of(label).select_for_update(of=("self",))
    row = locked.only("id", "shop", "tracking_numbers").first() or label
    made, numbers = error.made, unique(row.tracking_numbers, error.made.tracking_numbers)
    facts = answer | {"tracking_numbers": numbers, "ask_again_at": None}
    if made.reservation_number:
        facts["reservation_number"] = fitting(made.reservation_number)
    facts |= kept_of(made.pickup_point)
    if made.warnings:
        facts["warnings"] = list(made.warnings)
    if made.pdfs:
        facts["pdf"] = unmerged.zipped(made.pdfs)
    if isinstance(error, OutcomeUnknown):
        event = Event.UNANSWERED
    elif numbers:
        event = Event.MADE_IN_PART
        facts["ask_again_at"] = label.created_at + settle_wait()
    else:
        event = Event.REFUSED
        # The carrier says that nothing was made, and yet it is asked once more.
        if isinstance(error, CarrierUnavailable) and error.carrier_code and has_search(label):
            facts["ask_again_at"] = label.leased_until + SEARCH_DELAY
    if not move(label, event, **facts):
        save_late(label, made.tracking_numbers)


def has_search(label: ShippingLabel) -> bool:
    """Return whether the label's carrier can be asked for parcels by their reference."""
    return client(label.carrier_code, is_test=label.shop.is_test).can_be_asked


def set_error(label: ShippingLabel, error: CarrierError) -> dict[str, Any]:
    """Set the label's error as the client reads it; return the columns to write."""
    failure = CarrierFailedError(error, has_key=label.idempotency_key is not None)
    label.error_code, label.error_message, label.error_status = error.code, str(failure.detail), failure.status_code
    return {name: getattr(label, name) for name in NO_ERROR}


def end_lease(label: ShippingLabel, **facts: Any) -> None:
    """Let others work on the label at once, unless another process has claimed it meanwhile.

    Without a database the lease expires by itself.
    """
    own = ShippingLabel.objects.row_of(label).filter(leased_until=label.leased_until)
    with suppress(*DATABASE_ERRORS):
        own.update(leased_until=clock.now(), **facts)
