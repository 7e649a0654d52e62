"""Moves labels on that no process works on: interrupted purchases, cancellations, surplus parcels.

It can run at any time, on any number of hosts at once. It asks the carrier about purchases whose outcome is unknown,
and never buys again.
"""

import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection

from carriers.client import Service
from carriers.errors import CarrierError, OutcomeUnknown
from carriers.http.transport import UnreadableError
from carriers.shipment import DEFAULT_FORMAT, PurchasedLabel
from labels.lifecycle import cancelling, notices, outcomes
from labels.lifecycle.errors import PurchaseFailedError, StorageUnavailableError
from labels.lifecycle.leases import ASK_AGAIN_AFTER, back_off, claim_due, due_in_turn, fail_own, schedule
from labels.lifecycle.states import Event
from labels.models import CANCEL_TIMEOUT, IN_CANCELLATION, STORED, LabelState, ShippingLabel, settle_wait
from labels.pdfs import recovery, storage, unmerged
from shops.api.errors.coded import SettledError
from shops.contracts.conversation import Conversation, NoAccountError, conversation_about
from shops.contracts.models import CarrierContract
from shops.db import clock
from shops.db.failures import is_timeout, reason
from shops.db.replicas import UNREACHABLE
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record

# The pause before a purchase that failed is looked for once more, until a later one is found as well.
LAST_QUESTION_AFTER = timedelta(days=1)
STOP_ASKING_AFTER = timedelta(days=7)
NOT_MADE = "the purchase was interrupted, and nothing was made"
CANCELLED = "the purchase was interrupted, and its parcels, found without their PDF, were cancelled"
NOT_CANCELLED = "its parcels were found without their PDF, and could not be cancelled"
NOT_USED = "no label came of it, and what was made is not used and not billed"
logger = logging.getLogger("labels.reconciling")


def reconcile(is_stopping: Callable[[], bool] = lambda: False) -> Counter[str]:
    """Take up every label that no process works on, until stopped; count them by their new state.

    Do nothing on a host whose clock is off: nobody knows what else is wrong with it, and any other host will do.
    """
    states: Counter[str] = Counter()
    if clock.is_host_off():
        return states
    for label_id in due_in_turn():
        if is_stopping():
            break
        if not (label := claim_due(label_id)):
            continue
        try:
            settle_on_record(label)
        except storage.StorageError as error:  # it may hold what was bought: nothing is known without it
            logger.warning("storage not asked", extra={"label": label.id, "reason": str(error)})
            back_off(label)
        except Exception as error:  # one label must not keep the others waiting; it is tried again after its lease
            if isinstance(error, UNREACHABLE):  # in one line: it fails every label, for as long as that is away
                why = "label held by another process" if is_timeout(error) else "label waits for the database"
                logger.warning(why, extra={"label": label.id, "reason": reason(error)})
                connection.close()  # it may be lost
            else:
                logger.exception("label not reconciled", extra={"label": label.id})
            label.refresh_from_db(fields=["state"])  # the new state may not be written
        else:
            logger.info("label reconciled", extra={"label": label.id, "state": label.state})
        states[label.state] += 1
    return states


def settle_on_record(label: ShippingLabel) -> None:
    """Settle a label, and record its new state."""
    before = label.state
    try:
        settle(label)
    except PurchaseFailedError:  # its row says how: others have settled it meanwhile
        label.refresh_from_db(fields=["state"])
    except StorageUnavailableError:
        logger.warning("label waits for the storage", extra={"label": label.id})
    if label.state != before:
        record(Action.CHANGED, label, changes={"state": [before, label.state]})


def settle(label: ShippingLabel) -> None:
    """Bring a label as far as possible now."""
    if label.state == LabelState.RECEIVED:
        store(label)
    elif label.state in IN_CANCELLATION:
        cancelling.repeat(label, was_interrupted=label.ask_again_at is None)
    elif label.state in STORED:
        cancel_surplus(label)
    elif label.state != LabelState.FAILED and not label.cancel_requested_at and record_stored(label):
        store(label)
    elif label.is_billed_unused:
        ask(label)
    else:
        settle_unbilled(label)


def record_stored(label: ShippingLabel) -> bool:
    """Record a label that was bought while the database was away; return whether it was. Raise StorageError."""
    purchased = recovery.find(label)
    if purchased is None:
        return False
    outcomes.save_received(label, purchased)
    with suppress(storage.StorageError):  # `check_labels` names what is left
        storage.delete(recovery.facts_key(label))
    return True


