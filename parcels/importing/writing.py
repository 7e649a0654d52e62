"""Writes imported parcels with their numbers, in batches, and keeps the story of each parcel one."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from parcels.importing.numbers import are_of_one_time, lock_numbers, number_rows, own_numbers
from parcels.models import Parcel, ParcelNumber, ParcelTracking
from parcels.tracking.changes import StatusChange, status_changed
from parcels.tracking.events import milliseconds
from parcels.tracking.reporting import CHANGED_FIELDS, follow, give_up, has_carriers_word, settle, take_over
from parcels.tracking.story import STORY_FIELDS
from shops.db import bulk
from shops.db.batches import MAX_VALUES, batches

# An update never moves a parcel to another shop.
UPDATED_FIELDS = [
    f.name for f in Parcel._meta.concrete_fields if f.name not in {"id", "shop", "imported_at"} and not f.generated
]
NUMBER_FIELDS = ("tracking_id", "tracking_numbers", "created_at")  # those that the rows of its numbers are made of
BEFORE_FIELDS = ("id", "imported_at", "updated_at", *NUMBER_FIELDS, *STORY_FIELDS)
NUMBER_COLUMNS = ("shop_id", "number", "parcel_id", "created_at")
# Clocks of different hosts differ by less.
CLOCK_MARGIN = timedelta(hours=1)


class TakenError(Exception):
    """Another import, of this shop or another one, took one of the ids meanwhile."""


def write(shop_id: str, parcels: dict[str, Parcel], known: Iterable[str], now: datetime, *, is_silent: bool) -> bool:
    """Insert or update; change nothing and return False if another import took one of the ids meanwhile.

    `known` are the ids that were there before, `parcels` are in the order of ids.
    """
    batch = Batch(shop_id, parcels, now, set(known))
    try:
        with transaction.atomic():
            batch.insert()
            batch.settle()
            batch.take_numbers()
            batch.follow()
            batch.save()
            status_changed(batch.changes(), is_silent=is_silent)
    except TakenError:
        return False
    return True


def replace_labels_meanwhile(shop_id: str, started_at: datetime, *, is_silent: bool) -> None:
    """Let the parcels of this run replace those of labels that were bought while it ran.

    Until the run's transaction ends, no further label of the shop becomes a parcel.
    """
    lock_numbers(shop_id)
    recent = ParcelTracking.objects.filter(shop=shop_id, followed_since__gte=started_at - CLOCK_MARGIN)
    labels = recent.filter(parcel__imported_at=None).exclude(label_numbers=[])
    numbers = {number for found in labels.values_list("label_numbers", flat=True) for number in found}
    for some in batches(numbers):
        own = Parcel.objects.filter(shop=shop_id, imported_at=started_at, numbers__number__in=some)
        parcels = {parcel.id: parcel for parcel in own.order_by("id")}
        if parcels:
            batch = Batch(shop_id, parcels, started_at, set(parcels))
            batch.lock()
            batch.take_numbers()
            batch.save()
            status_changed(batch.changes(), is_silent=is_silent)


def change_of(parcel: Parcel, status_before: str | None) -> StatusChange:
    return StatusChange(parcel.id, parcel.shop_id, status_before, parcel.last_status, parcel.last_status_updated_at)


def locked(ids: list[str]) -> Iterator[ParcelTracking]:
    """Lock the tracking and the parcels of these ids."""
    if ids:
        rows = ParcelTracking.objects.filter(parcel__id__in=ids).select_related("parcel").order_by("pk")
        yield from rows.select_for_update()


def newest(parcels: Iterable[Parcel]) -> Parcel:
    return max(parcels, key=lambda each: (each.created_at, each.id))


@dataclass
class Batch:
    """A batch of one shop's parcels, by id and in the order of ids, on its way into the database."""

    shop_id: str
    parcels: dict[str, Parcel]
    now: datetime
    existing: set[str]
    trackings: dict[str, ParcelTracking] = field(default_factory=dict)
    changed: dict[str, ParcelTracking] = field(default_factory=dict)
    before: dict[str, Parcel] = field(default_factory=dict)
    replaced: list[str] = field(default_factory=list)
    givers: list[ParcelTracking] = field(default_factory=list)
    givers_changes: list[StatusChange] = field(default_factory=list)

    def insert(self) -> None:
        """Insert what is new; raise TakenError if it is new no more."""
        try:
            bulk.insert([parcel for parcel in self.parcels.values() if parcel.id not in self.existing])
        except IntegrityError:
            raise TakenError from None

    def lock(self) -> None:
        """Lock the parcels that exist, with their tracking."""
        own = Parcel.objects.filter(id__in=self.existing, shop=self.shop_id).order_by("id").select_for_update()
        self.before = {parcel.id: parcel for parcel in bulk.instances(own, BEFORE_FIELDS)}
        rows = ParcelTracking.objects.filter(parcel__id__in=self.before).order_by("pk").select_for_update()
        self.trackings = {row.parcel_id: row for row in bulk.instances(rows)}

    def settle(self) -> None:
        """Give each parcel that existed its story, of the shop's newer report and what the carrier said."""
        if not self.existing:
            return
        self.lock()
        for parcel_id, before in self.before.items():
            parcel, tracking = self.parcels[parcel_id], self.trackings.get(parcel_id)
            settle(parcel, before, tracking)
            if tracking is not None and (tracking.label_numbers or has_carriers_word(tracking)):
                self.changed[parcel_id] = tracking

    def changes(self) -> Iterator[StatusChange]:
        """Yield the status of each parcel that the batch touches, and the one that it had before; none if it is new."""
        for parcel_id, parcel in self.parcels.items():
            before = self.before.get(parcel_id)
            yield change_of(parcel, None if before is None else before.last_status)
        yield from self.givers_changes

    def take_numbers(self) -> None:
        """Let each number that these parcels share with a label be of one parcel."""
        owners = self.label_owners()
        self.replace_labels([parcel_id for parcel_id, imported_at in owners.items() if imported_at is None])
        self.keep_named_numbers([parcel_id for parcel_id, imported_at in owners.items() if imported_at is not None])

    def label_owners(self) -> dict[str, datetime | None]:
        """Find the shop's other parcels that have one of these numbers, and numbers of a label; and their imports."""
        numbers = {number for parcel in self.parcels.values() for number in own_numbers(parcel)}
        owners: dict[str, datetime | None] = {}
        for some in batches(numbers, MAX_VALUES):
            found = ParcelNumber.objects.filter(shop=self.shop_id, number__in=some).order_by()
            bought = found.exclude(parcel__tracking=None).exclude(parcel__tracking__label_numbers=[])
            owners |= dict(bought.values_list("parcel", "parcel__imported_at"))
        return {parcel_id: imported_at for parcel_id, imported_at in owners.items() if parcel_id not in self.parcels}

    def replace_labels(self, ids: list[str]) -> None:
        """Let parcels that have a number of a label's parcel take its place."""
        by_number = self.by_number() if ids else {}
        for label in locked(ids):
            named = [each for number in label.label_numbers for each in by_number.get(number, ())]
            if same := [each for each in named if are_of_one_time(each, label.parcel)]:
                self.give(newest(same), label)
                self.replaced.append(label.parcel_id)

    def by_number(self) -> defaultdict[str, list[Parcel]]:
        found: defaultdict[str, list[Parcel]] = defaultdict(list)
        for parcel in self.parcels.values():
            for number in own_numbers(parcel):
                found[number].append(parcel)
        return found

    def give(self, parcel: Parcel, label: ParcelTracking) -> None:
        taking = take_over(parcel, self.trackings.get(parcel.id), label, self.now)
        self.trackings[parcel.id] = self.changed[parcel.id] = taking
        self.existing.add(parcel.id)

    def keep_named_numbers(self, ids: list[str]) -> None:
        """Let a number that a parcel names leave the one that has it of its label only."""
        inside = [tracking for tracking in self.trackings.values() if tracking.added_numbers]
        all_giving = [*inside, *(tracking for tracking in locked(ids) if tracking.added_numbers)]
        by_number = self.by_number() if all_giving else {}
        for giving in all_giving:
            source = self.parcels.get(giving.parcel_id) or giving.parcel
            status_before = source.last_status
            moved: defaultdict[str, set[str]] = defaultdict(set)
            for number in giving.added_numbers:
                named = [each for each in by_number.get(number, ()) if self.names(each, number)]
                if same := [each for each in named if are_of_one_time(each, source)]:
                    moved[newest(same).id].add(number)
            for parcel_id, numbers in sorted(moved.items()):
                self.give(self.parcels[parcel_id], give_up(source, giving, numbers))
            if moved and source.id in self.parcels:
                self.changed[source.id] = giving
            elif moved:
                self.givers.append(giving)
                source.updated_at = max(source.updated_at, milliseconds(self.now))
                self.givers_changes.append(change_of(source, status_before))

    def names(self, parcel: Parcel, number: str) -> bool:
        tracking = self.trackings.get(parcel.id)
        return tracking is None or number not in tracking.added_numbers

    def follow(self) -> None:
        for parcel_id, parcel in self.parcels.items():
            tracking = follow(parcel, self.trackings.get(parcel_id), self.now)
            if tracking is not None:
                self.changed[parcel_id] = tracking

    def save_givers(self) -> None:
        for giving in self.givers:
            giving.parcel.save(update_fields=["tracking_numbers", "updated_at", *STORY_FIELDS])
            giving.save(update_fields=CHANGED_FIELDS)
            left = own_numbers(giving.parcel)
            ParcelNumber.objects.filter(parcel=giving.parcel_id).exclude(number__in=left).delete()

    def save(self) -> None:
        self.save_givers()
        if self.replaced:
            Parcel.objects.filter(id__in=self.replaced).delete()
        if self.existing:
            existing = [each for each in self.parcels.values() if each.id in self.existing]
            bulk.upsert(existing, UPDATED_FIELDS, stamps=["imported_at"])
            Parcel.objects.filter(id__in=self.existing).exclude(imported_at=self.now).update(imported_at=self.now)
        self.save_numbers()
        self.save_trackings()

    def save_numbers(self) -> None:
        renumbered = [each for each in self.parcels.values() if self.has_other_numbers(each)]
        if self.existing:
            ParcelNumber.objects.filter(parcel__id__in=[each.id for each in renumbered]).delete()
        rows = (row for each in renumbered for row in number_rows(each))
        bulk.insert_values(ParcelNumber, NUMBER_COLUMNS, rows)

    def has_other_numbers(self, parcel: Parcel) -> bool:
        before = self.before.get(parcel.id)
        return before is None or any(getattr(parcel, name) != getattr(before, name) for name in NUMBER_FIELDS)

    def save_trackings(self) -> None:
        changed = self.changed.values()
        bulk.insert([each for each in changed if each.parcel_id not in self.existing])
        bulk.upsert([each for each in changed if each.parcel_id in self.existing], CHANGED_FIELDS)
