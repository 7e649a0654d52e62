"""Writes imported parcels with their numbers, in batches; each number of a label stays on one parcel."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from operator import attrgetter

import orjson
from django.db import IntegrityError, transaction
from django.db.models import F

from carriers import TRACKERS
from parcels.importing.numbers import absorb, are_of_one_time, are_shared, lock_shop, new_number, newest, state_beside
from parcels.models import NumberState, Parcel, TrackingNumber
from parcels.tracking import timeline
from parcels.tracking.changes import StatusChange, emit
from parcels.tracking.events import milliseconds
from parcels.tracking.schedule import schedule_next_check
from parcels.tracking.shop_report import has_changed, merge_with_stored
from shops.db import bulk
from shops.db.bulk import MAX_VALUES, batches
from shops.staff.taking import hand_over

# An update never moves a parcel to another shop; what staff take and note is theirs.
KEPT_FIELDS = {"id", "shop", "imported_at", "taken_by", "taken_at", "notes"}
UPDATED_FIELDS = tuple(f.name for f in Parcel._meta.concrete_fields if f.name not in KEPT_FIELDS and not f.generated)
COMPARED_FIELDS = tuple(name for name in UPDATED_FIELDS if name != "search_words")  # which are made of others
compared = attrgetter(*COMPARED_FIELDS)
OTHERS_FIELDS = (
    *("id", "shop_id", "imported_at", "created_at", "updated_at", "are_texts_erased", "is_withdrawn"),
    *("taken_by", "taken_at", "notes"),
)
BEFORE_FIELDS = ("id", "shop_id", "imported_at", *COMPARED_FIELDS)
# What an import can change of a number's row.
NUMBER_FIELDS = (
    *("parcel", "created_at", "carrier_code", "label", "state", "is_added"),
    *("events", "expected", "last_event_at", "followed_since", "due_at"),
)
MAX_FOLLOWED = 99  # an order has at most as many parcels; of an import with more numbers the first are followed
CLOCK_MARGIN = timedelta(hours=1)  # clocks of different hosts differ by less


def as_json(parcel: Parcel) -> bytes:
    """Return as JSON what an import can change of a parcel; 1 and 1.0 differ, as they do in its row."""
    return orjson.dumps(compared(parcel))


class TakenError(Exception):
    """Another import, of this shop or another one, took one of the ids meanwhile."""


@transaction.atomic
def write(shop_id: str, parcels: dict[str, Parcel], known: Iterable[str], now: datetime, *, is_silent: bool) -> int:
    """Insert or update; return how many parcels are new to this run. Raise TakenError, with nothing changed.

    `known` are the ids that were there before, `parcels` are in the order of ids.
    """
    batch = Batch(shop_id, parcels, now)
    batch.before = batch.locked(known)
    for parcel_id, before in batch.before.items():
        merge_with_stored(parcels[parcel_id], before)
    batch.name_numbers()
    batch.finish(is_silent=is_silent)
    return len(parcels) - sum(each.imported_at == now for each in batch.before.values())


def replace_labels_meanwhile(shop_id: str, started_at: datetime, *, is_silent: bool) -> None:
    """Replace the parcels of labels bought while the run imported; until it ends, no label becomes a parcel."""
    lock_shop(shop_id)
    bought = TrackingNumber.objects.for_shop(shop_id).filter(state=NumberState.BOUGHT, parcel__imported_at=None)
    recent = bought.filter(followed_since__gte=started_at - CLOCK_MARGIN).order_by()
    named = TrackingNumber.objects.for_shop(shop_id).filter(state=NumberState.REPORTED).order_by()
    for numbers in batches(set(recent.values_list("number", flat=True))):
        ids = set(named.filter(number__in=numbers).values_list("parcel", flat=True))
        if ids:
            parcels = Parcel.objects.filter(id__in=ids, imported_at=started_at).order_by("id")
            batch = Batch(shop_id, {parcel.id: parcel for parcel in parcels}, started_at)
            batch.before = batch.locked(batch.parcels)
            batch.finish(is_silent=is_silent)


@dataclass
class Batch:
    """A batch of one shop's parcels, by id and in the order of ids, on its way into the database.

    `others` are parcels beside it that numbers come from or go to; `numbers` are the rows of each parcel's numbers,
    as they will be; `takers` took those of each parcel in `others`.
    """

    shop_id: str
    parcels: dict[str, Parcel]
    now: datetime
    before: dict[str, Parcel] = field(default_factory=dict)
    others: dict[str, Parcel] = field(default_factory=dict)
    numbers: defaultdict[str, dict[str, TrackingNumber]] = field(default_factory=lambda: defaultdict(dict))
    of_labels: dict[str, TrackingNumber] = field(default_factory=dict)
    takers: dict[str, Parcel] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    changed: dict[int, TrackingNumber] = field(default_factory=dict)
    gone: dict[int, TrackingNumber] = field(default_factory=dict)

    def locked(self, ids: Iterable[str], fields: Sequence[str] = BEFORE_FIELDS) -> dict[str, Parcel]:
        """Lock the parcels that exist, and read the rows of their numbers."""
        own = timeline.locked(ids).filter(shop=self.shop_id)
        parcels = {parcel.id: parcel for parcel in bulk.instances(own, fields)}
        for row in bulk.instances(TrackingNumber.objects.filter(parcel__id__in=list(parcels)).order_by("id")):
            self.numbers[row.parcel_id][row.number] = row
        return parcels

    def name_numbers(self) -> None:
        """Give each parcel the numbers that its import names, and keep its labels' numbers."""
        for parcel in self.parcels.values():
            rows, named = self.numbers[parcel.id], dict.fromkeys([parcel.tracking_id, *parcel.tracking_numbers])
            if parcel.carrier_code != self.before.get(parcel.id, parcel).carrier_code:
                for row in list(rows.values()):
                    if row.state == NumberState.REPORTED and not row.events:
                        self.remove(row)  # to the other carrier it is a new one
            for number in named:
                if number not in rows:
                    rows[number] = new_number(parcel, number)
            for row in list(rows.values()):
                if row.number in named or row.state == NumberState.BOUGHT:
                    self.change(row, is_added=row.number not in named, created_at=parcel.created_at)
                else:
                    self.remove(row)

    def change(self, row: TrackingNumber, **values: object) -> None:
        for name, value in values.items():
            if getattr(row, name) != value:
                setattr(row, name, value)
                if row.pk:
                    self.changed[row.pk] = row

    def remove(self, row: TrackingNumber) -> None:
        del self.numbers[row.parcel_id][row.number]
        if row.pk:
            self.gone[row.pk] = row

    def finish(self, *, is_silent: bool) -> None:
        self.assign_numbers()
        self.derive()
        self.schedule()
        self.save()
        emitted = {parcel_id: timeline.last_emitted(parcel) for parcel_id, parcel in self.before.items()}
        emit([StatusChange(each, emitted.get(each.id)) for each in self.parcels.values()], is_silent=is_silent)
        timeline.recompute(self.others.keys() & self.touched, self.now, is_silent=is_silent)

    # --- Numbers of labels ---

    def assign_numbers(self) -> None:
        """Give each number of a label to the newest parcel that names it; without one it stays where it is.

        A parcel that is only a label's is replaced by those that name its numbers.
        """
        numbers = {number for rows in self.numbers.values() for number in rows}
        self.add_others(numbers, NumberState.BOUGHT, NumberState.CANCELLED)
        rows = [row for own in self.numbers.values() for row in own.values()]
        rows.sort(key=lambda row: (row.state == NumberState.BOUGHT, bool(row.label)))  # the last of a number counts
        self.of_labels = {row.number: row for row in rows if row.state != NumberState.REPORTED}
        self.share()
        if not self.of_labels:
            return
        self.add_others({row.number for row in self.of_labels.values() if self.is_loose(row)}, NumberState.REPORTED)
        naming, takers = self.naming(), defaultdict(list)
        for row in list(self.of_labels.values()):
            same = [each for each in naming[row.number] if are_of_one_time(each.created_at, row.created_at)]
            if same and newest(same) is not self.parcel_of(row):
                takers[row.parcel_id].append(newest(same))
                self.move(row, newest(same))
        for parcel_id in self.others.keys() & takers.keys():
            if self.others[parcel_id].imported_at is None:
                for row in list(self.numbers[parcel_id].values()):
                    if row.state == NumberState.BOUGHT:
                        self.move(row, newest(takers[parcel_id]))

    def share(self) -> None:
        """Copy what is known of a label's number, or of one that left its parcel, to a further parcel that names it."""
        left = {row.number: row for row in self.gone.values() if row.events or row.state == NumberState.CANCELLED}
        for parcel in self.parcels.values():
            for row in self.numbers[parcel.id].values():
                known = self.of_labels.get(row.number) or left.get(row.number)
                if known and not row.pk and are_shared(row, known):
                    row.state, row.carrier_code = state_beside(known), known.carrier_code
                    absorb(row, known, are_texts_erased=parcel.are_texts_erased)
                    self.touched.add(parcel.id)

    def add_others(self, numbers: set[str], *states: NumberState) -> None:
        """Read and lock the shop's other parcels that have one of these numbers."""
        found: set[str] = set()
        for some in batches(numbers, MAX_VALUES):
            rows = TrackingNumber.objects.for_shop(self.shop_id).filter(number__in=some, state__in=states)
            found.update(rows.order_by().values_list("parcel", flat=True))
        if new := found - self.parcels.keys() - self.others.keys():
            self.others |= self.locked(new, OTHERS_FIELDS)

    def parcel_of(self, row: TrackingNumber) -> Parcel:
        return self.parcels.get(row.parcel_id) or self.others[row.parcel_id]

    def is_loose(self, row: TrackingNumber) -> bool:
        """Return whether no import of its parcel names a label's number."""
        return row.is_added or self.parcel_of(row).imported_at is None

    def is_replaced(self, parcel: Parcel) -> bool:
        """Return whether to remove a parcel that is only a label's; a withdrawn one stays while it has numbers."""
        return parcel.imported_at is None and not (parcel.is_withdrawn and self.numbers[parcel.id])

    def naming(self) -> defaultdict[str, list[Parcel]]:
        """Find the parcels whose imports name each number."""
        found: defaultdict[str, list[Parcel]] = defaultdict(list)
        for rows in self.numbers.values():
            for row in rows.values():
                if not row.is_added and self.parcel_of(row).imported_at is not None:
                    found[row.number].append(self.parcel_of(row))
        return found

    def move(self, row: TrackingNumber, taker: Parcel) -> None:
        """Move a label's number to another parcel, with its events; a parcel whose import names it keeps a copy."""
        giver, own = self.parcel_of(row), self.numbers[taker.id].get(row.number)
        due_at = row.due_at or (own and own.due_at)  # the taker's, where the giver's report said that it was over
        del self.numbers[giver.id][row.number]
        if not self.is_loose(row):  # without the events of the taker's row: the giver's texts may be erased
            facts = {name: getattr(row, name) for name in ("carrier_code", "followed_since", "due_at")}
            kept = new_number(giver, row.number, state=state_beside(row), **facts)
            absorb(kept, row)
            self.numbers[giver.id][row.number] = kept
        taker.are_texts_erased = taker.are_texts_erased or giver.are_texts_erased
        if own is not None:
            self.remove(own)
            absorb(row, own, are_texts_erased=taker.are_texts_erased)
        self.change(row, parcel_id=taker.id, created_at=taker.created_at, is_added=own is None, due_at=due_at)
        self.numbers[taker.id][row.number] = row
        if taker.id in self.parcels:  # else it is derived anew
            timeline.save_report(taker)
            taker.updated_at = max(taker.updated_at, giver.updated_at)
        self.touched |= {giver.id, taker.id}
        self.takers[giver.id] = taker

    # --- The end of a batch ---

    def derive(self) -> None:
        for parcel in self.parcels.values():
            rows, before = self.numbers[parcel.id].values(), self.before.get(parcel.id)
            is_more = timeline.has_carrier_data(rows) or parcel.id in self.touched or any(row.is_added for row in rows)
            if is_more or (before and before.imported_at is None):
                timeline.update(parcel, rows)
            else:
                parcel.handed_in_at = timeline.handed_in(parcel)
            # Without the carrier's part or another status it is as the shop says.
            if before and (parcel.reported or parcel.last_status != before.last_status):
                parcel.updated_at = max(parcel.updated_at, before.updated_at + has_changed(parcel, before))

    def schedule(self) -> None:
        """Have the carrier asked about numbers that are open now and were not before, and about no others."""
        for parcel in self.parcels.values():
            reported = timeline.reported_by_shop(parcel)
            assert reported is not None  # it was imported
            for row in islice(self.numbers[parcel.id].values(), MAX_FOLLOWED):
                status = timeline.status_of(row, reported) if row.events else reported.last_status
                known = self.of_labels.get(row.number)
                carrier = known.carrier_code if known else parcel.carrier_code
                self.follow(row, carrier, status, reported.as_of)

    def follow(self, row: TrackingNumber, carrier: str, status: str | None, as_of: int) -> None:
        due_at, followed_since, carrier_code = row.due_at, row.followed_since, row.carrier_code
        if row.state == NumberState.REPORTED:
            self.change(row, carrier_code=carrier if carrier in TRACKERS else "")
        if due_at is None and (followed_since is None or as_of > milliseconds(followed_since)):
            row.followed_since = self.now  # it is new, or was given up and the shop has news of it
        schedule_next_check(row, status, self.now)
        if (row.due_at is None) == (due_at is None) and row.carrier_code == carrier_code:
            row.due_at, row.followed_since = due_at, followed_since
        elif row.pk:
            self.changed[row.pk] = row

    def save(self) -> None:
        """Write what differs; raise TakenError if another import has taken a new id meanwhile."""
        try:
            bulk.insert([parcel for parcel in self.parcels.values() if parcel.id not in self.before])
        except IntegrityError:
            raise TakenError from None
        TrackingNumber.objects.filter(id__in=list(self.gone)).delete()
        rows = [row for row in self.changed.values() if row.pk not in self.gone]
        bulk.save(sorted(rows, key=lambda row: row.pk), NUMBER_FIELDS)
        touched = [each for each in self.others.values() if each.id in self.touched]
        replaced = list(filter(self.is_replaced, touched))
        for each in replaced:  # what staff took and noted of a label's parcel
            hand_over(each, Parcel.objects.filter(id=self.takers[each.id].id))
        Parcel.objects.filter(id__in=[each.id for each in replaced]).delete()
        erased = Parcel.objects.filter(id__in=[each.id for each in touched if each.are_texts_erased])
        erased.update(are_texts_erased=True)
        both = [(self.parcels[each.id], each) for each in self.before.values()]
        bulk.save([each for each, before in both if as_json(each) != as_json(before)], (*UPDATED_FIELDS, "imported_at"))
        same = Parcel.objects.filter(id__in=list(self.before)).exclude(imported_at=self.now)
        # Without a column of `document_start` PostgreSQL would parse its expression for each row, to find none in it.
        same.update(imported_at=self.now, carrier_code=F("carrier_code"))
        bulk.insert([row for rows in self.numbers.values() for row in rows.values() if not row.pk])
