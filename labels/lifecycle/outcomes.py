"""Writes down how a purchase ended: kept, finished or failed, whichever process finds out."""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache

from django.db import transaction
from django.db.models import QuerySet

from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown
from carriers.shipment import PickupPoint, PurchasedLabel
from labels import metrics
from labels.errors import PurchaseFailedError, StorageUnavailableError
from labels.lifecycle import events, parcels
from labels.lifecycle.db_retry import DATABASE_ERRORS, with_db_retry
from labels.models import STORED, LabelState, ShippingLabel
from labels.pdfs import recovery, storage, unmerged
from shops import spans
from shops.contracts.clients import client
from shops.db import clock
from shops.db.prepared import PreparedUpdate, argument, pipelined
from shops.errors.exceptions import CarrierFailedError

# beta gives it once, with the label: without it the parcel is stopped at customs.
CUSTOMS_FORM_MISSING = (
    "The customs form did not come with the label, and can't be fetched again. Get it from the carrier or fill it in"
    " by hand: without it the parcel is stopped at customs."
)
# Only then does alpha's search find each parcel that was made.
SEARCH_DELAY = timedelta(hours=1)
# The columns of a row that its purchase, or its reconciliation, finds out.
FINDINGS = (
    *("state", "tracking_numbers", "reservation_number", "staff_notice", "pdf"),
    *("error_code", "error_message", "error_status", "ask_again_at", "finished_at", "warnings", "pickup_point"),
)
logger = logging.getLogger("labels.purchase")


def keep(label: ShippingLabel, purchased: PurchasedLabel, *, deadline: float | None = None) -> None:
    """Put what the carrier gave into the database, before anything else can fail.

    Raise PurchaseFailedError where the parcels were found and are being cancelled, as after a process was suspended.
    """
    label.state = LabelState.RECEIVED
    label.tracking_numbers = list(purchased.tracking_numbers)
    label.reservation_number = purchased.reservation_number
    label.pdf = purchased.pdf
    label.error_code = label.error_message = ""
    label.error_status = None
    label.warnings = list(purchased.warnings)
    label.pickup_point = address_of(purchased.pickup_point) if purchased.pickup_point else None
    if purchased.is_customs_form_missing:
        label.staff_notice = CUSTOMS_FORM_MISSING
        label.warnings.append(CUSTOMS_FORM_MISSING)
        logger.warning("customs form missing", extra={"label": label.id, "carrier": label.carrier_code})
    try:
        is_kept = with_db_retry(lambda: save_state(label), deadline=deadline)
    except DATABASE_ERRORS as error:
        # The last resort: the numbers by which a person finds the parcels again, and the PDF in the storage.
        facts = {"label": label.id, "tracking_numbers": ",".join(purchased.tracking_numbers)}
        logger.critical("label bought and not recorded", extra=facts, exc_info=True)
        metrics.UNRECORDED.labels(label.carrier_code).inc()
        with suppress(storage.StorageError):
            recovery.keep(label, purchased)
        label.state = LabelState.UNKNOWN
        describe_failure(label, OutcomeUnknown(label.carrier_code, "it could not be recorded"))
        raise PurchaseFailedError(label) from error
    if not is_kept and ShippingLabel.objects.row_of(label).exclude(cancel_requested_at=None).exists():
        logger.warning("label came while it was cancelled", extra={"label": label.id})
        label.state = LabelState.UNKNOWN
        describe_failure(label, OutcomeUnknown(label.carrier_code, "it came while its parcels were cancelled"))
        raise PurchaseFailedError(label)


def address_of(point: PickupPoint) -> dict[str, str]:
    """Return a pickup point with an address's public names."""
    return {
        "company": point.name,
        "address1": point.address1,
        "address2": point.address2 or point.address3,
        "zip": point.zip_code,
        "city": point.city,
        "countryCode": point.country_code,
    }


@spans.step("finish")
def finish(label: ShippingLabel, *, deadline: float | None = None) -> ShippingLabel:
    """Store the PDF and make the label visible; two processes may do it at once. Raise StorageUnavailableError."""
    assert label.pdf is not None
    try:
        storage.store(label, bytes(label.pdf))
        with_db_retry(lambda: make_visible(label), deadline=deadline)
    except storage.StorageError as error:
        end_lease(label)
        raise StorageUnavailableError(label) from error
    except DATABASE_ERRORS as error:
        label.state = LabelState.RECEIVED  # as its row says
        logger.exception("label stored and not finished", extra={"label": label.id})
        raise StorageUnavailableError(label) from error
    return label


@transaction.atomic
def make_visible(label: ShippingLabel) -> None:
    """Let the shop see a stored label, make it a parcel, and tell its webhooks, in one transaction."""
    label.state = LabelState.GENERATED
    label.pdf = None
    publication = parcels.Publication(label)
    if save_state(label, meanwhile=publication.begin):
        publication.finish()


