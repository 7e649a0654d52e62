"""Tables, figures, counts and percentiles, printed for people."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from statistics import quantiles


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows below their headers: the first column aligned to the left, the others to the right."""
    texts = [list(headers), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in texts) for column in range(len(headers))]
    for first, *others in texts:
        cells = [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))]
        print("  " + "  ".join(cells), flush=True)


def say(title: str, what: object) -> None:
    """Print one figure behind its title."""
    print(f"  {title:<38} {what}", flush=True)


@contextmanager
def timed(title: str) -> Iterator[None]:
    """Print how long the block took."""
    started_s = time.monotonic()
    yield
    say(title, f"{time.monotonic() - started_s:6.1f} s")


def did(title: str, act: Callable[[], object]) -> None:
    """Do something; print what it returns and how long it took."""
    started_s = time.monotonic()
    done = act()
    say(title, f"{done} in {time.monotonic() - started_s:.2f} s")


def counts(outcomes: Iterable[str]) -> str:
    """Format outcomes, counted or to be counted, as ``3 x 201, 1 x 409``."""
    return ", ".join(f"{count} x {outcome}" for outcome, count in sorted(Counter(outcomes).items())) or "-"


def percentiles_ms(seconds: list[float]) -> list[float]:
    """Return the 50th, 95th and 99th percentile in milliseconds."""
    cuts = quantiles(seconds * 2 if len(seconds) == 1 else seconds, n=100, method="inclusive")
    return [1000 * cuts[rank] for rank in (49, 94, 98)]


def timed_ms(act: Callable[[], object], times: int) -> list[float]:
    """Do something some times; return the 50th and the 95th percentile and the longest of its times."""
    taken_s = []
    for _ in range(times):
        started_at = time.perf_counter()
        act()
        taken_s.append(time.perf_counter() - started_at)
    return [*percentiles_ms(taken_s)[:2], 1000 * max(taken_s)]
