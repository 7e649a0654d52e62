"""Cancels bought labels, and parcels that were found without their PDF.

The request is committed before the carrier is asked, and each parcel that it cancelled before the next: whatever is
interrupted is repeated, for an hour from the request, and then it is a person's.
"""

import logging
from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction

from carriers.base import Carrier
from carriers.errors import CancellationRefused, CarrierError
from carriers.observer import calls_for
from carriers.shipment import Credentials
from labels.lifecycle import parcels
from labels.lifecycle.bulkhead import BulkheadFullError, bulkhead
from labels.lifecycle.db_retry import with_db_retry
from labels.models import LabelState, ShippingLabel, lease
from shops.contracts.accounts import UnknownAccountError, credentials_for
from shops.contracts.clients import client
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract
from shops.db import clock

WHY_NOT = {
    LabelState.CANCELLED: "was cancelled before",
    LabelState.CANCELLING: "is being cancelled",
    LabelState.RECEIVED: "is bought, and its PDF waits for the storage: cancel it when it is stored",
}
logger = logging.getLogger("labels.cancelling")


class CancelError(Exception):
    """The label was not cancelled; `str()` says why, for staff."""


def cancel(label: ShippingLabel) -> ShippingLabel:
    """Cancel a bought label; the one that is returned is `cancelled`, or `cancelling` until the carrier can.

    Raise CancelError for a label that is not bought, or that can't be cancelled: it stays as it was.
    """
    try:
        with bulkhead.enter(label.carrier_code), calls_for(label.id):
            begun = begin(label)
            perform(begun)
    except BulkheadFullError as error:
        raise CancelError(f"too many requests wait for {label.carrier_code} now") from error
    return begun


def begin(label: ShippingLabel) -> ShippingLabel:
    """Commit the request before the carrier is asked: the shop can't retrieve the label from now on."""
    requested = {"state": LabelState.CANCELLING, "cancel_requested_at": clock.now(), "leased_until": lease()}
    with transaction.atomic():
        is_begun = ShippingLabel.objects.row_of(label).generated().update(**requested)
        if is_begun:
            parcels.withdraw(label)
    latest: ShippingLabel = ShippingLabel.objects.row_of(label).get()
    if not is_begun:
        raise CancelError(f"{label.id} {WHY_NOT.get(LabelState(latest.state), 'is not bought')}")
    return latest


def perform(label: ShippingLabel) -> None:
    """Cancel the parcels that are left of a label that is being cancelled; raise CancelError as `cancel` does."""
    carrier = client(label.carrier_code)
    if not carrier.is_cancelled_locally:
        failures = cancel_parcels(label, carrier, credentials_of(label), label.tracking_numbers)
        if failures and not label.cancelled_numbers and all(map(is_final, failures)):
            raise restored(label, str(failures[0]))
        if failures:
            return
    change_state(label, LabelState.CANCELLED)


def credentials_of(label: ShippingLabel) -> Credentials:
    """Return the credentials of the account that the label was bought on; raise CancelError."""
    contract = CarrierContract.find(shop_id=label.shop_id, carrier_code=label.carrier_code)
    if contract is None:
        raise restored(label, f"the shop has no {label.carrier_code} contract any more")
    try:
        return credentials_for(contract, label.account_number)
    except UnknownAccountError:
        raise restored(label, f"account {label.account_number}, which it was bought on, is not kept any more") from None
    except UnreadableSecretError:
        raise restored(label, "the contract's credentials can't be read: see CREDENTIALS_KEYS") from None


def restored(label: ShippingLabel, problem: str) -> CancelError:
    """Return the error, after the label is `label_generated` again, unless some of its parcels are cancelled."""
    if not label.cancelled_numbers:
        change_state(label, LabelState.GENERATED, cancel_requested_at=None)
    return CancelError(f"{label.id} is not cancelled: {problem}")


def change_state(label: ShippingLabel, state: LabelState, **fields: Any) -> None:
    """Write how a cancellation ended, unless a person has decided it meanwhile."""
    own = ShippingLabel.objects.row_of(label).filter(state=LabelState.CANCELLING)
    if with_db_retry(lambda: parcels.save_end(own, label, state=state, **fields)):
        label.state = state
        logger.info("label cancellation ended", extra={"label": label.id, "state": state})


def is_final(error: CarrierError) -> bool:
    return isinstance(error, CancellationRefused) and not error.may_be_too_early


def begin_for_found(label: ShippingLabel) -> bool:
    """Commit that an interrupted purchase's parcels are cancelled: an answer that comes late is not kept any more.

    False where this process has lost the lease.
    """
    requested_at = label.cancel_requested_at or clock.now()
    own = ShippingLabel.objects.row_of(label).filter(state=label.state, leased_until=label.leased_until)
    label.cancel_requested_at = requested_at
    return bool(own.filter(decided_at=None).update(cancel_requested_at=requested_at))


def cancel_parcels(
    label: ShippingLabel, carrier: Carrier, credentials: Credentials, numbers: Sequence[str]
) -> list[CarrierError]:
    """Cancel each parcel that is not cancelled yet; return the failures. A carrier that fails is not asked on."""
    failures: list[CarrierError] = []
    for number in numbers:
        if number in label.cancelled_numbers:
            continue
        connection.close()
        try:
            carrier.cancel(number, credentials)
        except CarrierError as error:
            logger.warning("parcel not cancelled", extra={"label": label.id, "number": number, "reason": error.code})
            failures.append(error)
            if not isinstance(error, CancellationRefused):
                break
        else:
            record(label, number)
    return failures


def record(label: ShippingLabel, number: str) -> None:
    """Record that a parcel is cancelled, and renew the lease: a hundred parcels take a while."""
    label.cancelled_numbers = [*label.cancelled_numbers, number]
    label.leased_until = lease()
    facts = {"cancelled_numbers": label.cancelled_numbers, "leased_until": label.leased_until}
    with_db_retry(lambda: ShippingLabel.objects.row_of(label).update(**facts))
