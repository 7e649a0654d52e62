"""Brings labels that nobody works on as far as possible: purchases, cancellations, and what was made too much.

It can run at any time, on any number of machines at once.
"""

import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from carriers import CARRIERS
from carriers.errors import CarrierError, CarrierUnavailable
from carriers.http.messages import UnreadableError
from labels.lifecycle import cancelling, outcomes
from labels.lifecycle.asking import ask
from labels.lifecycle.errors import PurchaseFailedError, StorageUnavailableError
from labels.lifecycle.leases import ASK_AGAIN_AFTER, due, fail_own, hold, schedule, take
from labels.lifecycle.states import Event
from labels.models import CANCEL_TIMEOUT, IN_CANCELLATION, STORED, LabelState, ShippingLabel, settle_wait
from labels.pdfs import recovery
from labels.pdfs.storage import StorageError
from shops.contracts.clients import client
from shops.contracts.conversation import NoAccountError
from shops.db import clock
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record

NOT_USED = "no label came of it; what was made is not used, and is not billed"
SURPLUS = "The carrier made %s too, which could not be cancelled: cancel it there, or it is paid for."
logger = logging.getLogger("labels.reconciling")


def reconcile(is_stopping: Callable[[], bool] = lambda: False) -> Counter[str]:
    """Take up every label that no process works on, the oldest first, until stopped; return their number by state.

    Do nothing on a host whose clock is off: nobody knows what else is wrong with it, and any other host will do.
    """
    states: Counter[str] = Counter()
    if clock.is_host_off():
        return states
    interrupted = ShippingLabel.objects.interrupted().order_by("leased_until")
    failed = ShippingLabel.objects.to_ask_again().order_by("ask_again_at")
    for label_id in [*interrupted.values_list("id", flat=True), *failed.values_list("id", flat=True)]:
        if is_stopping():
            break
        label = take(label_id, due())
        if label is None:
            continue
        try:
            settle_on_record(label)
        except StorageError as error:  # it may hold what was bought: nothing is known without it
            logger.warning("storage not asked", extra={"label": label.id, "reason": str(error)})
            hold(label)
        except Exception:  # one label's failure must not keep the others waiting; it is tried again after its lease
            logger.exception("label not reconciled", extra={"label": label.id})
            label.refresh_from_db(fields=["state"])  # the new state may not be written
        else:
            logger.info("label reconciled", extra={"label": label.id, "state": label.state})
        states[label.state] += 1
    return states


def settle_on_record(label: ShippingLabel) -> None:
    """Settle a label, and record the state that it has come to."""
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
    elif label.state != LabelState.FAILED and record_stored(label):
        store(label)
    elif label.reservation_number or client(label.carrier_code, is_test=label.shop.is_test).can_be_asked:
        ask(label)
    elif CARRIERS[label.carrier_code].bills_unused_labels:
        hold(label)
    else:
        settle_unbilled(label)


def record_stored(label: ShippingLabel) -> bool:
    """Record a label that was bought while the database was away; tell if it was. Raise StorageError."""
    purchased = recovery.find(label)
    if purchased is None:
        return False
    outcomes.save_received(label, purchased)
    with suppress(StorageError):  # `check_labels` names what is left
        recovery.forget(label)
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
    """Fail an order whose label did not come in time, where nothing of it is billed: nobody has to decide.

    Not one whose PDF is stored, as after the database was restored: its shop may have the label.
    """
    settles_at = label.created_at + settle_wait()
    if label.state == LabelState.FAILED:
        schedule(label, None)
    elif clock.now() < settles_at:
        hold(label, settles_at)
    elif recovery.pdf(label):
        hold(label)
    else:
        error = CarrierUnavailable(label.carrier_code, NOT_USED)
        fail_own(label, Event.SETTLED, error, pdf=None, ask_again_at=None)


def cancel_surplus(label: ShippingLabel) -> None:
    """Cancel what was made beyond a label's parcels, for an hour from the decision; then staff are told."""
    is_billed = CARRIERS[label.carrier_code].bills_unused_labels
    with suppress(NoAccountError, CarrierError), cancelling.conversation_if_billed(label) as talk:
        if talk:
            cancelling.cancel_parcels(label, talk, label.surplus_numbers)
    if not label.left_of_surplus or not is_billed:
        schedule(label, None)
    elif label.decided_at and clock.now() < label.decided_at + CANCEL_TIMEOUT:
        schedule(label, clock.now() + ASK_AGAIN_AFTER)
    else:
        schedule(label, None, staff_notice=SURPLUS % ", ".join(label.left_of_surplus))
