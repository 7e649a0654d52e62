"""Changes to a valid request, by dotted path."""

import copy
from typing import Any

GONE = object()  # a change to this removes the field

Changes = dict[str, Any]


def changed(order: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """Return the order with values at dotted paths replaced; a number in a path is an index."""
    order = copy.deepcopy(order)
    for path, value in changes.items():
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        block: Any = order
        for part in way:
            block = block[part]
        if value is GONE:
            block.pop(last, None)
        else:
            block[last] = copy.deepcopy(value)
    return order
