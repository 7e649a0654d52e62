"""Asks carriers for deposit slips of labels: one slip for each account, in calls of as many parcels as are taken."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from django.db import transaction
from django.utils.translation import gettext

from carriers import CARRIERS
from carriers.client import Service
from carriers.errors import CarrierError, CarrierUnavailable, RequestRejected
from carriers.shipment import DepositSlip as MadeSlip
from labels.lifecycle.db_retry import with_db_retry
from labels.models import LabelState, ShippingLabel
from labels.pdfs import storage
from labels.personal_data.columns import REFUSAL
from labels.slips.models import DepositSlip
from shops.contracts.bulkhead import BulkheadFullError, NotAskedError
from shops.contracts.conversation import Conversation, conversation_about
from shops.db import clock
from shops.staff.audit.models import Action
from shops.staff.audit.recording import current_actor, record

TIME_LIMIT_S = 60.0  # no further call is begun after it
NOT_REACHED = (BulkheadFullError, CarrierUnavailable)  # the next call would not reach the carrier either
logger = logging.getLogger("labels.slips")


def why_not(label: ShippingLabel) -> str:
    """Return the reason why a label is on no deposit slip, empty for one that can be."""
    if not CARRIERS[label.carrier_code].max_slip_parcels:
        return gettext("{carrier_code} makes no deposit slips").format(carrier_code=label.carrier_code)
    if label.shop.is_test:
        return gettext("is a test shop's, and is handed in nowhere")
    if label.state != LabelState.GENERATED:
        return gettext("is not bought, or is cancelled")
    return gettext("has no PDF any more") if label.pdf_removed_at else ""


def make(labels: Sequence[ShippingLabel]) -> list[DepositSlip]:
    """Ask for the slips of these labels, which can be on one; return those asked for, refused ones too."""
    ends_at, slips = time.monotonic() + TIME_LIMIT_S, []
    for batch in batches(labels):
        first = batch[0]
        slip = DepositSlip(
            shop_id=first.shop_id,
            carrier_code=first.carrier_code,
            account_number=first.account_number,
            label_ids=[label.id for label in batch],
            tracking_numbers=[number for label in batch for number in label.tracking_numbers],
            asked_by=current_actor.get().name,
        )
        add(slip)
        slips.append(slip)
        try:
            slips += ask(slip, batch, ends_at)
        except NOT_REACHED:
            break
        if time.monotonic() > ends_at:
            break
    return slips


@transaction.atomic
def add(slip: DepositSlip) -> None:
    slip.save()
    record(Action.ADDED, slip, parcels=len(slip.tracking_numbers))


def batches(labels: Sequence[ShippingLabel]) -> Iterator[list[ShippingLabel]]:
    """Divide labels by account, then by the parcels that a call takes; a label's parcels stay together."""
    accounts: dict[tuple[str, str, str], list[ShippingLabel]] = {}
    for label in labels:
        accounts.setdefault((label.shop_id, label.carrier_code, label.account_number), []).append(label)
    for (_, carrier_code, _), own in accounts.items():
        batch: list[ShippingLabel] = []
        limit, count = CARRIERS[carrier_code].max_slip_parcels, 0
        for label in own:
            if batch and count + len(label.tracking_numbers) > limit:
                yield batch
                batch, count = [], 0
            batch.append(label)
            count += len(label.tracking_numbers)
        yield batch


