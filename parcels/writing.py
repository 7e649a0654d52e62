"""Writes imported parcels with their numbers, in batches, and keeps the story of each parcel one."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction

from parcels.models import Parcel, ParcelNumber, ParcelTracking
from parcels.numbers import are_of_one_time, hold_numbers, numbers_of, own_numbers
from parcels.tracking.changes import StatusChange, status_changed
from parcels.tracking.reporting import CHANGED_FIELDS, follow, give_up, has_carriers_word, settle, take_over
from parcels.tracking.story import STORY_FIELDS
from shops.db import bulk
from shops.db.batches import batches

# An update never moves a parcel to another shop.
UPDATED_FIELDS = [f.name for f in Parcel._meta.concrete_fields if f.name not in {"id", "shop"} and not f.generated]
STORY_COLUMNS = ("id", "shop", "imported_at", "created_at", "updated_at", *STORY_FIELDS)
# Clocks of different hosts differ by less.
CLOCK_MARGIN = timedelta(hours=1)


class TakenError(Exception):
    """Another shop took one of the ids meanwhile."""


def write(shop_id: str, parcels: dict[str, Parcel], known: Iterable[str], now: datetime, *, is_silent: bool) -> bool:
    """Insert or update; change nothing and return False if another shop took one of the ids meanwhile.

    `known` are the ids that were there before, `parcels` are in the order of ids.
    """
    batch = Batch(shop_id, parcels, now, set(known))
    try:
        with transaction.atomic():
            batch.insert()
            batch.settle()
            batch.replace_labels()
            batch.keep_named_numbers()
            batch.follow()
            batch.save()
            status_changed(batch.changes(), is_silent=is_silent)
    except TakenError:
        return False
    return True


def replace_labels_meanwhile(shop_id: str, started_at: datetime) -> None:
    """Let the parcels of this run replace those of labels that were bought while it ran.

    Until the run's transaction ends, no further label of the shop becomes a parcel.
    """
    hold_numbers(shop_id)
    recent = ParcelTracking.objects.filter(shop=shop_id, followed_since__gte=started_at - CLOCK_MARGIN)
    labels = recent.filter(parcel__imported_at=None).exclude(label_numbers=[])
    numbers = {number for found in labels.values_list("label_numbers", flat=True) for number in found}
    for some in batches(numbers):
        own = Parcel.objects.filter(shop=shop_id, imported_at=started_at, numbers__number__in=some)
        parcels = {parcel.id: parcel for parcel in own.order_by("id")}
        if parcels:
            batch = Batch(shop_id, parcels, started_at, set(parcels))
            batch.lock()
            batch.replace_labels()
            batch.keep_named_numbers()
            batch.save()


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
    statuses_before: dict[str, str | None] = field(default_factory=dict)
    replaced: list[str] = field(default_factory=list)
    givers: list[ParcelTracking] = field(default_factory=list)

    def insert(self) -> None:
        """Insert what is new; what another import of the shop has inserted meanwhile is existing."""
        new = [parcel for parcel in self.parcels.values() if parcel.id not in self.existing]
        if not new:
            return
        bulk.insert(new, ignore_conflicts=True)
        others = Parcel.objects.filter(id__in=[parcel.id for parcel in new])
        for parcel_id, shop_id in others.exclude(shop=self.shop_id, imported_at=self.now).values_list("id", "shop"):
            if shop_id != self.shop_id:
                raise TakenError
            self.existing.add(parcel_id)

    def lock(self) -> dict[str, Parcel]:
        """Lock the parcels that exist with their tracking; return them with the columns of their story."""
        own = Parcel.objects.filter(id__in=self.existing, shop=self.shop_id).only(*STORY_COLUMNS)
        found = {parcel.id: parcel for parcel in own.order_by("id").select_for_update(of=("self",))}
        rows = ParcelTracking.objects.filter(pk__in=self.existing).order_by("pk").select_for_update(of=("self",))
        self.trackings = {row.parcel_id: row for row in rows}
        return found

    def settle(self) -> None:
        """Give each parcel that existed its story, of the shop's newer report and what the carrier said."""
        if not self.existing:
            return
        for parcel_id, before in self.lock().items():
            parcel, tracking = self.parcels[parcel_id], self.trackings.get(parcel_id)
            settle(parcel, before, tracking)
            if tracking is not None and (tracking.label_numbers or has_carriers_word(tracking)):
                self.changed[parcel_id] = tracking
            self.statuses_before[parcel_id] = before.last_status

    def changes(self) -> Iterator[StatusChange]:
        """Yield the status of each parcel, and the one that it had before; none if it is new."""
        for parcel_id, parcel in self.parcels.items():
            before, at = self.statuses_before.get(parcel_id), parcel.last_status_updated_at
            yield StatusChange(parcel_id, self.shop_id, before, parcel.last_status, at)

    def replace_labels(self) -> None:
        """Let parcels that have a number of a label's parcel take its place."""
        by_number = self.by_number()
        for label in self.labels_with(by_number):
            same = [p for number in label.label_numbers for p in by_number[number] if are_of_one_time(p, label.parcel)]
            if same:
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

    def keep_named_numbers(self) -> None:
        """Let a number that a parcel names leave the one that has it of its label only."""
        by_number = self.by_number()
        inside = [tracking for tracking in self.trackings.values() if tracking.added_numbers]
        for giving in [*inside, *self.outside_with_added(by_number)]:
            source = self.parcels.get(giving.parcel_id) or giving.parcel
            moved: defaultdict[str, set[str]] = defaultdict(set)
            for number in giving.added_numbers:
                named = [each for each in by_number[number] if self.names(each, number)]
                if same := [each for each in named if are_of_one_time(each, source)]:
                    moved[newest(same).id].add(number)
            for parcel_id, numbers in sorted(moved.items()):
                self.give(self.parcels[parcel_id], give_up(source, giving, numbers))
            if moved and source.id in self.parcels:
                self.changed[source.id] = giving
            elif moved:
                self.givers.append(giving)

    def names(self, parcel: Parcel, number: str) -> bool:
        tracking = self.trackings.get(parcel.id)
        return tracking is None or number not in tracking.added_numbers

    def outside_with_added(self, numbers: Iterable[str]) -> Iterator[ParcelTracking]:
        """Yield the shop's other parcels that have one of these numbers of a label only, locked."""
        found = ParcelNumber.objects.filter(shop=self.shop_id, number__in=list(numbers))
        added = found.exclude(parcel__tracking=None).exclude(parcel__tracking__added_numbers=[])
        ids = set(added.order_by().values_list("parcel", flat=True)) - self.parcels.keys()
        if ids:
            rows = ParcelTracking.objects.filter(pk__in=ids).select_related("parcel").order_by("pk")
            yield from rows.select_for_update()

    def labels_with(self, numbers: Iterable[str]) -> Iterator[ParcelTracking]:
        """Yield the shop's parcels that are labels and have one of these numbers, locked."""
        found = ParcelNumber.objects.filter(shop=self.shop_id, number__in=list(numbers), parcel__imported_at=None)
        ids = set(found.order_by().values_list("parcel", flat=True)) - self.parcels.keys()
        if ids:
            rows = ParcelTracking.objects.filter(pk__in=ids).select_related("parcel").order_by("pk")
            yield from rows.select_for_update()

    def follow(self) -> None:
        for parcel_id, parcel in self.parcels.items():
            tracking = follow(parcel, self.trackings.get(parcel_id), self.now)
            if tracking is not None:
                self.changed[parcel_id] = tracking

    def save_givers(self) -> None:
        for giving in self.givers:
            giving.parcel.save(update_fields=["tracking_numbers", *STORY_FIELDS])
            giving.save(update_fields=CHANGED_FIELDS)
            left = own_numbers(giving.parcel)
            ParcelNumber.objects.filter(parcel=giving.parcel_id).exclude(number__in=left).delete()

    def save(self) -> None:
        self.save_givers()
        if self.replaced:
            Parcel.objects.filter(id__in=self.replaced).delete()
        if self.existing:
            existing = [each for each in self.parcels.values() if each.id in self.existing]
            bulk.insert(existing, update_fields=UPDATED_FIELDS)
            ParcelNumber.objects.filter(parcel__in=self.existing).delete()
        bulk.insert([number for each in self.parcels.values() for number in numbers_of(each)])
        bulk.insert([*self.changed.values()], update_fields=CHANGED_FIELDS)
