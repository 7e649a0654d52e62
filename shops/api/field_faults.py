"""The faults of a body's fields, as DRF collects them, by JSON path: added, and told in one line."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

REQUIRED = "is required."
WHOLE = "non_field_errors"  # DRF's name for the object itself
# Unknown names that are compared with those of missing fields, which takes time.
MAX_COMPARED, MAX_NAME_LENGTH, NEARNESS = 20, 40, 0.75

Path = list[Any]  # names in an object, indices in an array
Fault = tuple[Path, str]


def name_near_fields(errors: dict[Any, Any], unknown: Sequence[str]) -> None:
    """Add to the fault of each missing field the name of an unknown one that may be meant."""
    sent = [name for name in unknown[:MAX_COMPARED] if len(name) <= MAX_NAME_LENGTH]
    missing = [name for name, faults in errors.items() if faults == [REQUIRED]]
    for name in missing if sent else []:
        for near in get_close_matches(name, sent, n=1, cutoff=NEARNESS):
            errors[name] = [f"is required; {near} was sent."]


def add_fault(errors: dict[Any, Any], path: Path, text: str) -> None:
    """Add a fault at a JSON path, unless the field there has one of its own already."""
    *outer, last = path
    for step in outer:
        inner = by_step(errors.get(step, {}))
        errors[step] = inner
        errors = inner
    found = errors.setdefault(last, [text])
    if by_step(found).get(WHOLE) is None:  # its faults so far lie inside it
        errors[last] = by_step(found) | {WHOLE: [text]}


def by_step(detail: Any) -> dict[Any, Any]:
    """Return a DRF error detail by name or index."""
    return detail if isinstance(detail, dict) else {WHOLE: detail}


def faults(detail: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each fault of a DRF error detail with its JSON path, such as ``parcels[0].weight``."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            step = "" if name == WHOLE else f"[{name}]" if isinstance(name, int) else f".{name}"
            yield from faults(inner, (path + step).lstrip("."))
    elif isinstance(detail, list):
        for inner in detail:
            yield from faults(inner, path)
    else:
        yield path, str(detail)


def describe_faults(detail: Any) -> str:
    """Format all faults of a DRF error detail in one line."""
    return " ".join(f"{path}: {text}" if path else text for path, text in faults(detail))
