"""The purchase of a label: reserve, call, keep, store, finish; each step committed before the next begins.

All of it within a slot, which is taken first: what is too much at a time, or for a carrier that is given a rest, costs
next to nothing, and nothing is written of it.

A label is never lost and never bought twice: its row is there before the carrier is called, with the id that the
carrier keeps as its reference; what the carrier gave is in the database before anything else is done with it; and
whatever was interrupted stays visible, to `labels.reconciling` and to the staff.
"""

import logging
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from carriers.base import Credentials, PurchasedLabel, Shipment
from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown
from carriers.observer import calls_for
from labels import metrics, storage, unmerged_pdfs
from labels.bulkhead import BulkheadFullError, bulkhead
from labels.db_retry import DATABASE_ERRORS, retry_until, with_db_retry
from labels.errors import PurchaseFailedError, StorageUnavailableError
from labels.idempotency import IdempotencyKey
from labels.models import LabelState, ShippingLabel
from labels.orders import contract_for, new_label, shipment, with_sender
from shops.contracts.clients import client
from shops.errors.coded import IDEMPOTENCY_KEY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED
from shops.errors.exceptions import ApiError, CarrierFailedError

logger = logging.getLogger("labels.purchase")


def buy(
    *,
    shop_id: str,
    order: dict[str, Any],
    sender_address: dict[str, str] | None = None,
    key: IdempotencyKey | None = None,
    token_id: str = "",
) -> tuple[ShippingLabel, bool]:
    """Buy a label, or find the one bought before with the same key; tell which.

    `order` is the validated body, `sender_address` the shop's own. Raise ApiError, or ValidationError for an order
    without a sender.
    """
    if key and (earlier := find_earlier(shop_id, key)):
        return replay(earlier, key), True
    order = with_sender(order, sender_address)
    contract = contract_for(shop_id, order)
    failure: ApiError
    try:
        client(contract.carrier_code).refuse_at_rest()
        with bulkhead.hold(contract.carrier_code, key=key and (shop_id, key.value)):
            label = new_label(shop_id=shop_id, order=order, key=key, token_id=token_id)
            # What can fail here without the carrier fails before there is a row, which would have to be explained.
            ordered, credentials = shipment(label, contract), contract.credentials
            reserve(label)
            return purchase(label, ordered, credentials), False
    except BulkheadFullError as error:
        refusal = CarrierUnavailable(contract.carrier_code, "too many purchases at a time")
        failure = ApiError(IDEMPOTENCY_KEY_IN_PROGRESS) if error.is_key_at_work else CarrierFailedError(refusal)
    except CarrierUnavailable as refusal:
        failure = CarrierFailedError(refusal)
    except IntegrityError:
        if key is None:
            raise
        failure = ApiError(IDEMPOTENCY_KEY_IN_PROGRESS)  # of a request that was faster with the key
    # Nothing was written here: another request with the key may have left a row by now.
    if key and (earlier := find_earlier(shop_id, key)):
        return replay(earlier, key), True
    raise failure


def purchase(label: ShippingLabel, ordered: Shipment, credentials: Credentials) -> ShippingLabel:
    """Call the carrier, keep and store what it gives, and count how that ended."""
    try:
        purchased = call(label, ordered, credentials)
        until = retry_until()
        keep(label, purchased, until=until)
        return finish(label, until=until)
    finally:
        metrics.count_purchase(label)


def find_earlier(shop_id: str, key: IdempotencyKey) -> ShippingLabel | None:
    """Find the shop's purchase that holds the key."""
    label: ShippingLabel | None = ShippingLabel.objects.for_shop(shop_id).filter(idempotency_key=key.value).first()
    return label


def replay(label: ShippingLabel, key: IdempotencyKey) -> ShippingLabel:
    """Answer a repeated request from what the first one left, without the carrier."""
    if label.body_digest != key.body_digest:
        raise ApiError(IDEMPOTENCY_KEY_REUSED)
    match label.state:
        case LabelState.GENERATED:
            return label
        case LabelState.RECEIVED:
            return finish_again(label)
        case LabelState.PURCHASING if label.is_leased:
            raise ApiError(IDEMPOTENCY_KEY_IN_PROGRESS)
        case LabelState.PURCHASING:
            describe_failure(label, OutcomeUnknown(label.carrier_code, "the purchase was interrupted"))
    raise PurchaseFailedError(label)


def finish_again(label: ShippingLabel) -> ShippingLabel:
    """Finish a label that waits for the storage, within a slot; raise ApiError."""
    try:
        with bulkhead.hold(label.carrier_code):
            latest = ShippingLabel.objects.row_of(label).get()  # stored by another meanwhile, maybe
            return latest if latest.state == LabelState.GENERATED else finish(latest)
    except BulkheadFullError:
        raise ApiError(IDEMPOTENCY_KEY_IN_PROGRESS) from None


def reserve(label: ShippingLabel) -> None:
    """Commit the row before the carrier is called; raise IntegrityError if the key is taken."""
    try:
        with transaction.atomic():
            label.save(force_insert=True)
    except IntegrityError:
        raise
    except DATABASE_ERRORS:
        # A commit that raised may have been made: what is not going to be bought must not look as if it were.
        connection.close()
        with suppress(*DATABASE_ERRORS):
            with_db_retry(ShippingLabel.objects.row_of(label).delete)
        raise


