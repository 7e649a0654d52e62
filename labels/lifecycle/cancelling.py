"""Cancels bought labels, parcels that were found without their PDF, and parcels beyond those ordered.

The request is committed before the carrier is asked, and each cancelled parcel before the next. An interrupted
cancellation is repeated for an hour from the request; after that a person decides.
"""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress

from django.db import DatabaseError, transaction
from django.db.models import Q
from django.utils.translation import gettext, gettext_noop

from carriers.client import Service
from carriers.errors import CancellationRefused, CarrierError, CredentialsRejected, OutcomeUnknown
from labels.lifecycle import parcels
from labels.lifecycle.db_retry import with_db_retry
from labels.lifecycle.leases import back_off, begin_call, own
from labels.lifecycle.outcomes import see_surplus, unique
from labels.lifecycle.states import Event, move
from labels.models import IN_CANCELLATION, LabelState, ShippingLabel, lease
from shops.api.errors.coded import BusyError
from shops.contracts.accounts import FORMER_ACCOUNTS_KEPT, UnknownAccountError
from shops.contracts.bulkhead import NotAskedError
from shops.contracts.conversation import Conversation, NoAccountError, conversation_about, said
from shops.contracts.encryption import UnreadableSecretError
from shops.db import clock
from shops.db.failures import DATABASE_ERRORS, is_timeout
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record

HANDED_IN = gettext_noop("the carrier has taken it in charge")
FORGOTTEN = gettext_noop("its parcel was removed by its age, and may have been handed in")
HELD = gettext_noop("its parcel is held by another process, such as an import")
CHANGED = "it was changed meanwhile"
TOO_OLD = f"it is older than {FORMER_ACCOUNTS_KEPT.days} days, so it was used or is void"
NO_ACCOUNT = "the account that it was bought on is not kept any more"
NOT_CANCELLED = gettext_noop("{label} is not cancelled: {problem}")
NOT_BOUGHT = gettext_noop("is not bought")
WHY_NOT = {
    LabelState.CANCELLED: gettext_noop("was cancelled before"),
    LabelState.CANCELLING: gettext_noop("is being cancelled"),
    LabelState.CANCEL_UNKNOWN: gettext_noop("is being cancelled"),
    LabelState.RECEIVED: gettext_noop("is bought, and its PDF waits for the storage: cancel it when it is stored"),
}
logger = logging.getLogger("labels.cancelling")


class CancelError(Exception):
    """The label was not cancelled; `str()` and `problem`, which does not name it, say why, for staff.

    `failure` is the carrier's error, if there is one; else the shop reads `reason`, by default the problem.
    """

    def __init__(
        self,
        label: ShippingLabel,
        problem: str,
        failure: CarrierError | None = None,
        *,
        reason: str = "",
        sentence: str = NOT_CANCELLED,
    ) -> None:
        self.problem, self.failure, self.reason = gettext(problem), failure, reason or problem
        super().__init__(gettext(sentence).format(label=label.id, problem=self.problem))


def cancel(label: ShippingLabel) -> ShippingLabel:
    """Cancel a bought label; return it `cancelled`, or in cancellation while the carrier can't do it yet.

    Raise CancelError if it is not bought, or stays bought.
    """
    try:
        with conversation_if_billed(label) as talk:
            begun = begin(label)
            perform_now(begun, talk)
    except NotAskedError as error:
        raise not_asked(label, error) from error
    except CarrierError as error:
        raise CancelError(label, said(error), error) from error
    return begun


def perform_now(label: ShippingLabel, talk: Conversation | None) -> None:
    """Perform a cancellation that has just begun; what can't be recorded now is repeated after its lease."""
    try:
        perform(label, talk, is_first=True)
    except DATABASE_ERRORS:
        logger.exception("cancellation not recorded", extra={"label": label.id})
        label.state = LabelState.CANCELLING
    else:
        defer(label)


def not_asked(label: ShippingLabel, error: NotAskedError) -> CancelError:
    """Return the error for staff, with a reason for the shop that names no account and no setting."""
    failure: CarrierError | None = None
    if isinstance(error.__cause__, UnknownAccountError):
        return CancelError(label, str(error), reason=NO_ACCOUNT)
    if isinstance(error.__cause__, UnreadableSecretError):
        failure = CredentialsRejected(label.carrier_code, "they can't be read")
    elif not isinstance(error, NoAccountError):
        failure = BusyError(label.carrier_code, str(error))
    return CancelError(label, str(error), failure)


