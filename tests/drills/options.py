"""The options of drills and benchmarks."""

import argparse
import sys
from collections.abc import Iterable
from typing import Any


def read_options(description: str | None, *, chosen: Iterable[str] = (), **defaults: Any) -> argparse.Namespace:
    """Read an option for each default, of its type; where there are names to choose from, also those `chosen`."""
    program = sys.modules["__main__"].__spec__
    assert program
    parser = argparse.ArgumentParser(
        prog=f"python -m {program.name.removesuffix('.__main__')}", description=description
    )
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(option, action="store_true")
        else:
            choices = ["sqlite", "postgresql"] if name == "database" else None
            parser.add_argument(
                option, type=type(default), default=default, choices=choices, help="by default %(default)s"
            )
    if names := ", ".join(chosen):
        parser.add_argument("chosen", nargs="*", metavar="NAME", help=names)
    return parser.parse_args()
