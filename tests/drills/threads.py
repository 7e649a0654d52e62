"""How many threads a worker needs: ``python -m tests.drills.threads [--seconds N] [--rounds N]``.

First what a look-up costs in CPU time by the number of threads, with no label ordered: in rounds, the best of which
counts, as on a shared machine only the least disturbed run means something. Then, for each number of threads and of
CARRIER_CONCURRENCY, how look-ups fare while both carriers hang.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor

from tests.drills.crowd import Crowd, percentiles
from tests.drills.environment import Stage, stage
from tests.drills.hung_carrier import (
    LEAD_S,
    LOOK_UP_CLIENTS,
    LOOK_UP_PACE_S,
    WORKERS,
    LookUps,
    drill,
    fill,
    flat_out,
    looked_up,
)
from tests.drills.tables import show

THREADS, CONCURRENCY = (2, 4, 8, 10, 16, 24), (1, 2, 4)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.threads", description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="a phase")
    parser.add_argument("--rounds", type=int, default=3, help="of measuring what a look-up costs")
    parser.add_argument("--cost-only", action="store_true")
    options = parser.parse_args()
    with stage("postgresql", {}, redis=True) as world:
        numbers = fill()
        costs(world, numbers, options.seconds, options.rounds)
        if not options.cost_only:
            matrix(world, numbers, options.seconds)


def costs(world: Stage, numbers: list[str], seconds: float, rounds: int) -> None:
    best: dict[int, dict[str, LookUps]] = {}
    for _ in range(rounds):
        for threads in THREADS:
            measured = cost(world, numbers, threads, seconds)
            known = best.get(threads, measured)
            best[threads] = {
                name: min(known[name], run, key=lambda each: each.cpu_ms) for name, run in measured.items()
            }
    rows = [
        [threads, *(text for run in runs.values() for text in (f"{run.rate:.0f}", f"{run.cpu_ms:.2f}"))]
        for threads, runs in best.items()
    ]
    print(f"what a look-up costs, {WORKERS} workers, the best of {rounds} rounds")
    show(["threads", "flat out, a second", "CPU, ms", "at a pace, a second", "CPU, ms"], rows)


def cost(world: Stage, numbers: list[str], threads: int, seconds: float) -> dict[str, LookUps]:
    with (
        world.served(workers=WORKERS, threads=threads) as (port, process),
        ProcessPoolExecutor(1) as pool,
    ):
        crowd = Crowd(port, world.token, LOOK_UP_CLIENTS, seconds, LOOK_UP_PACE_S)
        looked_up(pool, numbers, process.popen.pid, flat_out(crowd, LEAD_S))
        crowds = {"flat out": flat_out(crowd, seconds), "at a pace": crowd}
        return {name: looked_up(pool, numbers, process.popen.pid, each) for name, each in crowds.items()}


def matrix(world: Stage, numbers: list[str], seconds: float) -> None:
    rows = []
    for threads in THREADS:
        for concurrency in CONCURRENCY:
            during = drill(world, numbers, "both", threads, concurrency, seconds).phases["during"]
            times = percentiles([each.duration_s for each in during.seen])
            rows.append([threads, concurrency, f"{during.answered:.2%}", *(f"{1000 * value:.0f}" for value in times)])
    print("\nlook-ups while both carriers hang and 32 clients ask for labels")
    show(["threads", "CARRIER_CONCURRENCY", "answered", "p50, ms", "p95, ms", "p99, ms"], rows)


if __name__ == "__main__":
    main()
