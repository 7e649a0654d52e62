"""The purchase of a label: reserve, call, keep, store, finish; each step committed before the next begins.

All of it is one conversation with the carrier, which begins first. An order that the bulkhead or an open circuit
breaker refuses costs next to nothing, and nothing is written of it.

A label is never lost and never bought twice. Its row is committed before the carrier is called, with the id that the
carrier keeps as its reference. What the carrier gave is in the database before anything else is done with it. An
interrupted purchase stays visible, to `labels.lifecycle.reconciling` and to the staff.
"""

import logging
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists

from carriers.base import Carrier
from carriers.client import Service, calls_for
from carriers.errors import CarrierError, CarrierUnavailable, NotWritten, OutcomeUnknown, Rejected
from carriers.http.connections import Deadline
from carriers.shipment import PurchasedLabel, Shipment
from labels import metrics
from labels.idempotency import IdempotencyKey
from labels.ids import new_label_id
from labels.lifecycle import outcomes
from labels.lifecycle.db_retry import OrderWait, held_up, retry_deadline
from labels.lifecycle.errors import LabelError, PurchaseFailedError
from labels.models import LabelState, ShippingLabel
from labels.orders import beginning, check_customs, check_product, completed, credentials_on, new_label, shipment
from labels.pdfs import receipts
from shops import spans
from shops.api.errors.coded import (
    IDEMPOTENCY_KEY_IN_PROGRESS,
    IDEMPOTENCY_KEY_REUSED,
    LABEL_BEING_CANCELLED,
    LABEL_CANCELLED,
    BusyError,
    CarrierFailedError,
)
from shops.api.errors.exceptions import ApiError
from shops.contracts.bulkhead import BulkheadFullError, KeyInUseError, bulkhead
from shops.contracts.conversation import Conversation, conversation
from shops.contracts.models import CarrierContract, of_a_carrier
from shops.db import clock
from shops.db.bulk import PreparedInsert
from shops.db.failures import DATABASE_ERRORS, is_away, is_disk_full
from shops.db.prepared import PreparedQuery, argument

logger = logging.getLogger("labels.purchase")
# The shop's contract with a carrier, and true at the end of its row where the key has a row.
LOOK_UP = PreparedQuery(
    lambda: of_a_carrier().annotate(
        is_key_used=Exists(
            ShippingLabel.objects.for_shop(argument("shop")).filter(idempotency_key=argument("key")).order_by()
        )
    )
)
INSERT = PreparedInsert(
    ShippingLabel,
    'ON CONFLICT ("shop_id", "idempotency_key") WHERE "idempotency_key" IS NOT NULL DO NOTHING RETURNING {now}',
)


def buy(  # noqa: PLR0913 - an order and all that it came with, by name
    *,
    shop_id: str,
    order: dict[str, Any],
    sender_address: dict[str, str] | None = None,
    key: IdempotencyKey | None = None,
    token_id: str = "",
    wait: OrderWait | None = None,
) -> tuple[ShippingLabel, bool]:
    """Buy a label, or find the one bought before with the same key; the second value is true if it was found.

    `order` is the validated body, `sender_address` the shop's own. Raise ApiError, ValidationError for an order without
    a sender, or the database's error where it stays away: this request has bought nothing then.
    """
    wait = wait or OrderWait()
    earlier, found = wait.run(lambda: look_up(shop_id, order["carrier_code"], key))
    if key and earlier:
        return replay(earlier, key), True
    order = completed(order, sender_address)
    contract = check_product(found, order["product_code"])
    try:
        label = buy_new(contract=contract, order=order, key=key, token_id=token_id, wait=wait)
    except ApiError as error:
        # Nothing was written, and another request with the key may have left a row by now.
        if key and not isinstance(error, LabelError) and (earlier := find_earlier(shop_id, key)):
            return replay(earlier, key), True
        raise
    return bought(label), False  # others may have cancelled it by now


