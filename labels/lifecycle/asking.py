"""Asks a carrier about one label at a person's request, as the reconciliation does when the label is due."""

import logging

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet

from carriers.observer import calls_for
from labels.lifecycle import reconciling
from labels.lifecycle.bulkhead import BulkheadFullError, bulkhead
from labels.lifecycle.decisions import DecisionError, NotOpenError
from labels.models import LabelState, ShippingLabel, lease
from labels.pdfs.storage import StorageError
from shops.audit.models import Action
from shops.audit.recording import record
from shops.contracts.clients import client
from shops.contracts.models import CarrierContract
from shops.db import clock

logger = logging.getLogger("labels.asking")


def can_be_asked(label: ShippingLabel) -> bool:
    """Tell if its carrier can say what became of the label, and is still to be asked."""
    if label.state == LabelState.CANCELLING:
        return not label.is_cancellation_overdue
    is_open = label.state in {LabelState.PURCHASING, LabelState.UNKNOWN}
    return is_open and bool(label.reservation_number or client(label.carrier_code).can_be_asked)


def free_rows(label: ShippingLabel) -> QuerySet[ShippingLabel]:
    """Return a query for the label's row if it is still in its state, and no process works on it.

    A process at work holds a lease that ends at `lease()` at the latest; a later end is when the reconciliation is due.
    """
    now = clock.now()
    is_free = Q(leased_until__lt=now) | Q(leased_until__gt=lease(now))
    rows: QuerySet[ShippingLabel] = ShippingLabel.objects.filter(is_free, id=label.id, state=label.state)
    return rows


def ask_now(*, label: ShippingLabel, asked_by: AbstractBaseUser) -> ShippingLabel:
    """Take the label up as the reconciliation does; return it as it is then. Raise DecisionError."""
    if not can_be_asked(label):
        raise NotOpenError
    if not CarrierContract.objects.filter(shop=label.shop_id, carrier_code=label.carrier_code).exists():
        raise DecisionError(f"The shop has no {label.carrier_code} contract any more, so the carrier can't be asked.")
    if clock.is_host_off():
        raise DecisionError("This host's clock is off, so it settles no label. See the runbook.")
    try:
        with bulkhead.enter(label.carrier_code), calls_for(label.id):
            settle(label)
    except BulkheadFullError as error:
        raise DecisionError(f"Too many requests wait for {label.carrier_code} now.") from error
    asked = ShippingLabel.objects.get(id=label.id)
    record(Action.CHANGED, label, changes={"state": [label.state, asked.state]}, asked=label.carrier_code)
    logger.info("label asked about", extra={"label": label.id, "state": asked.state, "user": asked_by.pk})
    return asked


def settle(label: ShippingLabel) -> None:
    if not free_rows(label).update(leased_until=lease()):
        raise NotOpenError
    taken = ShippingLabel.objects.get(id=label.id)
    try:
        reconciling.settle(taken)
    except StorageError as error:  # it may hold what was bought: nothing is known without it
        reconciling.hold(taken)
        raise DecisionError("The storage can't be reached, and may hold the label. Try again later.") from error