def ask(slip: DepositSlip, labels: Sequence[ShippingLabel], ends_at: float) -> list[DepositSlip]:
    """Ask the carrier, and keep what it answers; return the refused row of the parcels that are left out, if any.

    Raise one of NOT_REACHED, which is kept as the others.
    """
    own = ShippingLabel.objects.filter(id__in=slip.label_ids)
    if own.exclude(state=LabelState.GENERATED, pdf_removed_at=None).exists():
        save_answer(slip, refusal=gettext("One of these labels was cancelled, or its PDF was removed, meanwhile."))
        return []
    try:
        with conversation_about(slip, Service.DEPOSIT_SLIPS) as talk:
            made, wrong = ask_without_wrong(slip.tracking_numbers, talk, ends_at)
    except (NotAskedError, CarrierError) as error:
        save_answer(slip, refusal=error.sentence if isinstance(error, NotAskedError) else str(error))
        if isinstance(error, NOT_REACHED):
            raise
        return []
    if made is None:
        save_answer(slip, refusal="\n".join(wrong.values()))
        return []
    rest = [leave_out(slip, labels, wrong)] if wrong else []
    listed = {"label_ids": slip.label_ids, "tracking_numbers": slip.tracking_numbers}
    save_answer(slip, **listed, number=made.number, published_at=made.published_at, pdf=made.pdf)
    for refused in rest:
        if slip.pdf_removed_at:
            refused.refusal = REFUSAL.left
        with_db_retry(partial(add, refused))
    record(Action.CHANGED, slip, number=made.number, parcels=len(slip.tracking_numbers))
    with suppress(storage.StorageError):  # opening it stores it later
        store(slip)
    return rest


def ask_without_wrong(
    numbers: Sequence[str], talk: Conversation, ends_at: float
) -> tuple[MadeSlip | None, dict[str, str]]:
    """Take each number out that the carrier names, and ask again; return the slip, and why those are not on it."""
    wrong: dict[str, str] = {}
    while left := [number for number in numbers if number not in wrong]:
        try:
            return talk.carrier.deposit_slip(left, talk.credentials), wrong
        except RequestRejected as error:
            if error.parcel_number not in left:
                raise
            wrong[error.parcel_number] = str(error)
        if time.monotonic() > ends_at:
            break
    return None, wrong


def leave_out(slip: DepositSlip, labels: Sequence[ShippingLabel], wrong: dict[str, str]) -> DepositSlip:
    """Take parcels off the slip, and labels that have no other; return a refused row of them, not saved yet."""
    refused = DepositSlip(
        shop_id=slip.shop_id,
        carrier_code=slip.carrier_code,
        account_number=slip.account_number,
        label_ids=[label.id for label in labels if wrong.keys() & set(label.tracking_numbers)],
        tracking_numbers=list(wrong),
        asked_by=slip.asked_by,
        refusal="\n".join(wrong.values()),
    )
    slip.label_ids = [label.id for label in labels if set(label.tracking_numbers) - wrong.keys()]
    slip.tracking_numbers = [number for number in slip.tracking_numbers if number not in wrong]
    return refused


def save_answer(slip: DepositSlip, **answer: object) -> None:
    """Write the carrier's answer to the row, which exists: a slip can't be fetched again.

    Its PDF and the carrier's words are left out where a label's PDF was removed meanwhile.
    """
    row = DepositSlip.objects.filter(id=slip.id)
    if not with_db_retry(lambda: row.filter(pdf_removed_at=None).update(**answer)):
        refusal = REFUSAL.left if answer.get("refusal") else ""
        answer |= {"pdf": None, "refusal": refusal, "pdf_removed_at": clock.now()}
        with_db_retry(lambda: row.update(**answer))
    for name, value in answer.items():
        setattr(slip, name, value)
    logger.info("deposit slip asked for", extra={"slip": slip.id, "state": slip.state})


def store(slip: DepositSlip) -> None:
    """Move the PDF from the row to the storage. Raise StorageError."""
    if slip.pdf is not None:
        storage.write(slip.pdf_key, bytes(slip.pdf))
        if not DepositSlip.objects.filter(id=slip.id, pdf_removed_at=None).update(pdf=None):
            storage.delete(slip.pdf_key)


def remove_pdfs(label: ShippingLabel) -> None:
    """Remove the PDFs of all slips that list a label: they show its recipient. Raise StorageError.

    One that is still asked for, or being stored, is not kept.
    """
    for slip in DepositSlip.objects.listing(label.id).filter(pdf_removed_at=None).defer("pdf"):
        storage.delete(slip.pdf_key)
        DepositSlip.objects.filter(id=slip.id).update(pdf=None, pdf_removed_at=clock.now())
        storage.delete(slip.pdf_key)
