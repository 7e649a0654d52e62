"""Finishes or classifies purchases that were interrupted, and repeats cancellations that the carrier could not do yet.

It can run at any time, on any number of machines at once.
"""

import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from carriers.base import Carrier
from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown
from carriers.observer import calls_for
from carriers.shipment import Credentials, PurchasedLabel
from labels import cancelling, outcomes
from labels.errors import StorageUnavailableError
from labels.models import LabelState, ShippingLabel, lease
from shops.contracts.clients import client
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract

# The pause before a purchase that stays unknown is taken up again.
ASK_AGAIN_AFTER = timedelta(minutes=5)
CANCELLED = "the purchase was interrupted, and its parcels, found without their PDF, were cancelled"
NOT_CANCELLED = "its parcels were found without their PDF, and could not be cancelled"
logger = logging.getLogger("labels.reconciling")


def reconcile(is_stopping: Callable[[], bool] = lambda: False) -> Counter[str]:
    """Take up every label that no process works on, the oldest first, until stopped; return their number by state."""
    states: Counter[str] = Counter()
    for label_id in list(ShippingLabel.objects.interrupted().order_by("leased_until").values_list("id", flat=True)):
        if is_stopping():
            break
        label = take(label_id)
        if label is None:
            continue
        try:
            with calls_for(label.id):
                settle(label)
        except Exception:  # one label's failure must not keep the others waiting; it is tried again after its lease
            logger.exception("label not reconciled", extra={"label": label.id})
            label.refresh_from_db(fields=["state"])  # the new state may not be written
        else:
            logger.info("label reconciled", extra={"label": label.id, "state": label.state})
        states[label.state] += 1
    return states


def take(label_id: str) -> ShippingLabel | None:
    """Lease a label; None if another process was faster or it is over."""
    taken = ShippingLabel.objects.interrupted().filter(id=label_id).update(leased_until=lease())
    return ShippingLabel.objects.get(id=label_id) if taken else None


def settle(label: ShippingLabel) -> None:
    """Bring a label as far as possible now."""
    if label.state == LabelState.RECEIVED:
        store(label)
    elif label.state == LabelState.CANCELLING:
        cancel_again(label)
    elif label.reservation_number or client(label.carrier_code).can_be_asked:
        ask(label)
    else:
        hold(label)


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
    if not own.update(leased_until=timezone.now() + ASK_AGAIN_AFTER):
        return
    if label.state == LabelState.PURCHASING:
        outcomes.fail(label, OutcomeUnknown(label.carrier_code, "the purchase was interrupted"))


def ask(label: ShippingLabel) -> None:
    """Fetch the PDF by the reservation number or, without one, look for the parcels by the carrier's reference."""
    contract = CarrierContract.objects.find(shop_id=label.shop_id, carrier_code=label.carrier_code)
    if contract is None:
        hold(label)
        return
    carrier = client(label.carrier_code)
    try:
        credentials = contract.credentials
        connection.close()
        if label.reservation_number:
            fetch(label, carrier, credentials)
            return
        asked_at = timezone.now()
        found = carrier.find_by_reference(label.id, credentials)
        if numbers := all_numbers(label, found):
            cancel_found(label, carrier, credentials, numbers)
        elif found:
            found_in_part(label, found)
        else:
            not_found(label, contract, asked_at)
    except (CarrierError, UnreadableSecretError) as error:
        logger.warning("carrier not asked", extra={"label": label.id, "reason": type(error).__name__})
        hold(label)


def fetch(label: ShippingLabel, carrier: Carrier, credentials: Credentials) -> None:
    """Finish a label whose numbers and reservation came without its PDF."""
    pdf = carrier.fetch_label(label.reservation_number, credentials)
    purchased = PurchasedLabel(tuple(label.tracking_numbers), pdf, reservation_number=label.reservation_number)
    outcomes.keep(label, purchased)
    store(label)


def cancel_found(label: ShippingLabel, carrier: Carrier, credentials: Credentials, numbers: tuple[str, ...]) -> None:
    """Cancel parcels that have no PDF and can get none; the purchase counts as not made when all are cancelled.

    What can't be cancelled is left to a person with its numbers, and tried again for an hour: the carrier may know a
    parcel by its reference before it can cancel it.
    """
    if not cancelling.begin_for_found(label):
        return
    is_over = label.is_cancellation_overdue
    if is_over or cancelling.cancel_parcels(label, carrier, credentials, numbers):
        outcomes.fail(label, OutcomeUnknown(label.carrier_code, NOT_CANCELLED, made_numbers=numbers))
        hold(label)
    else:
        outcomes.fail(label, CarrierUnavailable(label.carrier_code, CANCELLED))


def not_found(label: ShippingLabel, contract: CarrierContract, asked_at: datetime) -> None:
    """Fail a purchase that its carrier does not know after a wait longer than any purchase takes.

    Hold it where a number is known, or where the contract has changed since: it may have been bought on the old one.
    """
    wait_s = max(settings.RECONCILE_WAIT_S, settings.CARRIER_TIMEOUT + settings.LEASE_MARGIN_S)
    is_early = asked_at < label.created_at + timedelta(seconds=wait_s)
    if is_early or label.tracking_numbers or contract.updated_at > label.created_at:
        hold(label)
        return
    outcomes.fail(label, CarrierUnavailable(label.carrier_code, "the purchase was interrupted, and nothing was made"))


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
