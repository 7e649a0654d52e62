"""Counts labels again, whole days at a time, so that a count repeats none before it and corrects all of them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Max

from labels import ids
from labels.figures.models import LabelFigure
from labels.models import STORED, UNFINISHED, LabelState, ShippingLabel, total_kg
from shops.db import clock
from shops.staff import figures
from shops.staff.days import bounds, day_of

# Labels that were paid for, cancelled ones among them.
BOUGHT: Final = (LabelState.RECEIVED, *STORED)
# A transaction that had begun when the last count was made may have been committed after it.
COMMIT_MARGIN: Final = timedelta(minutes=10)
# The first count of a day goes back this far, and finds whatever the others have missed.
LOOK_BACK: Final = timedelta(days=31)
GROUPS: Final = ("shop_id", "carrier_code", "product_code", "state", "error_code")


def recount(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Count the days again whose labels may have changed since the last time; return how many days."""
    begun_at, last = clock.now(), figures.counted_at(figures.LABELS)
    days = changed_days(last, begun_at)
    if last is None and days:  # in another time zone the first day may have been an earlier one
        LabelFigure.objects.filter(day__lt=days[0]).delete()
    for day in days:
        if is_stopping():
            return 0  # the next process begins again
        figures.replace(LabelFigure.objects.filter(day=day), list(count(day)))
    figures.note(figures.LABELS, begun_at)
    return len(days)


def changed_days(last: datetime | None, now: datetime) -> list[date]:
    """Return the days of labels that were ordered, settled or cancelled since the last count; all if there is none."""
    first_id = ShippingLabel.objects.order_by("id").values_list("id", flat=True).first()
    if first_id is None:
        return []
    oldest, today = day_of(ids.id_time(first_id)), day_of(now)
    if last is None:
        since = oldest
    elif day_of(last) < today:
        since = min(day_of(last), day_of(now - LOOK_BACK))
    else:
        since = day_of(last - COMMIT_MARGIN)
    recent = {today - timedelta(days=ago) for ago in range((today - max(since, oldest)).days + 1)}
    return sorted(recent | (days_of_late_changes(last) if last else set()))


def days_of_late_changes(last: datetime) -> set[date]:
    """Return the days whose open labels are others than at the last count, and of labels cancelled since."""
    counted = LabelFigure.objects.filter(state__in=UNFINISHED).order_by().values_list("day", *GROUPS, "labels")
    were_open = Counter({(day, *group): labels for day, *group, labels in counted})
    rows = ShippingLabel.objects.live().filter(state__in=UNFINISHED).order_by().values_list("id", *GROUPS)
    are_open = Counter((day_of(ids.id_time(label_id)), *group) for label_id, *group in rows)
    cancelled = ShippingLabel.objects.filter(cancel_requested_at__gte=last - COMMIT_MARGIN)
    ordered_on = (day_of(ids.id_time(label_id)) for label_id in cancelled.values_list("id", flat=True))
    return {*(day for day, *_ in (were_open - are_open) + (are_open - were_open)), *ordered_on}


def count(day: date) -> Iterator[LabelFigure]:
    """Count a day's labels, those of equal weights together in the database.

    They are found by their ids, which begin with the time: as the staff's list does.
    """
    first, end = map(ids.id_prefix, bounds(day))
    ordered = ShippingLabel.objects.live().filter(id__gte=first, id__lt=end).order_by()
    rows = ordered.values_list(*GROUPS, "weights_kg").annotate(count=Count("id"), last=Max("finished_at"))
    found: defaultdict[tuple[Any, ...], list[tuple[list[str], int, datetime | None]]] = defaultdict(list)
    for *group, weights_kg, labels, finished_at in rows.iterator(chunk_size=2000):
        found[tuple(group)].append((weights_kg, labels, finished_at))
    for names, alike in found.items():
        yield LabelFigure(
            **dict(zip(GROUPS, names, strict=True)),
            day=day,
            labels=sum(labels for _, labels, _ in alike),
            parcels=sum(labels * len(weights_kg) for weights_kg, labels, _ in alike),
            grams=round(1000 * sum(labels * total_kg(weights_kg) for weights_kg, labels, _ in alike)),
            last_finished_at=max(filter(None, (finished_at for _, _, finished_at in alike)), default=None),
        )
