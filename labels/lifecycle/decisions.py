"""A person's decisions about purchases whose end no process can find out.

Nobody decides while a process works on the same purchase, and of two people one is first: a decision is an update of
a row that is still open to it, and an adoption takes the purchase's lease for the time that the carrier needs.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from carriers.errors import CarrierError
from carriers.observer import calls_for
from carriers.shipment import DEFAULT_FORMAT
from labels.errors import StorageUnavailableError
from labels.lifecycle import cancelling, events, outcomes, parcels
from labels.lifecycle.bulkhead import BulkheadFullError, bulkhead
from labels.models import LabelState, ShippingLabel, lease
from shops.audit import recording
from shops.audit.models import Action
from shops.contracts.accounts import credentials_for
from shops.contracts.clients import client
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract
from shops.db import clock

logger = logging.getLogger("labels.decisions")


class DecisionError(Exception):
    """The decision was not made; `str()` says why, for staff."""


class NotOpenError(DecisionError):
    """The purchase was decided or settled meanwhile, or a process is at work on it."""

    def __init__(self) -> None:
        super().__init__("Nothing was changed: the label was settled meanwhile, or is being worked on.")


class NoPdfError(DecisionError):
    """The carrier gave no PDF for the numbers."""


def open_rows(label: ShippingLabel) -> QuerySet[ShippingLabel]:
    """Return a query for the label's row if it is open to a decision, so that an update checks it again.

    A process that works on a purchase holds a lease that ends at `lease()` at the latest. A later end is the time at
    which the reconciliation asks again; it asks about unknown purchases, and only carriers that can be asked.
    """
    now = clock.now()
    is_unknown = Q(state=LabelState.UNKNOWN)
    if client(label.carrier_code).can_be_asked:
        is_unknown &= Q(leased_until__lt=now) | Q(leased_until__gt=lease(now))
    is_open = is_unknown | Q(state=LabelState.INCOMPLETE) | Q(state=LabelState.PURCHASING, leased_until__lt=now)
    rows: QuerySet[ShippingLabel] = ShippingLabel.objects.filter(is_open, id=label.id)
    return rows


def adopt(
    *, label: ShippingLabel, tracking_numbers: Sequence[str], pdf: bytes | None, decided_by: AbstractBaseUser
) -> ShippingLabel:
    """Keep the numbers and the PDF of parcels that were made; without a PDF, ask the carrier by the reservation.

    Raise DecisionError. While the storage is down, the label that is returned is `received`, not generated.
    """
    until = lease()
    if not open_rows(label).update(leased_until=until):
        raise NotOpenError
    taken = ShippingLabel.objects.filter(id=label.id, leased_until=until)
    try:
        content = pdf or fetched(label)
        keep(taken, tracking_numbers, content, decided_by)
    except DecisionError:
        taken.update(leased_until=clock.now())
        raise
    adopted = ShippingLabel.objects.get(id=label.id)
    if adopted.state == LabelState.RECEIVED:  # not finished meanwhile by a request with its key
        with suppress(StorageUnavailableError):  # the reconciliation stores it later
            outcomes.finish(adopted)
    return adopted


def fetched(label: ShippingLabel) -> bytes:
    """Ask the carrier for the PDF, within the bulkhead and with no database connection held; raise NoPdfError."""
    contract = CarrierContract.find(shop_id=label.shop_id, carrier_code=label.carrier_code)
    if contract is None:
        raise NoPdfError(f"The shop has no {label.carrier_code} contract any more, so the carrier can't be asked.")
    try:
        credentials = credentials_for(contract, label.account_number)
        connection.close()
        with bulkhead.enter(label.carrier_code), calls_for(label.id):
            carrier, label_format = client(label.carrier_code), label.label_format or DEFAULT_FORMAT
            return carrier.fetch_label(label.reservation_number, credentials, label_format)
    except BulkheadFullError as error:
        raise NoPdfError(f"Too many requests wait for {label.carrier_code} now.") from error
    except CarrierError as error:
        raise NoPdfError(f"{label.carrier_code} gave no PDF. {error}") from error
    except UnreadableSecretError as error:
        raise NoPdfError("The contract's credentials can't be read: see CREDENTIALS_KEYS.") from error


def keep(
    taken: QuerySet[ShippingLabel], tracking_numbers: Sequence[str], pdf: bytes, decided_by: AbstractBaseUser
) -> None:
    """Write the decision and the PDF to the row, before the storage can fail; raise NotOpenError."""
    is_undecided = Q(state__in=[LabelState.PURCHASING, LabelState.UNKNOWN, LabelState.INCOMPLETE])
    with transaction.atomic():
        before = taken.filter(is_undecided).only("id", "state").select_for_update().first()
        if before is None:
            raise NotOpenError
        taken.update(
            state=LabelState.RECEIVED,
            tracking_numbers=list(tracking_numbers),
            pdf=pdf,
            error_code="",
            error_message="",
            error_status=None,
            cancel_requested_at=None,
            decided_by=decided_by.get_username(),
            decided_at=clock.now(),
        )
        record(before, decided_by, f"Adopted {', '.join(tracking_numbers)}; it was {before.state}.")


def mark_as_not_made(*, label: ShippingLabel, decided_by: AbstractBaseUser) -> None:
    """Record that no parcel was made, or that none is left, and release the purchase's key. Raise DecisionError."""
    now = clock.now()
    with transaction.atomic():
        before = open_rows(label).only("id", "state").select_for_update().first()
        if before is None:
            raise NotOpenError
        ShippingLabel.objects.filter(id=label.id).update(
            state=LabelState.FAILED,
            idempotency_key=None,
            pdf=None,
            finished_at=Coalesce("finished_at", now),
            decided_by=decided_by.get_username(),
            decided_at=now,
        )
        events.tell_failed(label)
        record(before, decided_by, f"Marked as not made; it was {before.state}.")


