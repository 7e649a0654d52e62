"""Failures as metrics show them, each with the alerts that it raises."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from deploy.monitoring.alerts import PAGE, TICKET
from deploy.monitoring.timelines import STEP_S, Series, Timeline, Value
from deploy.monitoring.traffic import DURATION, SERVICES, calm

HOUR_S = 3600
DATABASE_GAUGES = (
    "labels_",
    "host_clock_",
    "tracking_oldest_",
    "webhook_oldest_",
    "webhook_endpoints_",
    "webhook_deliveries_",
)


@dataclass(frozen=True)
class Change:
    """The samples of series after the beginning: the last value stays, or the calm one comes back."""

    metric: str
    values: tuple[Value, ...]
    labels: dict[str, str] = field(default_factory=dict)
    comes_back: bool = False

    def apply(self, timeline: Timeline, begin: int) -> None:
        """Change what comes after the sample `begin`, the last calm one."""
        found = [each for each in timeline if each.matches(self.metric, self.labels)]
        for each in found or [self.add(timeline)]:
            values = timeline[each]
            after = len(values) - begin - 1
            last = values[begin] or 0 if self.comes_back else self.values[-1]
            values[begin + 1 :] = (*self.values, *[last] * after)[:after]

    def add(self, timeline: Timeline) -> Series:
        """A series that begins with its first event."""
        assert self.labels
        new = Series(self.metric, tuple(self.labels.items()))
        timeline[new] = [None] * len(next(iter(timeline.values())))
        return new


@dataclass(frozen=True)
class Fires:
    """An alert that fires, with the labels that its expression gives it."""

    name: str
    severity: str
    labels: dict[str, str]


@dataclass(frozen=True)
class Drill:
    """A failure, the alerts that fire so many seconds after its beginning, and until when no others may."""

    name: str
    changes: tuple[Change, ...]
    fires: tuple[Fires, ...]
    after_s: int = 120
    until_s: int = 0
    calm_s: int = 120  # before; less makes alerts more sensitive, as windows over hours hold nothing else

    @property
    def is_slow(self) -> bool:
        return self.after_s >= HOUR_S

    @property
    def end_s(self) -> int:
        return max(self.after_s, self.until_s)

    def timeline(self) -> Timeline:
        begin = self.calm_s // STEP_S
        found = calm(begin + 1 + self.end_s // STEP_S)
        for change in self.changes:
            change.apply(found, begin)
        return found


def after(metric: str, *values: Value, comes_back: bool = False, **labels: str) -> Change:
    return Change(metric, values, labels, comes_back)


def page(name: str, **labels: str) -> Fires:
    return Fires(name, PAGE, labels)


def ticket(name: str, **labels: str) -> Fires:
    return Fires(name, TICKET, labels)


def answers(
    route: str, method: str, good: str, bad: str, *counts: tuple[int, int], comes_back: bool = False
) -> Iterable[Change]:
    """Requests of each service that are answered with one status instead of another: the good and the bad."""
    for host in SERVICES:
        labels = {"route": route, "method": method, "instance": host, "job": "parcel-service"}
        goods, bads = zip(*counts, strict=True)
        yield Change(f"{DURATION}_count", goods, labels | {"status": good}, comes_back)
        yield Change(f"{DURATION}_count", bads, labels | {"status": bad}, comes_back)
        if method == "GET":
            yield Change(f"{DURATION}_bucket", goods, labels | {"status": good, "le": "0.05"}, comes_back)


def slow(*shares: float) -> Iterable[Change]:
    """Look-ups of which a share takes more than 50 ms."""
    fast = tuple(round(300 * (1 - share)) for share in shares)
    yield after(f"{DURATION}_bucket", *fast, route="parcel", status="200")


def breaker(carrier: str, service: str, *is_open: int) -> Iterable[Change]:
    is_closed = [2 - each for each in is_open]
    yield after("carrier_circuit_breaker", *is_open, carrier=carrier, service=service, state="open")
    yield after("carrier_circuit_breaker", *is_closed, carrier=carrier, service=service, state="closed")


def bought(carrier: str, state: str, *counts: int) -> Change:
    return after("label_purchases_total", *counts, carrier=carrier, state=state)


def without_database(*, steps: int, comes_back: bool = False) -> Iterable[Change]:
    """No gauges once their cache is too old, and errors for look-ups and orders."""
    gone: tuple[Value, ...] = (None,) * steps
    gauges = {each.metric: each for each in calm(1) if each.metric.startswith(DATABASE_GAUGES) and not each.is_counter}
    for metric in gauges:
        yield after(metric, *gone, comes_back=comes_back)
    failing = ((0, 300),) * steps
    yield from answers("parcel", "GET", "200", "500", *failing, comes_back=comes_back)
    yield from answers("labels", "POST", "201", "500", *((0, 12),) * steps, comes_back=comes_back)


def gone(host: str) -> Iterable[Change]:
    yield after("*", None, instance=host)
    yield after("up", 0, instance=host)
