"""A shop's customer, found by e-mail and from there by order and number: exported and erased, by command and page."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from django.core.management.base import CommandError
from django.db import models, transaction
from django.utils.translation import gettext, ngettext

from config import erasures
from labels.models import ShippingLabel
from labels.pdfs.storage import StorageError
from labels.personal_data import erasure as label_erasure
from parcels.importing.numbers import are_of_one_time, lock_imports, lock_shop
from parcels.models import Parcel, TrackingNumber
from parcels.personal_data import erasure as parcel_erasure
from shops.db.bulk import batches
from shops.models import Shop
from shops.personal_data import Traces
from shops.staff.audit.models import Action
from shops.staff.audit.recording import Shown, record


class CustomerError(CommandError):
    """Nothing was exported or erased, or not all; it says why, as the error of a command and on the page."""


def lines(parcels: int, labels: int, pdfs: int) -> list[str]:
    return [
        ngettext("{count} parcel", "{count} parcels", parcels).format(count=parcels),
        ngettext("{count} label", "{count} labels", labels).format(count=labels),
        ngettext("{count} PDF", "{count} PDFs", pdfs).format(count=pdfs),
    ]


def done(pdfs: int) -> str:
    return gettext("only some PDFs were removed") if pdfs else gettext("nothing was changed")


def unreachable(error: StorageError, *, pdfs: int) -> CustomerError:
    text = gettext("the storage can't be reached ({error}): {done}; run it again")
    return CustomerError(text.format(error=error, done=done(pdfs)))


@dataclass(frozen=True)
class Customer:
    """All that is held of a customer: the ids of his parcels and labels."""

    shop_id: str
    email: str
    parcels: list[str]
    labels: list[str]

    @classmethod
    def find(cls, shop_id: str, email: str) -> Self:
        """Find a customer; raise CustomerError for a shop that does not exist and an e-mail that is none."""
        if not Shop.objects.filter(id=shop_id).exists():
            raise CustomerError(gettext("SHOP_ID: there is no shop {shop!r}").format(shop=shop_id))
        if not (email := email.strip()):
            raise CustomerError("EMAIL: needs an e-mail address")
        parcels = by_id(parcel_erasure.parcels_of(shop_id, email))
        labels = by_id(label_erasure.labels_of(shop_id, email))
        follow(shop_id, parcels, labels)
        return cls(shop_id, email, sorted(parcels), sorted(labels))

    def counts(self, pdfs_before: int = 0) -> list[str]:
        """Count what would be erased; raise CustomerError if it can't be yet, or not all of it any more."""
        if waiting := label_erasure.not_over(self.labels):
            text = gettext("{done}: settle or decide these labels first: {labels}")
            raise CustomerError(text.format(done=done(pdfs_before), labels=", ".join(waiting)))
        return lines(len(self.parcels), len(self.labels), len(list(label_erasure.with_pdf(self.labels))))

    def search(self) -> list[str]:
        """Count what would be erased, on record; raise CustomerError if it can't be yet."""
        counts = self.counts()
        self.record(Action.SEARCHED, hits=len(self.parcels) + len(self.labels))
        return counts

    def erase(self, pdfs_before: int = 0) -> list[str]:
        """Erase all of it, and what an import or a purchase that runs brings, on record, first in the journal.

        Raise CustomerError. `pdfs_before` were removed before it was found out that there is more.
        """
        with transaction.atomic():
            lock_imports(self.shop_id)
        latest = self.find(self.shop_id, self.email)
        latest.counts(pdfs_before)
        try:
            label_erasure.require_storage(latest.labels)
            erasures.note(self.shop_id, {*latest.parcels, *latest.labels})
        except StorageError as error:
            raise unreachable(error, pdfs=pdfs_before) from None
        return latest.remove(pdfs_before)

    def remove(self, pdfs_before: int = 0) -> list[str]:
        """Erase what is not erased yet; raise CustomerError.

        PDFs go first, then all rows in one transaction: a run that is killed in between can be repeated, as the rows
        still have the e-mail. `parcels.personal_data` and `labels.personal_data` say which data is kept, and why.
        """
        try:
            label_erasure.await_receipts(self.labels)
            pdfs = pdfs_before + sum(map(label_erasure.remove_pdf, label_erasure.with_pdf(self.labels)))
            blanked = label_erasure.blank_receipts(self.labels)
            with transaction.atomic():
                # First: what changes a label locks it before imports and parcels.
                labels = label_erasure.erase(self.labels)
                label_erasure.blank_receipts(self.labels, blanked)  # now that nobody changes a label
                lock_imports(self.shop_id)
                lock_shop(self.shop_id)  # a label's parcel takes the customer's fields from another one of the order
                has_more = bool(self.email) and self.has_more()
                parcels = parcel_erasure.erase(self.parcels)
                is_all = not self.email or (labels == len(self.labels) and not has_more)
                if is_all:
                    self.record(Action.REMOVED, parcels=parcels, labels=labels, pdfs=pdfs)
                transaction.set_rollback(not is_all)
        except StorageError as error:
            raise unreachable(error, pdfs=1) from None  # those before the one that stays
        if not is_all:
            return self.erase(pdfs)
        return lines(parcels, labels, pdfs)

    def has_more(self) -> bool:
        """Return whether there are further parcels by now; to look for further labels by e-mail would take too long."""
        parcels = by_id(parcel_erasure.parcels_of(self.shop_id, self.email))
        labels = by_id(label_erasure.labels_with(self.shop_id, ids=self.labels))
        follow(self.shop_id, parcels, labels)
        return not parcels.keys() <= {*self.parcels}

    def held(self) -> dict[str, Any]:
        """Return all that is held, as JSON has it, on record."""
        held = {
            "shopId": self.shop_id,
            "email": self.email,
            "parcels": rows(Parcel, self.parcels),
            "trackingNumbers": rows(TrackingNumber, self.parcels, "parcel"),
            "labels": rows(ShippingLabel, self.labels),
            "pdfs": [label.pdf_key for label in label_erasure.with_pdf(self.labels)],
        }
        shown = [Shown(each, self.email) for each in (*self.parcels, *self.labels)]
        self.record(Action.EXPORTED, shown=shown, parcels=len(self.parcels), labels=len(self.labels))
        return held

    def record(self, action: Action, **facts: Any) -> None:
        record(action, shop_id=self.shop_id, customer_email=self.email, kind="customer", **facts)