def failed(label: ShippingLabel, error: CarrierError) -> PurchaseFailedError:
    """Write a failure down and return the client's error, without a database too."""
    try:
        describe_end(label, error)
        with_db_retry(lambda: save_state(label))
    except DATABASE_ERRORS:
        logger.exception("failure not recorded", extra={"label": label.id, "reason": error.code})
    if label.state == LabelState.UNKNOWN:
        end_lease(label)
    return PurchaseFailedError(label)


def fail(label: ShippingLabel, error: CarrierError, *, ask_again_at: datetime | None = None) -> None:
    """Write down that there is no label, after the client's request is over: its shop is told if nothing was made."""
    describe_end(label, error, ask_again_at)
    with_db_retry(lambda: save_settled(label))


@transaction.atomic
def save_settled(label: ShippingLabel) -> None:
    row = ShippingLabel.objects.row_of(label).select_for_update(of=("self",))
    was_failed = row.values_list("state", flat=True).first() == LabelState.FAILED
    if save_state(label) and label.state == LabelState.FAILED and not was_failed:
        events.tell_failed(label)


def describe_end(label: ShippingLabel, error: CarrierError, ask_again_at: datetime | None = None) -> None:
    """Describe a purchase that gave no label. The key is released if, and only if, nothing was made.

    A failure of the carrier's own is its word that nothing was made, and yet it is asked once more.
    """
    is_carriers_failure = isinstance(error, CarrierUnavailable) and error.carrier_code
    if is_carriers_failure and client(label.carrier_code).can_be_asked:
        ask_again_at = label.leased_until + SEARCH_DELAY
    label.ask_again_at = ask_again_at
    describe_failure(label, error)
    label.tracking_numbers = list(error.made_numbers)
    label.reservation_number = error.reservation_number or label.reservation_number
    if error.made_pdfs:
        label.pdf = unmerged.zipped(error.made_numbers, error.made_pdfs)
    if error.is_nothing_made:
        label.state = LabelState.FAILED
        label.idempotency_key = None
    else:
        label.state = LabelState.UNKNOWN if isinstance(error, OutcomeUnknown) else LabelState.INCOMPLETE


def describe_failure(label: ShippingLabel, error: CarrierError) -> None:
    failure = CarrierFailedError(error, has_key=label.idempotency_key is not None)
    label.error_code = error.code
    label.error_message = str(failure.detail)
    label.error_status = failure.status_code


def save_state(label: ShippingLabel, *, meanwhile: Callable[[], None] | None = None) -> bool:
    """Write the state of a purchase, unless another process has found out more; tell if it was written.

    `meanwhile` may send further statements, before the answer to this one is there.

    A label that is generated is never changed, and a PDF that was received or a decision outweighs every failure. A
    key that was released may belong to another purchase by now, so it is never taken back. Nor is a PDF kept whose
    parcels are being cancelled. A row that the database has lost, in a failover to a standby without it, is written
    again.
    """
    if label.state != LabelState.RECEIVED:
        label.finished_at = clock.now_or_later()
    update = update_to(LabelState(label.state), is_released=label.idempotency_key is None)
    with pipelined():
        updated = update.start(label, own_id=label.id, own_shop=label.shop_id)
        if meanwhile:
            meanwhile()
    written = bool(updated())
    if not written and not ShippingLabel.objects.row_of(label).exists():
        write_again(label)
        return True
    return written


@cache
def update_to(state: LabelState, *, is_released: bool) -> PreparedUpdate:
    """Return the update of a row to a state, which spares rows whose own state outweighs it."""

    def rows() -> QuerySet[ShippingLabel]:
        rows = ShippingLabel.objects.for_shop(argument("own_shop")).filter(id=argument("own_id"))
        rows = rows.exclude(state__in=STORED)
        if state == LabelState.RECEIVED:
            return rows.filter(cancel_requested_at=None)
        return rows if state == LabelState.GENERATED else rows.exclude(state="received").filter(decided_at=None)

    return PreparedUpdate(rows, *FINDINGS, *(["idempotency_key"] if is_released else []))


def write_again(label: ShippingLabel) -> None:
    """Write a row that vanished, with all that this process knows of it; its key only if no other purchase has it."""
    same_key = ShippingLabel.objects.for_shop(label.shop_id).filter(idempotency_key=label.idempotency_key)
    if label.idempotency_key is not None and same_key.exists():
        label.idempotency_key = None
    label.save(force_insert=True)
    metrics.VANISHED_ROWS.labels(label.carrier_code).inc()
    facts = {"label": label.id, "state": label.state, "tracking_numbers": ",".join(label.tracking_numbers)}
    logger.critical("label's row vanished and was written again", extra=facts)


def end_lease(label: ShippingLabel) -> None:
    """Let the next run of the reconciliation take it up at once, unless another process has taken it meanwhile.

    Without a database the lease runs out by itself.
    """
    own = ShippingLabel.objects.row_of(label).filter(leased_until=label.leased_until)
    with suppress(*DATABASE_ERRORS):
        own.update(leased_until=clock.now())