def call(label: ShippingLabel, order: Shipment, credentials: Credentials) -> PurchasedLabel:
    """Ask the carrier, with no database connection held meanwhile; a failure is on the row before it is raised."""
    connection.close()
    try:
        check_time_left(label)
        with calls_for(label.id):
            return client(label.carrier_code).create_label(order, credentials)
    except CarrierError as error:
        raise failed(label, error) from error
    except Exception as error:  # a fault of ours, maybe after the carrier was asked
        logger.exception("purchase broken off", extra={"label": label.id})
        raise failed(label, OutcomeUnknown(label.carrier_code, "the purchase was broken off")) from error


def failed(label: ShippingLabel, error: CarrierError) -> PurchaseFailedError:
    """Write a failure down and return what the client is told, which it is without a database too."""
    try:
        fail(label, error)
    except DATABASE_ERRORS:
        logger.exception("failure not recorded", extra={"label": label.id, "reason": error.code})
    if label.state == LabelState.UNKNOWN:
        end_lease(label)
    return PurchaseFailedError(label)


def check_time_left(label: ShippingLabel) -> None:
    """Refuse to call a carrier when the lease might end before the call does, as after a process was suspended.

    By then another process may have found that nothing was made, and the key may have bought another label.
    """
    time_needed = timedelta(seconds=settings.CARRIER_TIMEOUT + settings.LEASE_MARGIN_S / 2)
    if timezone.now() + time_needed > label.leased_until:
        raise CarrierUnavailable(label.carrier_code, "the service was too slow to ask it")


def fail(label: ShippingLabel, error: CarrierError) -> None:
    """Write down that there is no label. The key is released if, and only if, nothing was made."""
    describe_failure(label, error)
    label.tracking_numbers = list(error.made_numbers)
    if error.made_pdfs:
        label.pdf = unmerged_pdfs.zipped(error.made_numbers, error.made_pdfs)
    if error.is_nothing_made:
        label.state = LabelState.FAILED
        label.idempotency_key = None
    else:
        label.state = LabelState.UNKNOWN if isinstance(error, OutcomeUnknown) else LabelState.INCOMPLETE
    label.finished_at = timezone.now()
    with_db_retry(lambda: save_state(label))


def describe_failure(label: ShippingLabel, error: CarrierError) -> None:
    failure = CarrierFailedError(error, has_key=label.idempotency_key is not None)
    label.error_code = error.code
    label.error_message = str(failure.detail)
    label.error_status = failure.status_code


def keep(label: ShippingLabel, purchased: PurchasedLabel, *, until: float | None = None) -> None:
    """Put what the carrier gave into the database, before anything else can fail."""
    label.state = LabelState.RECEIVED
    label.tracking_numbers = list(purchased.tracking_numbers)
    label.pdf = purchased.pdf
    label.error_code = label.error_message = ""
    label.error_status = None
    try:
        with_db_retry(lambda: save_state(label), until=until)
    except DATABASE_ERRORS as error:
        # The last resort: the numbers by which a person finds the parcels again.
        logger.critical(
            "label bought and not recorded",
            extra={"label": label.id, "tracking_numbers": ",".join(purchased.tracking_numbers)},
            exc_info=True,
        )
        label.state = LabelState.UNKNOWN
        describe_failure(label, OutcomeUnknown(label.carrier_code, "it could not be recorded"))
        raise PurchaseFailedError(label) from error


def finish(label: ShippingLabel, *, until: float | None = None) -> ShippingLabel:
    """Store the PDF and make the label visible; done twice, by two processes too, it is the same. Raise ApiError."""
    assert label.pdf is not None
    try:
        storage.store(label, bytes(label.pdf))
        label.state = LabelState.GENERATED
        label.pdf = None
        label.finished_at = timezone.now()
        with_db_retry(lambda: save_state(label), until=until)
    except storage.StorageError as error:
        end_lease(label)
        raise StorageUnavailableError(label) from error
    except DATABASE_ERRORS as error:
        label.state = LabelState.RECEIVED  # as its row says
        logger.exception("label stored and not finished", extra={"label": label.id})
        raise StorageUnavailableError(label) from error
    return label


def save_state(label: ShippingLabel) -> None:
    """Write how a purchase stands, unless another process knows better.

    What was found out about a label in the meantime stays: a PDF outweighs every failure, a label that is generated
    everything. A key that was released belongs to another purchase by now, so it is never taken back.
    """
    rows = ShippingLabel.objects.row_of(label).exclude(state=LabelState.GENERATED)
    if label.state not in (LabelState.RECEIVED, LabelState.GENERATED):
        rows = rows.exclude(state=LabelState.RECEIVED).filter(decided_at=None)
    released = {"idempotency_key": None} if label.idempotency_key is None else {}
    rows.update(
        **released,
        state=label.state,
        tracking_numbers=label.tracking_numbers,
        pdf=label.pdf,
        error_code=label.error_code,
        error_message=label.error_message,
        error_status=label.error_status,
        finished_at=label.finished_at,
    )


def end_lease(label: ShippingLabel) -> None:
    """Let the next run of the reconciliation take it up at once, unless another process has taken it meanwhile.

    Without a database the lease runs out by itself.
    """
    mine = ShippingLabel.objects.row_of(label).filter(leased_until=label.leased_until)
    with suppress(*DATABASE_ERRORS):
        mine.update(leased_until=timezone.now())
