"""Tables, figures, counts and faults, printed for people."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

FAULTS_SHOWN = 20


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


def counts(outcomes: Counter[str]) -> str:
    """Format outcomes as ``3 x 201, 1 x 409``."""
    return ", ".join(f"{count} x {outcome}" for outcome, count in sorted(outcomes.items())) or "-"


def exit_code(faults: list[str]) -> int:
    """Print the first faults; return the exit code of a drill that found these."""
    for fault in faults[:FAULTS_SHOWN]:
        print(f"  FAULT {fault}")
    return 1 if faults else 0