def look_up(
    shop_id: str, carrier_code: str, key: IdempotencyKey | None
) -> tuple[ShippingLabel | None, CarrierContract | None]:
    """Find what the shop ordered with the key before, and its contract with the carrier."""
    row = next(iter(LOOK_UP.rows(shop=shop_id, carrier=carrier_code, key=key and key.value)), None)
    is_key_used = row is None or row[-1]
    earlier = find_earlier(shop_id, key) if key and is_key_used else None
    return earlier, CarrierContract.with_mode(row[:-1]) if row else None


def buy_new(
    *, contract: CarrierContract, order: dict[str, Any], key: IdempotencyKey | None, token_id: str, wait: OrderWait
) -> ShippingLabel:
    """Buy the label of an order that has its sender; raise ApiError, LabelError once its row was written."""
    carrier_code = contract.carrier_code
    is_held_up = bulkhead.is_patient
    try:
        # What can fail here without the carrier fails before there is a row, which would have to be explained.
        credentials = credentials_on(contract, order["product_code"])
        with conversation(contract, credentials, Service.SHIPPING, key=key and (contract.shop_id, key.value)) as talk:
            label = new_label(contract=contract, order=order, key=key, token_id=token_id)
            ordered = shipment(label, contract)
            check_customs(talk.carrier, ordered, credentials)
            return place(label, ordered, talk, wait)
    except KeyInUseError as error:
        raise ApiError(IDEMPOTENCY_KEY_IN_PROGRESS) from error
    except BulkheadFullError as error:
        if is_held_up:
            raise held_up(error) from error
        if not contract.is_test:
            metrics.TURNED_AWAY.labels(carrier_code).inc()
        raise CarrierFailedError(BusyError(carrier_code, "too many purchases at a time")) from error
    except (CarrierUnavailable, Rejected) as error:
        raise CarrierFailedError(error) from error


def find_earlier(shop_id: str, key: IdempotencyKey) -> ShippingLabel | None:
    label: ShippingLabel | None = ShippingLabel.objects.for_shop(shop_id).filter(idempotency_key=key.value).first()
    return label


def replay(label: ShippingLabel, key: IdempotencyKey) -> ShippingLabel:
    """Answer a repeated request from the row of the first one, without the carrier."""
    if label.body_digest != key.body_digest:
        raise ApiError(IDEMPOTENCY_KEY_REUSED)
    return bought(label)


def bought(label: ShippingLabel) -> ShippingLabel:
    """Return the label that the row says is bought; raise ApiError by its state."""
    match label.state:
        case LabelState.GENERATED:
            return label
        case LabelState.CANCELLING | LabelState.CANCEL_UNKNOWN:
            raise LabelError(LABEL_BEING_CANCELLED, label)
        case LabelState.CANCELLED:
            raise LabelError(LABEL_CANCELLED, label)
        case LabelState.RECEIVED:
            return finish_again(label)
        case LabelState.PURCHASING if label.is_leased:
            raise ApiError(IDEMPOTENCY_KEY_IN_PROGRESS)
        case LabelState.PURCHASING:
            outcomes.set_error(label, OutcomeUnknown(label.carrier_code, "the purchase was interrupted"))
    raise PurchaseFailedError(label)


def finish_again(label: ShippingLabel) -> ShippingLabel:
    """Finish a label that waits for the storage, within the bulkhead; raise ApiError."""
    try:
        with bulkhead.enter(label.carrier_code, is_test=label.shop.is_test):
            # Stored by another meanwhile, or cancelled since, it has no PDF left to publish.
            latest = ShippingLabel.objects.row_of(label).get()
            return bought(outcomes.publish(latest, is_leased=False))
    except BulkheadFullError:
        raise LabelError(IDEMPOTENCY_KEY_IN_PROGRESS, label) from None