def follow(shop_id: str, parcels: dict[str, Traces], labels: dict[str, Traces]) -> None:
    """Add the parcels and labels of the same orders and with the same numbers, until there are no more.

    A number that was given out again since is another customer's.
    """
    orders: set[str] = set()
    numbers: set[tuple[str, int]] = set()

    def is_theirs(each: Traces) -> bool:
        times = (at for number in each.numbers for at in times_of.get(number, ()))
        return each.order_id in orders or any(are_of_one_time(each.created_at, at) for at in times)

    while True:
        found = [*parcels.values(), *labels.values()]
        new_orders = {each.order_id for each in found} - orders - {""}
        new_numbers = {(number, each.created_at) for each in found for number in each.numbers if number} - numbers
        if not (new_orders or new_numbers):
            return
        orders |= new_orders
        numbers |= new_numbers
        times_of: defaultdict[str, list[int]] = defaultdict(list)
        for number, at in new_numbers:
            times_of[number].append(at)
        new = {"order_ids": new_orders, "numbers": {*times_of}}
        parcels |= by_id(filter(is_theirs, parcel_erasure.parcels_with(shop_id, **new)))
        labels |= by_id(filter(is_theirs, label_erasure.labels_with(shop_id, **new)))


def by_id(found: Iterable[Traces]) -> dict[str, Traces]:
    return {each.id: each for each in found}


def rows(model: type[models.Model], ids: Any, key: str = "pk") -> list[dict[str, Any]]:
    """Return the rows with all their columns but a PDF and what repeats other columns, in the order of ids."""
    columns = [
        field.attname
        for field in model._meta.concrete_fields
        if not (field.generated or isinstance(field, models.BinaryField))
    ]
    found = model._default_manager.order_by("pk")
    return [row for batch in batches(ids) for row in found.filter(**{f"{key}__in": batch}).values(*columns)]
