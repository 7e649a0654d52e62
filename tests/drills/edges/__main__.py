"""The edge drill: ``python -m tests.drills.edges [--database D] [ACT ...]``.

What a clock, a gateway, a frozen process, a log that nobody reads, a carrier that is late and a database that forgets
can do to a purchase. In every act the clients ask again with their keys at every moment.
"""

import argparse
import time

from tests.drills.audit import FIGURES
from tests.drills.edges.acts import ACTS, begin_afresh, is_possible
from tests.drills.edges.buyers import SETTINGS
from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.printing import print_table


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    """Play the acts and print their table; return the faults."""
    rows, faults = [], []
    for name in options.chosen or [name for name in ACTS if is_possible(name, options.database)]:
        print(f"{options.database}: {name}", flush=True)
        started_s = time.monotonic()
        begin_afresh(env)
        result = ACTS[name](env)
        rows.append([name, *result.figures, len(result.faults), f"{time.monotonic() - started_s:.0f} s"])
        faults += [f"{name}: {fault}" for fault in result.faults]
    print_table([options.database, *FIGURES, "faults", "time"], rows)
    return faults


if __name__ == "__main__":
    play(drill, SETTINGS, chosen=ACTS, database="postgresql")
