"""The service's objectives, and how fast each one's error budget may be spent before somebody is told."""

from collections.abc import Iterable
from dataclasses import dataclass

Rule = dict[str, object]
LOOK_UPS = 'method="GET",route=~"parcel|parcel-search|label"'
TIMED = 'method="GET",route=~"parcel|parcel-search",status=~"200|404"'
ORDERS = 'method="POST",route="labels"'
COUNT, FAST = "http_request_duration_seconds_count", "http_request_duration_seconds_bucket"
TRACKING_LATE, WEBHOOKS_LATE = "condition:tracking_late", "condition:webhooks_late"
BAD, TOTAL = "slo:bad:rate1m", "slo:total:rate1m"


@dataclass(frozen=True)
class Burn:
    """Tell when the budget is spent so many times too fast, over the long window and, to end soon after, the short."""

    factor: float
    long: str
    short: str
    severity: str


# As in the SRE workbook: 2 % of a month's budget in an hour, 5 % in six hours, 10 % in three days.
BURNS = (Burn(14.4, "1h", "5m", "page"), Burn(6, "6h", "30m", "page"), Burn(1, "3d", "6h", "ticket"))
# Where 1 % may fail, an hour would need nine minutes of nothing but failures.
FASTER_BURNS = (Burn(14.4, "5m", "1m", "page"), *BURNS[1:])
TICKETS = tuple(Burn(each.factor, each.long, each.short, "ticket") for each in BURNS)


@dataclass(frozen=True)
class Objective:
    """A share of requests, or of the time, that has to be good."""

    name: str
    meaning: str  # what is bad
    share: float
    bad: str
    total: str = ""  # without one `bad` is a condition, 1 while it is true
    burns: tuple[Burn, ...] = BURNS
    at_least: int = 0  # bad requests in an hour: fewer page nobody, however little traffic there is

    def rules(self) -> Iterable[Rule]:
        """Record the share of what is bad over each window, from rates that are read once."""
        if self.total:
            yield record(BAD, self.bad, slo=self.name)
            yield record(TOTAL, self.total, slo=self.name)
        for window in sorted({window for burn in self.burns for window in (burn.long, burn.short)}, key=seconds):
            yield record(f"slo:errors:ratio{window}", self.ratio(window), slo=self.name)

    def ratio(self, window: str) -> str:
        if not self.total:
            return f"avg_over_time({self.bad}[{window}])"
        return f"{self.average(BAD, window)} / {self.average(TOTAL, window)}"

    def average(self, name: str, window: str) -> str:
        return f'avg_over_time({name}{{slo="{self.name}"}}[{window}])'

    @property
    def severities(self) -> Iterable[str]:
        """The urgent one first."""
        return dict.fromkeys(burn.severity for burn in self.burns)

    def words(self, severity: str) -> str:
        burns = [burn for burn in self.burns if burn.severity == severity]
        limits = (f"{self.limit(burn):.3g} % over {burn.long} and {burn.short}" for burn in burns)
        return f"{self.meaning}: more than {' or '.join(limits)} (objective: {100 * self.share:g} %)"

    def limit(self, burn: Burn) -> float:
        """The share that may be bad, in per cent."""
        return 100 * burn.factor * (1 - self.share)

    def burning(self, severity: str, causes: tuple[str, ...]) -> str:
        """Return an alert's expression; silent while the short window remembers a cause that has its own alert."""
        return " or ".join(f"({self.pair(burn, causes)})" for burn in self.burns if burn.severity == severity)

    def pair(self, burn: Burn, causes: tuple[str, ...]) -> str:
        limit = f"{self.limit(burn) / 100:.3g}"
        ratios = [f'slo:errors:ratio{window}{{slo="{self.name}"}} > {limit}' for window in (burn.long, burn.short)]
        if self.at_least and burn.severity == "page":
            ratios.append(f"3600 * {self.average(BAD, '1h')} >= {self.at_least}")
        remembered = f"{seconds(burn.short) // 60 + 1}m"  # the rates are over a minute
        known = "".join(f" unless on () max_over_time({cause}[{remembered}])" for cause in causes)
        return " and ".join(ratios) + known


def record(name: str, expression: str, **labels: str) -> Rule:
    return {"record": name, "expr": expression} | ({"labels": labels} if labels else {})


def seconds(window: str) -> int:
    return int(window[:-1]) * {"m": 60, "h": 3600, "d": 86_400}[window[-1]]


def rate(selector: str, metric: str = COUNT) -> str:
    return f"sum(rate({metric}{{{selector}}}[1m]))"


def faults(selector: str) -> str:
    """The rate of errors of ours; 0 before the first. A 502 is the carrier's."""
    return rate(f'{selector},status=~"5..",status!="502"') + " or vector(0)"


OBJECTIVES = {
    each.name: each
    for each in (
        Objective(
            "look-ups-answered",
            "look-ups that get an error of ours",
            0.999,
            faults(LOOK_UPS),
            rate(LOOK_UPS),
            at_least=3,
        ),
        Objective(
            "look-ups-fast",
            "look-ups above 50 ms",
            0.99,
            rate(TIMED) + " - " + rate(f'{TIMED},le="0.05"', FAST),
            rate(TIMED),
            burns=FASTER_BURNS,
            at_least=20,
        ),
        Objective(
            "orders-answered", "orders that get an error of ours", 0.999, faults(ORDERS), rate(ORDERS), at_least=3
        ),
        Objective(
            "tracking-fresh", "time in which a question is due for above an hour", 0.999, TRACKING_LATE, burns=TICKETS
        ),
        Objective("webhooks-delivered", "time in which a delivery is due for above 30 s", 0.999, WEBHOOKS_LATE),
    )
}
