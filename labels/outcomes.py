"""Writes down how a purchase ended: kept, finished or failed, whichever process finds out."""

import logging
from contextlib import suppress

from django.utils import timezone

from carriers.errors import CarrierError, OutcomeUnknown
from carriers.shipment import PurchasedLabel
from labels import storage, unmerged_pdfs
from labels.db_retry import DATABASE_ERRORS, with_db_retry
from labels.errors import PurchaseFailedError, StorageUnavailableError
from labels.models import LabelState, ShippingLabel
from shops.errors.exceptions import CarrierFailedError

logger = logging.getLogger("labels.purchase")


def keep(label: ShippingLabel, purchased: PurchasedLabel, *, deadline: float | None = None) -> None:
    """Put what the carrier gave into the database, before anything else can fail."""
    label.state = LabelState.RECEIVED
    label.tracking_numbers = list(purchased.tracking_numbers)
    label.pdf = purchased.pdf
    label.error_code = label.error_message = ""
    label.error_status = None
    try:
        with_db_retry(lambda: save_state(label), deadline=deadline)
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


def finish(label: ShippingLabel, *, deadline: float | None = None) -> ShippingLabel:
    """Store the PDF and make the label visible; two processes may do it at once. Raise StorageUnavailableError."""
    assert label.pdf is not None
    try:
        storage.store(label, bytes(label.pdf))
        label.state = LabelState.GENERATED
        label.pdf = None
        label.finished_at = timezone.now()
        with_db_retry(lambda: save_state(label), deadline=deadline)
    except storage.StorageError as error:
        end_lease(label)
        raise StorageUnavailableError(label) from error
    except DATABASE_ERRORS as error:
        label.state = LabelState.RECEIVED  # as its row says
        logger.exception("label stored and not finished", extra={"label": label.id})
        raise StorageUnavailableError(label) from error
    return label


def failed(label: ShippingLabel, error: CarrierError) -> PurchaseFailedError:
    """Write a failure down and return the client's error, without a database too."""
    try:
        fail(label, error)
    except DATABASE_ERRORS:
        logger.exception("failure not recorded", extra={"label": label.id, "reason": error.code})
    if label.state == LabelState.UNKNOWN:
        end_lease(label)
    return PurchaseFailedError(label)


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


def save_state(label: ShippingLabel) -> None:
    """Write the state of a purchase, unless another process has found out more.

    A label that is generated is never changed, and a PDF that was received or a decision outweighs every failure. A
    key that was released may belong to another purchase by now, so it is never taken back.
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
    own = ShippingLabel.objects.row_of(label).filter(leased_until=label.leased_until)
    with suppress(*DATABASE_ERRORS):
        own.update(leased_until=timezone.now())
