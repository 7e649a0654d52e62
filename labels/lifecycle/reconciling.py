"""Finishes or classifies purchases that were interrupted, and repeats cancellations that the carrier could not do yet.

It can run at any time, on any number of machines at once.
"""

import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.db import connection

from carriers.base import Carrier
from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown
from carriers.observer import calls_for
from carriers.shipment import DEFAULT_FORMAT, Credentials, PurchasedLabel
from labels.errors import StorageUnavailableError
from labels.lifecycle import cancelling, outcomes
from labels.models import LabelState, ShippingLabel, lease
from labels.pdfs import recovery
from labels.pdfs.storage import StorageError
from shops.audit.models import Action
from shops.audit.recording import record
from shops.contracts.accounts import credentials_for
from shops.contracts.clients import client
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract
from shops.db import clock

# The pause before a purchase that stays unknown is taken up again.
ASK_AGAIN_AFTER = timedelta(minutes=5)
# A purchase that failed is looked for once more after this time.
LAST_QUESTION_AFTER = timedelta(days=1)
NOT_MADE = "the purchase was interrupted, and nothing was made"
CANCELLED = "the purchase was interrupted, and its parcels, found without their PDF, were cancelled"
NOT_CANCELLED = "its parcels were found without their PDF, and could not be cancelled"
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
        label = take(label_id)
        if label is None:
            continue
        try:
            with calls_for(label.id):
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


def take(label_id: str) -> ShippingLabel | None:
    """Lease a label; None if another process was faster or it is over."""
    due = ShippingLabel.objects.interrupted() | ShippingLabel.objects.to_ask_again()
    taken = due.filter(id=label_id).update(leased_until=lease())
    return ShippingLabel.objects.get(id=label_id) if taken else None


def settle_on_record(label: ShippingLabel) -> None:
    """Settle a label, and record the state that it has come to."""
    before = label.state
    settle(label)
    if label.state != before:
        record(Action.CHANGED, label, changes={"state": [before, label.state]})


def settle(label: ShippingLabel) -> None:
    """Bring a label as far as possible now."""
    if label.state == LabelState.RECEIVED:
        store(label)
    elif label.state == LabelState.CANCELLING:
        cancel_again(label)
    elif record_stored(label):
        store(label)
    elif label.reservation_number or client(label.carrier_code).can_be_asked:
        ask(label)
    else:
        hold(label)


def record_stored(label: ShippingLabel) -> bool:
    """Record a label that was bought while the database was away; tell if it was. Raise StorageError."""
    purchased = recovery.find(label)
    if purchased is None:
        return False
    outcomes.keep(label, purchased)
    with suppress(StorageError):  # `check_labels` names what is left
        recovery.forget(label)
    return True


def store(label: ShippingLabel) -> None:
    try:
        outcomes.finish(label)
    except StorageUnavailableError:
        logger.warning("label waits for the storage", extra={"label": label.id})


def cancel_again(label: ShippingLabel) -> None:
    """Repeat a cancellation, for an hour from its request; after that it waits for a person."""
    hold(label)
    if label.is_cancellation_overdue:
        return
    with suppress(cancelling.CancelError):
        cancelling.perform(label)


def hold(label: ShippingLabel) -> None:
    """Leave it to a person: the carrier can't be asked, or did not know enough.

    Nothing is done where this process has lost the lease: while it was suspended, the purchase may have been settled,
    decided or taken by another.
    """
    own = ShippingLabel.objects.filter(id=label.id, state=label.state, leased_until=label.leased_until)
    if not own.update(leased_until=clock.now() + ASK_AGAIN_AFTER):
        return
    if label.state == LabelState.PURCHASING:
        outcomes.fail(label, OutcomeUnknown(label.carrier_code, "the purchase was interrupted"))


def ask(label: ShippingLabel) -> None:
    """Fetch the PDF by the reservation number or, without one, look for the parcels by the carrier's reference."""
    contract = CarrierContract.find(shop_id=label.shop_id, carrier_code=label.carrier_code)
    if contract is None:
        hold(label)
        return
    carrier, control_id = client(label.carrier_code), control_for(label, contract)
    try:
        credentials = credentials_for(contract, label.account_number)
        connection.close()
        if label.reservation_number:
            fetch(label, carrier, credentials)
            return
        # First, as the search may catch up between the two questions.
        is_caught_up = bool(control_id and carrier.find_by_reference(control_id, credentials))
        found = carrier.find_by_reference(label.id, credentials)
        numbers = all_numbers(label, found)
        if numbers and label.state != LabelState.FAILED and (pdf := recovery.pdf(label)):  # the shop may have it
            outcomes.keep(label, PurchasedLabel(numbers, pdf))
            store(label)
        elif numbers:
            cancel_found(label, carrier, credentials, numbers)
        elif found:
            found_in_part(label, found)
        else:
            not_found(label, is_believed=is_caught_up)
    except (CarrierError, UnreadableSecretError) as error:
        logger.warning("carrier not asked", extra={"label": label.id, "reason": type(error).__name__})
        hold(label)