@spans.step("order")
def place(label: ShippingLabel, ordered: Shipment, talk: Conversation, wait: OrderWait) -> ShippingLabel:
    """Reserve the label, then purchase it; raise KeyInUseError, before anything is written, or ApiError."""
    try:
        reserve(label)
    except DATABASE_ERRORS as error:
        if not is_away(error):
            raise
        wait.retry(lambda: reserve_again(label))
    receipts.try_to_write(label)
    return purchase(label, replace(ordered, id=label.id), talk)


@spans.step("reserve")
def reserve(label: ShippingLabel) -> None:
    """Commit the row before the carrier is called; raise KeyInUseError, or ApiError where there is no room for it."""
    try:
        is_inserted = bool(clock.followed(INSERT.start, label))
    except DATABASE_ERRORS as error:
        if is_disk_full(error):
            raise held_up(error) from error
        raise
    if not is_inserted:
        raise KeyInUseError


def reserve_again(label: ShippingLabel) -> None:
    """Reserve a label as of now, after its reservation raised, and remove what may have been written of it.

    Its COMMIT may have succeeded, or may succeed yet. Writing the same id again waits for it, so afterwards there is a
    row to remove, and none can appear any more.
    """
    with suppress(IntegrityError), transaction.atomic():
        label.save(force_insert=True)
    ShippingLabel.objects.row_of(label).delete()
    label.created_at, label.leased_until = beginning(label.carrier_code, len(label.weights_kg))
    label.id = new_label_id(label.created_at)
    reserve(label)


def purchase(label: ShippingLabel, ordered: Shipment, talk: Conversation) -> ShippingLabel:
    """Call the carrier, save and store what it gives, and count the outcome."""
    try:
        purchased = call(label, ordered, talk)
        deadline = retry_deadline()
        outcomes.save_received(label, purchased, deadline=deadline)
        return outcomes.publish(label, deadline=deadline)
    except DATABASE_ERRORS as error:  # the carrier was asked: nobody may take the order for one that was not begun
        outcomes.set_error(label, OutcomeUnknown(label.carrier_code, "what came of it could not be read"))
        raise PurchaseFailedError(label) from error
    finally:
        if not talk.is_test:
            metrics.PURCHASES.labels(label.carrier_code, label.state).inc()


@spans.step("carrier")
def call(label: ShippingLabel, ordered: Shipment, talk: Conversation) -> PurchasedLabel:
    """Ask the carrier; a failure is on the row before it is raised."""
    try:
        with calls_for(label.id):
            return talk.carrier.create_label(ordered, talk.credentials, deadline_within_lease(label, talk.carrier))
    except NotWritten as error:  # answered and counted as any fault of ours
        outcomes.fail_during_request(label, error)
        raise (error.__cause__ or error) from None
    except CarrierError as error:
        raise outcomes.fail_during_request(label, error) from error
    except Exception as error:  # a fault of ours, maybe after the carrier was asked
        logger.exception("purchase broken off", extra={"label": label.id})
        failure = OutcomeUnknown(label.carrier_code, "the purchase was broken off")
        raise outcomes.fail_during_request(label, failure) from error


def deadline_within_lease(label: ShippingLabel, carrier: Carrier) -> Deadline:
    """Begin the carrier's deadline; raise CarrierUnavailable if the lease might end before it.

    After the lease another process may find that nothing was made, and the key may buy another label. The deadline
    begins before the check, so a process that is suspended after it finds its time over, and sends nothing. The
    database was last asked for the time when the row was inserted.
    """
    seconds = settings.CARRIER_TIMEOUT * carrier.call_count(len(label.weights_kg))
    deadline = Deadline(seconds)
    time_needed = timedelta(seconds=seconds + settings.LEASE_MARGIN_S / 2)
    try:
        is_late = clock.upper_bound_now() + time_needed > label.leased_until
    except DATABASE_ERRORS as error:
        raise CarrierUnavailable(label.carrier_code, "the service could not check its lease") from error
    if is_late:
        raise CarrierUnavailable(label.carrier_code, "the service was too slow to ask it")
    return deadline
