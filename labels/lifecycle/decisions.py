"""Staff's decisions about purchases whose outcome no process can find out, and questions at their request.

Nobody decides while a process works on the purchase, and of two people the first wins: a decision updates the row only
while it is open, and an adoption holds the lease while the carrier is asked.
"""

import logging
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from carriers import CARRIERS
from carriers.client import Service
from carriers.customs import needs_customs
from carriers.errors import CarrierError
from carriers.shipment import DEFAULT_FORMAT, form_of
from labels.lifecycle import cancelling, notices, outcomes, parcels, reconciling
from labels.lifecycle.errors import PurchaseFailedError, StorageUnavailableError
from labels.lifecycle.leases import back_off, claim
from labels.lifecycle.notices import CANCELLED, LEFT_OUT
from labels.lifecycle.states import TRANSITIONS, Event, move
from labels.models import IN_CANCELLATION, OPEN, LabelState, ShippingLabel, is_free, lease
from labels.pdfs import recovery, unmerged
from labels.pdfs.storage import StorageError
from parcels.importing.numbers import GIVEN_OUT_AGAIN
from shops.api.errors.coded import SettledError
from shops.contracts.addresses import party
from shops.contracts.bulkhead import BulkheadFullError, NotAskedError
from shops.contracts.conversation import account_of, conversation_about, said
from shops.db import clock
from shops.db.locks import lock
from shops.staff.audit import recording
from shops.staff.audit.models import Action
from shops.staff.audit.recording import current_actor

NOTHING_LEFT = "it was looked into, and no parcel is left of it"
KEPT = "Kept: it is not cancelled."
logger = logging.getLogger("labels.decisions")


class DecisionError(Exception):
    """The decision was not made; `str()` says why, for staff."""


class NotOpenError(DecisionError):
    """The purchase was decided or settled meanwhile, or a process is at work on it."""

    def __init__(self) -> None:
        super().__init__(gettext("Nothing was changed: the label was settled meanwhile, or is being worked on."))


class NoPdfError(DecisionError):
    """The carrier gave no PDF for the numbers."""


def adopt(*, label: ShippingLabel, tracking_numbers: Sequence[str], pdf: bytes | None) -> ShippingLabel:
    """Keep parcels that were made; `tracking_numbers` has one for each parcel ordered, empty for one that is left out.

    Without `pdf` the label gets the row's PDFs of these parcels, or the carrier is asked by the reservation. Other
    numbers that are known, or that the carrier finds, stay on the row, and are cancelled. Raise DecisionError. While
    the storage is down, the returned label is `received`, not generated.
    """
    open_states = TRANSITIONS[Event.ADOPTED].sources
    taken = claim(label.id, ShippingLabel.objects.free().filter(state__in=open_states))
    if taken is None:
        raise NotOpenError
    try:
        is_open = taken.state != LabelState.RECEIVED or unmerged.waits_for_merge(taken)
        is_as_read = len(tracking_numbers) == len(taken.weights_kg)  # else others have left parcels out since
        if not (is_open and is_as_read and set(tracking_numbers).isdisjoint(taken.cancelled_numbers)):
            raise NotOpenError
        numbers = list(filter(None, tracking_numbers))
        kept = {} if pdf or taken.pdf is None else unmerged.of_parcels(bytes(taken.pdf), numbers)
        content = pdf or (unmerged.packed(kept) if kept else fetched(taken, tracking_numbers))
        is_lacking = kept and lacks_customs_form(taken, tracking_numbers, kept)
        warning = notices.of_missing_forms(taken, tracking_numbers, kept) if is_lacking else ""
        made = outcomes.unique(taken.tracking_numbers, found(taken))
        check_found(taken, numbers, made)
        save_adoption(taken, tracking_numbers, made, content, warning)
    except DecisionError:
        outcomes.end_lease(taken)
        raise
    with suppress(PurchaseFailedError, StorageUnavailableError):  # decided by others, or stored later
        outcomes.publish(taken)
    return taken


def lacks_customs_form(label: ShippingLabel, tracking_numbers: Sequence[str], pdfs: Collection[str]) -> bool:
    """Return whether a parcel that crosses a border has no customs form among the PDFs, which are named."""
    if not CARRIERS[label.carrier_code].gives_customs_forms:
        return False
    is_declared = needs_customs(party(label.sender), party({**label.recipient, **(label.pickup_point or {})}))
    return is_declared and any(form_of(number) not in pdfs for number in tracking_numbers if number)


def fetched(label: ShippingLabel, tracking_numbers: Sequence[str]) -> bytes:
    """Ask the carrier for the PDF; raise NoPdfError."""
    try:
        with conversation_about(label, Service.REPRINTS) as talk:
            if not all(tracking_numbers):
                raise NoPdfError(
                    gettext("{carrier_code} has one PDF, of all parcels.").format(carrier_code=label.carrier_code)
                )
            label_format = label.label_format or DEFAULT_FORMAT
            return talk.carrier.fetch_label(label.reservation_number, talk.credentials, label_format)
    except NotAskedError as error:
        raise NoPdfError(error.sentence) from error
    except CarrierError as error:
        raise NoPdfError(
            gettext("{carrier_code} gave no PDF. {error}").format(carrier_code=label.carrier_code, error=said(error))
        ) from error