def cancel_for_shop(label: ShippingLabel) -> ShippingLabel:
    """Cancel, on record, a label that is not too old; return one that is over or in cancellation as it is."""
    if label.state != LabelState.GENERATED:
        return label
    if label.created_at < clock.now() - FORMER_ACCOUNTS_KEPT:
        raise CancelError(label, TOO_OLD)
    try:
        cancelled = cancel(label)
    except CancelError:
        latest: ShippingLabel = ShippingLabel.objects.row_of(label).defer("pdf").get()
        if latest.state == LabelState.GENERATED:
            raise
        return latest
    try:
        record(Action.CHANGED, cancelled, changes={"state": [LabelState.GENERATED, cancelled.state]})
    except DATABASE_ERRORS:  # that it was asked for is on record, and the carrier was asked
        logger.exception("cancellation not on record", extra={"label": label.id})
    return cancelled


def conversation_if_billed(label: ShippingLabel) -> AbstractContextManager[Conversation | None]:
    """Begin the conversation about a cancellation; None where unused labels are not billed."""
    return conversation_about(label, Service.CANCELLATION) if label.is_billed_unused else nullcontext()


def begin(label: ShippingLabel) -> ShippingLabel:
    """Commit and record the request before the carrier is asked; the shop can't retrieve the label any more."""
    try:
        with transaction.atomic():
            latest: ShippingLabel = ShippingLabel.objects.row_of(label).select_for_update(of=("self",)).get()
            if latest.state == LabelState.GENERATED:
                check_not_used(latest)
            facts = {"cancel_requested_at": clock.now(), "leased_until": lease(), "ask_again_at": None}
            is_begun = move(latest, Event.CANCEL_ASKED, **facts)
            if is_begun:
                record(Action.CHANGED, latest, note="Asked to cancel.")
    except DatabaseError as error:
        if not is_timeout(error):
            raise
        raise held(label) from error
    if not is_begun:
        state = ShippingLabel.objects.row_of(label).values_list("state", flat=True).get()
        problem = WHY_NOT.get(LabelState(state), NOT_BOUGHT)
        raise CancelError(label, problem, reason=CHANGED, sentence="{label} {problem}")
    return latest


def held(label: ShippingLabel) -> CancelError:
    """Return the error of a label that another process holds."""
    return CancelError(label, HELD, BusyError(label.carrier_code, HELD))


def check_not_used(label: ShippingLabel) -> None:
    """Raise CancelError for what was handed in, or what an import or a report that holds its parcel may say so of.

    Nobody waits for them, in a thread and a place that other shops need.
    """
    if parcels.are_held(label):
        raise held(label)
    if parcels.handed_in(label):
        raise CancelError(label, HANDED_IN)
    if not label.is_billed_unused and parcels.is_removed(label):  # nobody is asked
        raise CancelError(label, FORGOTTEN)


def defer(label: ShippingLabel) -> None:
    """End the lease of a cancellation that the carrier has answered; it is tried again in some minutes."""
    if label.state in IN_CANCELLATION:
        back_off(label)


def repeat(label: ShippingLabel, *, was_interrupted: bool) -> None:
    """Repeat a cancellation for an hour from its request; after that a person decides if the label may be billed.

    An interrupted one may have been carried out. So the label stays bought only if the carrier has all of its parcels,
    and a refusal proves nothing. Once a parcel is cancelled, the others are cancelled too.
    """
    if was_interrupted and label.is_billed_unused:
        end(label, Event.CANCEL_UNANSWERED)
    handed_in = parcels.handed_in(label)
    is_certain = label.state != LabelState.CANCEL_UNKNOWN or handed_in == set(label.tracking_numbers)
    if handed_in and is_certain and not label.is_cancelled_in_part:
        kept(label, Event.HANDED_IN, HANDED_IN)
    elif not (label.is_billed_unused and label.is_cancellation_overdue):
        try:
            with suppress(CancelError, CarrierError), conversation_if_billed(label) as talk:
                perform(label, talk)
        except NoAccountError as error:
            if not_asked(label, error).failure is None:  # the account is gone, not unreadable for now
                kept(label, Event.CANCEL_REFUSED, str(error))
    defer(label)