def store(label: ShippingLabel) -> None:
    """Merge and store the PDFs; those that can't be merged are fetched as one where the carrier has them."""
    try:
        outcomes.publish(label)
    except StorageUnavailableError as error:
        logger.warning("label waits for the storage", extra={"label": label.id})
        if isinstance(error.__cause__, UnreadableError) and label.reservation_number:
            ask(label)


def settle_unbilled(label: ShippingLabel) -> None:
    """Fail an order whose label did not come in time, where the carrier bills no unused label: nobody has to decide.

    Leave one whose PDF is stored, as after a restore of the database: its shop may have the label.
    """
    settles_at = label.created_at + settle_wait()
    if label.state == LabelState.FAILED:
        schedule(label, None)
    elif clock.now() < settles_at:
        back_off(label, settles_at)
    elif storage.read(label.pdf_key):
        back_off(label)
    else:
        error = SettledError(label.carrier_code, NOT_USED)
        fail_own(label, Event.SETTLED, error, pdf=None, ask_again_at=None)


def cancel_surplus(label: ShippingLabel) -> None:
    """Cancel parcels beyond those ordered, for an hour from the order or the decision; then notify staff."""
    with suppress(NoAccountError, CarrierError), cancelling.conversation_if_billed(label) as talk:
        if talk:
            cancelling.cancel_parcels(label, talk, label.surplus_numbers)
    if not (label.left_of_surplus and label.is_billed_unused):
        schedule(label, None, **({"staff_notice": ""} if notices.is_of_surplus(label.staff_notice) else {}))
    elif clock.now() < (label.decided_at or label.created_at) + CANCEL_TIMEOUT:
        back_off(label)
    else:
        schedule(label, None, staff_notice=notices.of_surplus(label.left_of_surplus))


# --- Questions to the carrier about a purchase ---


def ask(label: ShippingLabel) -> None:
    """Fetch the PDF by the reservation number or, without one, look for the parcels by the carrier's reference."""
    is_over = label.state == LabelState.FAILED
    may_be_fetched = label.reservation_number and not (is_over or label.cancel_requested_at)
    has_all = may_be_fetched and outcomes.are_as_ordered(label, label.tracking_numbers)
    try:
        with conversation_about(label, Service.REPRINTS if has_all else Service.CANCELLATION) as talk:
            if has_all:
                fetch(label, talk, tuple(label.tracking_numbers))
                return
            # Asked first, as the search may catch up between the two questions.
            control_id = control_for(label)
            is_caught_up = bool(control_id and talk.carrier.find_by_reference(control_id, talk.credentials))
            found = talk.carrier.find_by_reference(label.id, talk.credentials)
            settle_found(label, talk, found, is_believed=is_caught_up)
    except (CarrierError, NoAccountError) as error:
        logger.warning("carrier not asked", extra={"label": label.id, "reason": type(error).__name__})
        if not (is_over and is_too_late(label)):
            back_off(label)
        elif label.uncancelled_numbers:  # which may be paid for
            leave(label, NOT_CANCELLED, ())
        else:
            schedule(label, None)


def is_too_late(label: ShippingLabel) -> bool:
    """Return whether the week is over in which a purchase that failed is looked for."""
    return clock.now() >= label.created_at + STOP_ASKING_AFTER


def control_for(label: ShippingLabel) -> str:
    """Return the id of another label as a control: only if the search finds that one, its "not found" is believed.

    The control was bought later on the same account, after the time by which a search may lag. There is none if a
    number or the PDF has come. Nor is there one if the label does not name its account and the contract has changed, as
    the parcels may have been made on the old account.
    """
    wait = timedelta(seconds=max(settings.RECONCILE_WAIT_S, settings.CARRIER_TIMEOUT + settings.LEASE_MARGIN_S))
    is_early = clock.now() < label.created_at + wait
    if is_early or label.tracking_numbers or label.reservation_number or label.pdf:
        return ""
    accounts = {label.account_number}
    if not label.account_number:
        contract = CarrierContract.find(shop_id=label.shop_id, carrier_code=label.carrier_code)
        if contract is None or contract.updated_at > label.created_at:
            return ""
        accounts.add(contract.account_number)
    of_shop = ShippingLabel.objects.for_shop(label.shop_id)
    bought = of_shop.filter(carrier_code=label.carrier_code, account_number__in=accounts).generated()
    purchase_ended_at = label.created_at + timedelta(seconds=settings.CARRIER_TIMEOUT)
    since = bought.filter(id__gt=label.id, created_at__gt=purchase_ended_at).order_by("id")
    return since.values_list("id", flat=True).first() or ""


