"""Series of samples, 30 s apart, as promtool's unit tests write them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

STEP_S = 30
HOUR = 3600 // STEP_S
Value = float | None  # None: the series is not scraped


@dataclass(frozen=True)
class Series:
    """A metric with its labels; of a counter the values are increases."""

    metric: str
    labels: tuple[tuple[str, str], ...]

    @property
    def is_counter(self) -> bool:
        return self.metric.endswith(("_total", "_count", "_bucket"))

    @property
    def text(self) -> str:
        return self.metric + "{" + ",".join(f'{name}="{value}"' for name, value in self.labels) + "}"

    def matches(self, metric: str, labels: dict[str, str]) -> bool:
        return metric in {"*", self.metric} and labels.items() <= dict(self.labels).items()


Timeline = dict[Series, list[Value]]


def series(metric: str, **labels: str) -> Series:
    return Series(metric, tuple(labels.items()))


def written(timeline: Timeline) -> list[dict[str, str]]:
    """Return promtool's ``input_series``."""
    return [entry(each.text, " ".join(samples(each, values))) for each, values in timeline.items()]


@cache
def entry(text: str, values: str) -> dict[str, str]:
    """Cached: YAML writes an object that it meets again as a reference."""
    return {"series": text, "values": values}


def samples(each: Series, values: Sequence[Value]) -> Iterable[str]:
    """Yield runs of equal steps as ``first+stepxtimes``."""
    levels = list(counted(values)) if each.is_counter else list(values)
    index = 0
    while index < len(levels):
        first = levels[index]
        if first is None:
            length = next((n for n, level in enumerate(levels[index:]) if level is not None), len(levels) - index)
            yield from ["stale", f"_x{length - 1}"] if length > 1 else ["stale"]
        else:
            step, length = run(levels[index:])
            yield f"{first:g}{step:+g}x{length - 1}"
        index += length


def counted(increases: Iterable[Value]) -> Iterator[Value]:
    """Add increases up; a counter that was away has begun again."""
    level = 0.0
    for increase in increases:
        level = 0.0 if increase is None else level + increase
        yield None if increase is None else level


def run(levels: Sequence[Value]) -> tuple[float, int]:
    """Return the step from each level to the next, and how many levels have it."""
    if len(levels) == 1 or levels[1] is None:
        return 0.0, 1
    assert levels[0] is not None
    step, length = levels[1] - levels[0], 2
    while length < len(levels) and levels[length] == first_plus(levels, step, length):
        length += 1
    return step, length


def first_plus(levels: Sequence[Value], step: float, times: int) -> float:
    assert levels[0] is not None
    return levels[0] + step * times