def perform(label: ShippingLabel, talk: Conversation | None, *, is_first: bool = False) -> None:
    """Cancel the parcels that are left; raise CancelError if the label stays bought.

    It does if no parcel may have been cancelled, and one was refused for good or all failures of a first request are
    certain.
    """
    failures = cancel_parcels(label, talk, label.tracking_numbers) if talk else []
    if not failures:
        end(label, Event.CANCELLED)
    elif any(isinstance(failure, OutcomeUnknown) for failure in failures):
        end(label, Event.CANCEL_UNANSWERED)
    elif not label.is_cancelled_in_part and (why := reason_to_keep(failures, is_first=is_first)):
        raise kept(label, Event.CANCEL_REFUSED, said(why), why)


def kept(label: ShippingLabel, event: Event, problem: str, failure: CarrierError | None = None) -> CancelError:
    """Make the label bought again, unless a parcel of it is cancelled; return the error.

    Do nothing if this process has lost the lease: another one works on the label, or on its next cancellation.
    """
    if not label.is_cancelled_in_part:
        is_held = Q(leased_until=label.leased_until)
        end(label, event, is_held, cancel_requested_at=None, ask_again_at=None)
    return CancelError(label, problem, failure)


def end(label: ShippingLabel, event: Event, *guards: Q, **facts: None) -> None:
    """Make a transition of a cancellation, unless a person has decided about it meanwhile."""
    before = label.state

    @transaction.atomic
    def write() -> bool:
        see_surplus(label)
        return move(label, event, *guards, **facts)

    if with_db_retry(write):
        logger.info("label cancellation went on", extra={"label": label.id, "state": label.state})
    else:
        label.state = before


def reason_to_keep(failures: Sequence[CarrierError], *, is_first: bool) -> CarrierError | None:
    """Return the failure for which the label stays bought: a final one, or any of a first request if all are certain.

    A certain failure has not cancelled the parcel, and asking again in some minutes is not known to help.
    """
    is_certain = all(not isinstance(failure, CancellationRefused) or is_final(failure) for failure in failures)
    return next(filter(is_final, failures), failures[0] if is_first and is_certain else None)


def is_final(failure: CarrierError) -> bool:
    return isinstance(failure, CancellationRefused) and not failure.may_be_too_early


def begin_for_found(label: ShippingLabel) -> bool:
    """Commit that an interrupted purchase's parcels are being cancelled, so that a late answer is not kept.

    Return False if this process has lost the lease.
    """
    label.cancel_requested_at = label.cancel_requested_at or clock.now()
    return bool(own(label).update(cancel_requested_at=label.cancel_requested_at))


def cancel_parcels(label: ShippingLabel, talk: Conversation, numbers: Sequence[str]) -> list[CarrierError]:
    """Cancel each parcel that is not cancelled yet; return the failures.

    Stop if the carrier fails. Stop too if it has taken a parcel of a bought label in charge and none is cancelled yet:
    the label stays bought with all its parcels.
    """
    failures: list[CarrierError] = []
    for number in numbers:
        if number in label.cancelled_numbers:
            continue
        try:
            talk.carrier.cancel(number, talk.credentials, begin_call(label))
        except CarrierError as error:
            logger.warning("parcel not cancelled", extra={"label": label.id, "number": number, "reason": error.code})
            failures.append(error)
            stays_bought = label.state == LabelState.CANCELLING and not label.is_cancelled_in_part and is_final(error)
            if stays_bought or not isinstance(error, CancellationRefused):
                break
        else:
            record_cancelled(label, number)
    return failures


def record_cancelled(label: ShippingLabel, number: str) -> None:
    """Record that a parcel is cancelled, and keep what others have recorded."""

    @transaction.atomic
    def write() -> None:
        row = ShippingLabel.objects.row_of(label).select_for_update(of=("self",)).only("cancelled_numbers").first()
        label.cancelled_numbers = unique((row or label).cancelled_numbers, [number])
        ShippingLabel.objects.row_of(label).update(cancelled_numbers=label.cancelled_numbers)
        if not parcels.are_held(label):  # else it is released with the others when the cancellation ends
            parcels.release_numbers(label, {number})

    with_db_retry(write)
