"""Runs drills and benchmarks: reads their options, starts an environment, and prints the faults that were found."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from tests.drills.environment import Environment, environment

CHOICES = {"database": ["sqlite", "postgresql"]}
FAULTS_SHOWN = 20
Settings = dict[str, object]


def play(
    drill: Callable[[Environment, argparse.Namespace], list[str] | None],
    settings: Settings | Callable[[argparse.Namespace], Settings] | None = None,
    *,
    redis: bool = False,
    chosen: Iterable[str] = (),
    **defaults: Any,
) -> None:
    """Play a drill in an environment of its own, on PostgreSQL unless it has an option `database`.

    The settings may depend on the options. Exit if the drill returns a list: with its faults.
    """
    started_s, options = time.monotonic(), read_options(chosen=chosen, **defaults)
    database = getattr(options, "database", "postgresql")
    chosen_settings = settings(options) if callable(settings) else settings or {}
    with environment(database, chosen_settings, redis=redis and database == "postgresql") as env:
        faults = drill(env, options)
    if faults is not None:
        finish(faults, f"{database}: ", started_s)


def finish(faults: list[str], where: str = "", started_s: float | None = None) -> None:
    """Print the number of faults and the first of them, and exit with the code of a drill that found these."""
    took = "" if started_s is None else f", {time.monotonic() - started_s:.0f} s"
    print(f"\n{where}{len(faults)} faults{took}")
    for fault in faults[:FAULTS_SHOWN]:
        print(f"  FAULT {fault}")
    sys.exit(1 if faults else 0)


def read_options(*, chosen: Iterable[str] = (), **defaults: Any) -> argparse.Namespace:
    """Read an option for each default, of its type: one of a tuple's, by default the first, or as many as in a list.

    Where there are names to choose from, read also those `chosen`.
    """
    program = sys.modules["__main__"]
    assert program.__spec__
    name = program.__spec__.name.removesuffix(".__main__")
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=program.__doc__)
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(default, bool):
            action = argparse.BooleanOptionalAction if default else "store_true"
            parser.add_argument(option, action=action, default=default)
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