def found(label: ShippingLabel) -> tuple[str, ...]:
    """Return the numbers that the carrier finds of the label; none where it can't be asked or does not answer."""
    with suppress(CarrierError, NotAskedError), conversation_about(label, Service.CANCELLATION) as talk:
        return talk.carrier.find_by_reference(label.id, talk.credentials)
    return ()


def check_found(label: ShippingLabel, numbers: Collection[str], made: Collection[str]) -> None:
    """Raise DecisionError for a number, maybe misspelt, in place of one that only the search shows: it is in use."""
    new = set(made).difference(label.tracking_numbers)
    if not set(made).issuperset(numbers) and len(new.union(numbers)) > len(label.weights_kg):
        text = gettext("Nothing was changed: {carrier_code} made {numbers} for this label.")
        raise DecisionError(text.format(carrier_code=label.carrier_code, numbers=", ".join(made)))


def save_adoption(
    label: ShippingLabel, tracking_numbers: Sequence[str], made: Sequence[str], pdf: bytes, warning: str
) -> None:
    """Write the decision and the PDF to the row, before the storage can fail; raise NotOpenError.

    What of the parcels `made` is not adopted, and not cancelled, is to be cancelled.
    """
    adopted = list(filter(None, tracking_numbers))
    facts: dict[str, Any] = {
        "tracking_numbers": adopted,
        "surplus_numbers": outcomes.unique(each for each in (*label.surplus_numbers, *made) if each not in adopted),
        "pdf": pdf,
        "cancel_requested_at": None,
        **outcomes.NO_ERROR,
    }
    if len(adopted) < len(label.weights_kg):
        facts |= only_parcels(label, [rank for rank, number in enumerate(tracking_numbers) if number])
    if warning:
        warnings = [warning, *facts.get("warnings", label.warnings)]
        facts |= {"warnings": warnings, "staff_notice": notices.CUSTOMS_FORM_MISSING}
    if len(set(adopted)) < len(adopted):
        raise DecisionError(gettext("Nothing was changed: each parcel has a tracking number of its own."))
    note = f"Adopted {', '.join(adopted)}; it was {label.state}."
    with transaction.atomic():
        lock("adoptions")
        check_not_taken(label, [*adopted, *made])
        decide(label, Event.ADOPTED, note, Q(leased_until=label.leased_until), **facts)


def check_not_taken(label: ShippingLabel, numbers: Collection[str]) -> None:
    """Raise DecisionError for a number that another label has, unless the carrier has given it out again since."""
    known = ShippingLabel.objects.with_tracking_number(*numbers).exclude(id=label.id)
    for other in known.filter(created_at__gt=label.created_at - GIVEN_OUT_AGAIN).only("id", "tracking_numbers")[:1]:
        taken = next(number for number in numbers if number in other.tracking_numbers)
        raise DecisionError(gettext("{taken} is a parcel of the label {id}.").format(taken=taken, id=other.id))


def only_parcels(label: ShippingLabel, ranks: Sequence[int], warning: str = LEFT_OUT) -> dict[str, Any]:
    """Return what the row says of some of its parcels, with a warning about the others."""
    per_parcel = {name: getattr(label, name) for name in ("weights_kg", "sides_cm", "parcel_references")}
    missing = notices.named(label, (rank for rank, _ in enumerate(label.weights_kg) if rank not in ranks))
    chosen = {name: [each[rank] for rank in ranks] for name, each in per_parcel.items() if each}
    return chosen | {"warnings": [warning % missing, *label.warnings]}


def mark_as_not_made(*, label: ShippingLabel) -> None:
    """Record that no parcel was made, or that none is left, and release the purchase's key. Raise DecisionError.

    It is not recorded of a label of which a parcel was found since it was read: that one is paid for. Of one without a
    number the carrier is asked all the same: a portal may be as late as its search, and what it finds is cancelled.
    """
    note = f"Marked as not made; it was {label.state}."
    error = outcomes.set_error(label, SettledError(label.carrier_code, NOTHING_LEFT))
    is_seen = Q(tracking_numbers=label.tracking_numbers)
    again_at = clock.now() if not label.tracking_numbers and outcomes.has_search(label) else None
    decide(label, Event.MARKED_NOT_MADE, note, is_free(), is_seen, pdf=None, ask_again_at=again_at, **error)
    recovery.remove(label)  # neither its age nor an erasure would


def cancel(*, label: ShippingLabel) -> ShippingLabel:
    """Cancel a bought label at the carrier. Raise CancelError."""
    cancelled = cancelling.cancel(label)
    is_done = cancelled.state == LabelState.CANCELLED
    record(label, "Cancelled." if is_done else "Asked to cancel; the carrier could not yet.")
    return cancelled