def settle_found(label: ShippingLabel, talk: Conversation, found: tuple[str, ...], *, is_believed: bool) -> None:
    """Settle a purchase by what the carrier finds of it."""
    numbers = all_numbers(label, found)
    if label.state == LabelState.FAILED:
        cancel_late(label, talk, found, is_believed=is_believed)
    elif numbers and label.cancel_requested_at:
        cancel_found(label, talk, numbers)
    elif numbers and label.reservation_number:
        fetch(label, talk, numbers)
    elif numbers and (content := label.pdf or storage.read(label.pdf_key)):  # the shop may have what is stored
        outcomes.save_received(label, PurchasedLabel(numbers, unmerged.parts(bytes(content))))
        outcomes.publish(label)
    elif numbers:
        cancel_found(label, talk, numbers)
    elif found:
        leave(label, outcomes.NOT_AS_ORDERED, found)
    elif is_believed:
        error = SettledError(label.carrier_code, NOT_MADE)
        fail_own(label, Event.NOT_FOUND, error, ask_again_at=clock.now() + LAST_QUESTION_AFTER)
    else:
        back_off(label)


def all_numbers(label: ShippingLabel, found: tuple[str, ...]) -> tuple[str, ...]:
    """Return a number for each parcel, in their order; none at all if there are more or fewer than were ordered.

    They are those found or, if the search shows fewer, those known before. A known number that is not found is one
    more, which the search may show later.
    """
    count, known = len(label.weights_kg), dict.fromkeys(label.tracking_numbers)
    if len(found) == count and known.keys() <= set(found):
        return found
    return tuple(known) if len(known) == count and known.keys() >= set(found) else ()


def fetch(label: ShippingLabel, talk: Conversation, numbers: tuple[str, ...]) -> None:
    """Finish a label whose numbers and reservation came without its PDF."""
    pdf = talk.carrier.fetch_label(label.reservation_number, talk.credentials, label.label_format or DEFAULT_FORMAT)
    outcomes.save_received(label, PurchasedLabel(numbers, {"label": pdf}, reservation_number=label.reservation_number))
    outcomes.publish(label)


def cancel_found(label: ShippingLabel, talk: Conversation, numbers: tuple[str, ...]) -> None:
    """Cancel parcels that have no PDF and can get none; the purchase counts as not made when all are cancelled.

    What can't be cancelled is left to a person with its numbers, and tried again for an hour: the carrier may find a
    parcel by its reference before it can cancel it.
    """
    if not cancelling.begin_for_found(label):
        return
    if not label.is_cancellation_overdue and not cancelling.cancel_parcels(label, talk, numbers):
        facts: dict[str, Any] = {"tracking_numbers": [], "pdf": None, "ask_again_at": clock.now() + LAST_QUESTION_AFTER}
        fail_own(label, Event.VOIDED, SettledError(label.carrier_code, CANCELLED), **facts)
    else:
        leave(label, NOT_CANCELLED, numbers)


def leave(label: ShippingLabel, problem: str, found: tuple[str, ...]) -> None:
    """Leave a purchase to a person, with all its numbers."""
    numbers = outcomes.unique(label.tracking_numbers, found)
    error = OutcomeUnknown(label.carrier_code, problem, made=PurchasedLabel(tuple(numbers)))
    fail_own(label, Event.FOUND, error, tracking_numbers=numbers, ask_again_at=clock.now() + ASK_AGAIN_AFTER)


def cancel_late(label: ShippingLabel, talk: Conversation, found: tuple[str, ...], *, is_believed: bool) -> None:
    """Cancel what is found, or known, of a purchase that has failed; leave it to a person if that fails.

    A search that is not believed is repeated each day, for a week.
    """
    numbers = outcomes.unique(label.tracking_numbers, found)
    left = [number for number in numbers if number not in label.cancelled_numbers]
    if left:
        logger.error("parcels found of a failed purchase", extra={"label": label.id, "numbers": ",".join(left)})
        label.cancel_requested_at = None  # that was for others, which are cancelled
        if not cancelling.begin_for_found(label):
            return
        if cancelling.cancel_parcels(label, talk, left):
            leave(label, NOT_CANCELLED, tuple(numbers))
            return
        if len(label.cancelled_numbers) < len(label.weights_kg):  # the search shows no more at a time
            back_off(label)
            return
    now, asks_last_at = clock.now(), label.created_at + LAST_QUESTION_AFTER
    if not (is_believed or now < asks_last_at or is_too_late(label)):
        asks_last_at = now + LAST_QUESTION_AFTER
    schedule(label, asks_last_at if now < asks_last_at else None)