def cancel(*, label: ShippingLabel, decided_by: AbstractBaseUser) -> ShippingLabel:
    """Cancel a bought label at the carrier. Raise DecisionError."""
    try:
        cancelled = cancelling.cancel(label)
    except cancelling.CancelError as error:
        raise DecisionError(f"Nothing was changed: {error}.") from error
    is_done = cancelled.state == LabelState.CANCELLED
    record(label, decided_by, "Cancelled." if is_done else "Asked to cancel; the carrier could not yet.")
    return cancelled


def end_cancellation(*, label: ShippingLabel, is_cancelled: bool, decided_by: AbstractBaseUser) -> None:
    """Record that the parcels were cancelled elsewhere, or that the label stays bought. Raise DecisionError."""
    decided: dict[str, Any] = {"decided_by": decided_by.get_username(), "decided_at": clock.now()}
    rows = cancellations(label)
    if is_cancelled:
        decided["state"] = LabelState.CANCELLED
    else:
        rows = rows.filter(cancelled_numbers=[])
        decided |= {"state": LabelState.GENERATED, "cancel_requested_at": None}
    with transaction.atomic():
        if not parcels.save_end(rows, label, **decided):
            raise NotOpenError
        record(label, decided_by, "Marked as cancelled." if is_cancelled else "Kept: it is not cancelled.")


def cancellations(label: ShippingLabel) -> QuerySet[ShippingLabel]:
    """Return a query for the label's row if it waits for its cancellation, and no process works on it."""
    now = clock.now()
    is_free = Q(leased_until__lt=now) | Q(leased_until__gt=lease(now))
    rows: QuerySet[ShippingLabel] = ShippingLabel.objects.filter(is_free, id=label.id, state=LabelState.CANCELLING)
    return rows


def dismiss_notice(*, label: ShippingLabel, decided_by: AbstractBaseUser) -> None:
    """Take a notice away that staff have dealt with. Raise DecisionError."""
    with transaction.atomic():
        if not ShippingLabel.objects.with_notice().filter(id=label.id).update(staff_notice=""):
            raise NotOpenError
        record(label, decided_by, f"Dealt with: {label.staff_notice}")


def record(label: ShippingLabel, decided_by: AbstractBaseUser, message: str) -> None:
    """Record the decision in the audit log, in its own transaction, and in the log."""
    with recording.acting(recording.current_actor.get()._replace(name=decided_by.get_username())):
        recording.record(Action.CHANGED, label, note=message)
    logger.info("label decided", extra={"label": label.id, "was": label.state, "user": decided_by.pk})
