"""The options of drills and benchmarks."""

import argparse
import sys
from collections.abc import Iterable
from typing import Any

CHOICES = {"database": ["sqlite", "postgresql"]}


def read_options(description: str | None, *, chosen: Iterable[str] = (), **defaults: Any) -> argparse.Namespace:
    """Read an option for each default, of its type: one of a tuple's, by default the first, or as many as in a list.

    Where there are names to choose from, read also those `chosen`.
    """
    program = sys.modules["__main__"].__spec__
    assert program
    parser = argparse.ArgumentParser(
        prog=f"python -m {program.name.removesuffix('.__main__')}", description=description
    )
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(option, action="store_true")
        elif isinstance(default, list):
            parser.add_argument(
                option, type=type(default[0]), nargs="+", default=default, help="by default %(default)s"
            )
        else:
            first, choices = (default[0], default) if isinstance(default, tuple) else (default, CHOICES.get(name))
            parser.add_argument(option, type=type(first), default=first, choices=choices, help="by default %(default)s")
    if names := ", ".join(chosen):
        parser.add_argument("chosen", nargs="*", metavar="NAME", help=names)
    return parser.parse_args()
