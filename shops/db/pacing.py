"""Moments that all processes share: a carrier's next free slot, a task's next run."""

from datetime import timedelta

from django.db import models, transaction
from django.db.models import Q

from shops.db import clock
from shops.db.fields import KeyField

# Nobody reserves further ahead: a later moment was written before the database's clock was set back.
MAX_AHEAD = timedelta(minutes=5)


class Pace(models.Model):
    """The next time at which something may begin whose pace all processes share."""

    name = KeyField(primary_key=True, max_length=64)
    next_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


def reserve(name: str, *, count: int, interval: timedelta) -> float:
    """Reserve the next `count` moments, an interval apart, used or not; return the seconds from now to the first."""
    with transaction.atomic():
        pace, _ = Pace.objects.select_for_update().get_or_create(name=name, defaults={"next_at": clock.now()})
        now = clock.now()  # after the wait for the row
        begins_at = pace.next_at if now < pace.next_at < now + MAX_AHEAD else now
        pace.next_at = begins_at + count * interval
        pace.save(update_fields=["next_at"])
    return (begins_at - now).total_seconds()


def claim(name: str, *, lease: timedelta, wait: timedelta) -> bool:
    """Return whether it is due, to one process only; the next one gets it when the lease is over.

    `wait`, from one run to the next, is the longer one: whoever has more to wait meets a clock that was set back.
    """
    now = clock.now()
    is_due = Q(next_at__lte=now) | Q(next_at__gt=now + wait + MAX_AHEAD)
    due = Pace.objects.filter(is_due, name=name)
    if due.update(next_at=now + lease):
        return True
    return Pace.objects.get_or_create(name=name, defaults={"next_at": now + lease})[1]


def schedule(name: str, *, wait: timedelta) -> None:
    """Set the next moment to `wait` from now."""
    Pace.objects.filter(name=name).update(next_at=clock.now() + wait)