def mark_as_cancelled(*, label: ShippingLabel) -> None:
    """Record that the parcels of a label in cancellation were cancelled elsewhere. Raise DecisionError."""
    end_cancellation(label, Event.MARKED_CANCELLED, "Marked as cancelled.")


def keep(*, label: ShippingLabel, cancelled: Collection[str] = ()) -> None:
    """Record that a label in cancellation stays bought. Raise DecisionError.

    It stays without the parcels that are cancelled: those that the row names, and `cancelled`.
    """
    lost = [number for number in label.tracking_numbers if number in {*label.cancelled_numbers, *cancelled}]
    ranks = [rank for rank, number in enumerate(label.tracking_numbers) if number not in lost]
    left = [label.tracking_numbers[rank] for rank in ranks]
    if lost and not left:
        raise DecisionError(gettext("Nothing was changed: no parcel is left to keep."))
    facts: dict[str, Any] = {"cancel_requested_at": None}
    if lost:
        known = outcomes.unique(label.cancelled_numbers, lost)
        facts |= {"tracking_numbers": left, "cancelled_numbers": known, **only_parcels(label, ranks, CANCELLED)}
    note = f"Kept in part: {', '.join(left)}." if lost else KEPT
    end_cancellation(label, Event.MARKED_KEPT, note, lost=lost, **facts)


def end_cancellation(label: ShippingLabel, event: Event, note: str, *, lost: Sequence[str] = (), **facts: Any) -> None:
    """Record a decision about a label in cancellation, kept without the numbers `lost`; raise NotOpenError."""
    is_seen = Q(cancelled_numbers=label.cancelled_numbers)
    with transaction.atomic():
        outcomes.see_surplus(label)
        if lost:
            # Before its parcel is shown: an import locks in this order, too.
            parcels.release_numbers(label, lost, is_kept=True)
        decide(label, event, note, is_free(), is_seen, **facts)


def decide(label: ShippingLabel, event: Event, note: str, *guards: Q, **facts: Any) -> None:
    """Make the transition that the one who acts has decided on, and record it; raise NotOpenError.

    The label is leased until its receipt is written, as an erasure waits for that.
    """
    facts |= {"decided_by": current_actor.get().name, "decided_at": clock.now(), "leased_until": lease()}
    facts.setdefault("ask_again_at", None)
    with transaction.atomic():
        if not move(label, event, *guards, **facts):
            raise NotOpenError
        record(label, note)


def dismiss_notice(*, label: ShippingLabel) -> None:
    """Remove a notice that staff have dealt with. Raise DecisionError."""
    noticed = ShippingLabel.objects.with_notice().filter(id=label.id, staff_notice=label.staff_notice)
    with transaction.atomic():
        if not noticed.update(staff_notice=""):
            raise NotOpenError
        record(label, f"Dealt with: {label.staff_notice}")


def record(label: ShippingLabel, message: str) -> None:
    """Record the decision in the audit log, in its own transaction, and in the log."""
    recording.record(Action.CHANGED, label, note=message)
    logger.info("label decided", extra={"label": label.id, "state": label.state, "user": current_actor.get().user_id})


# --- Questions at a person's request ---


def can_be_asked(label: ShippingLabel) -> bool:
    """Return whether its carrier can say what became of the label, and is still to be asked."""
    if label.state in IN_CANCELLATION:
        return not label.is_cancellation_overdue
    is_open = label.state in OPEN and label.state != LabelState.INCOMPLETE
    return is_open and bool(label.reservation_number or outcomes.has_search(label))


def reconcile_now(*, label: ShippingLabel) -> ShippingLabel:
    """Take the label up as the reconciliation does; return it as it is afterwards. Raise DecisionError."""
    if not can_be_asked(label):
        raise NotOpenError
    if clock.is_host_off():
        raise DecisionError(gettext("This host's clock is off, so it settles no label. See the runbook."))
    try:
        account_of(label)
    except NotAskedError as error:
        raise DecisionError(error.sentence) from error
    taken = claim(label.id, ShippingLabel.objects.free().filter(state=label.state))
    if taken is None:
        raise NotOpenError
    try:
        with suppress(PurchaseFailedError, StorageUnavailableError):  # its row says how: it was settled, or it waits
            reconciling.settle(taken)
    except BulkheadFullError as error:
        back_off(taken)
        raise DecisionError(error.sentence) from error
    except StorageError as error:  # it may hold what was bought: nothing is known without it
        back_off(taken)
        text = gettext("The storage can't be reached, and may hold the label. Try again later.")
        raise DecisionError(text) from error
    asked = ShippingLabel.objects.get(id=label.id)
    recording.record(Action.CHANGED, label, changes={"state": [label.state, asked.state]}, asked=label.carrier_code)
    user = current_actor.get().user_id
    logger.info("label asked about", extra={"label": label.id, "state": asked.state, "user": user})
    return asked