def control_for(label: ShippingLabel, contract: CarrierContract) -> str:
    """Return the id of a label that the search must find if it is to be believed that it does not find this one.

    That is one bought since on the same account, after the wait in which a search may be late. There is none where a
    number is known, or for a purchase that has failed already. Nor is there one where the label does not tell its
    account and the contract has changed: the parcels may have been made on the old one.
    """
    wait = timedelta(seconds=max(settings.RECONCILE_WAIT_S, settings.CARRIER_TIMEOUT + settings.LEASE_MARGIN_S))
    is_early = clock.now() < label.created_at + wait
    is_over = label.state == LabelState.FAILED
    is_account_open = not label.account_number and contract.updated_at > label.created_at
    if is_early or is_over or label.tracking_numbers or is_account_open:
        return ""
    accounts = {label.account_number, label.account_number or contract.account_number}
    of_shop = ShippingLabel.objects.for_shop(label.shop_id)
    bought = of_shop.filter(carrier_code=label.carrier_code, account_number__in=accounts).generated()
    purchase_ended_at = label.created_at + timedelta(seconds=settings.CARRIER_TIMEOUT)
    since = bought.filter(id__gt=label.id, created_at__gt=purchase_ended_at).order_by("id")
    return since.values_list("id", flat=True).first() or ""


def fetch(label: ShippingLabel, carrier: Carrier, credentials: Credentials) -> None:
    """Finish a label whose numbers and reservation came without its PDF."""
    pdf = carrier.fetch_label(label.reservation_number, credentials, label.label_format or DEFAULT_FORMAT)
    purchased = PurchasedLabel(tuple(label.tracking_numbers), pdf, reservation_number=label.reservation_number)
    outcomes.keep(label, purchased)
    store(label)


def cancel_found(label: ShippingLabel, carrier: Carrier, credentials: Credentials, numbers: tuple[str, ...]) -> None:
    """Cancel parcels that have no PDF and can get none; the purchase counts as not made when all are cancelled.

    What can't be cancelled is left to a person with its numbers, and tried again for an hour: the carrier may know a
    parcel by its reference before it can cancel it.
    """
    if label.state == LabelState.FAILED:
        logger.error("parcels found of a failed purchase", extra={"label": label.id, "numbers": ",".join(numbers)})
    if not cancelling.begin_for_found(label):
        return
    is_over = label.is_cancellation_overdue
    if is_over or cancelling.cancel_parcels(label, carrier, credentials, numbers):
        outcomes.fail(label, OutcomeUnknown(label.carrier_code, NOT_CANCELLED, made_numbers=numbers))
        hold(label)
    else:
        outcomes.fail(label, CarrierUnavailable(label.carrier_code, CANCELLED))


def not_found(label: ShippingLabel, *, is_believed: bool) -> None:
    """Fail a purchase that its carrier does not know, if that is believed; a failed one is asked about after a day."""
    if label.state == LabelState.FAILED:
        schedule_last_question(label)
    elif is_believed:
        error = CarrierUnavailable(label.carrier_code, NOT_MADE)
        outcomes.fail(label, error, ask_again_at=clock.now() + LAST_QUESTION_AFTER)
    else:
        hold(label)


def schedule_last_question(label: ShippingLabel) -> None:
    """Ask about a failed purchase once more, unless this was the last time."""
    asks_last_at = label.created_at + LAST_QUESTION_AFTER
    own = ShippingLabel.objects.row_of(label).filter(state=label.state, leased_until=label.leased_until)
    own.update(ask_again_at=asks_last_at if clock.now() < asks_last_at else None)


def all_numbers(label: ShippingLabel, found: tuple[str, ...]) -> tuple[str, ...]:
    """Return a number for each parcel, in their order; none at all if there are more or fewer than were ordered.

    They are those found or, where a search does not show as many, those known before.
    """
    count, known = len(label.weights_kg), dict.fromkeys(label.tracking_numbers)
    if len(found) == count:
        return found
    return tuple(known) if len(known) == count and known.keys() >= set(found) else ()


def found_in_part(label: ShippingLabel, found: tuple[str, ...]) -> None:
    """Leave more or fewer parcels than were ordered to a person, with all their numbers."""
    numbers = tuple(dict.fromkeys([*label.tracking_numbers, *found]))
    outcomes.fail(label, OutcomeUnknown(label.carrier_code, "its parcels are not those ordered", made_numbers=numbers))
    hold(label)
