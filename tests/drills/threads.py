"""Measures the number of threads a worker needs: ``python -m tests.drills.threads [--seconds N] [--rounds N]``.

First the CPU time of a look-up by the number of threads, with no labels ordered: the best of several rounds counts, as
on a shared machine only the least disturbed run means something. Then, for each number of threads and of
CARRIER_CONCURRENCY, the look-ups while both carriers hang.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor

from tests.drills.environment import Environment, environment
from tests.drills.hung_carrier import (
    LEAD_S,
    WORKERS,
    LookUps,
    drill,
    flat_out,
    load_parcels,
    look_up_clients,
    look_ups,
)
from tests.drills.printing import print_table

THREADS, CONCURRENCY = (2, 4, 8, 10, 16, 24), (1, 2, 4)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.threads", description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="duration of a phase")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of the CPU time")
    parser.add_argument("--cost-only", action="store_true", help="measure the CPU time only")
    options = parser.parse_args()
    with environment("postgresql", {}, redis=True) as env:
        numbers = load_parcels()
        show_costs(env, numbers, options.seconds, options.rounds)
        if not options.cost_only:
            show_matrix(env, numbers, options.seconds)


def show_costs(env: Environment, numbers: list[str], seconds: float, rounds: int) -> None:
    best: dict[int, dict[str, LookUps]] = {}
    for _ in range(rounds):
        for threads in THREADS:
            measured = cost(env, numbers, threads, seconds)
            known = best.get(threads, measured)
            best[threads] = {
                name: min(known[name], run, key=lambda each: each.cpu_ms) for name, run in measured.items()
            }
    rows = [
        [threads, *(text for run in runs.values() for text in (f"{run.rate:.0f}", f"{run.cpu_ms:.2f}"))]
        for threads, runs in best.items()
    ]
    print(f"CPU time of a look-up, {WORKERS} workers, the best of {rounds} rounds")
    print_table(["threads", "flat out, a second", "CPU, ms", "at a pace, a second", "CPU, ms"], rows)


def cost(env: Environment, numbers: list[str], threads: int, seconds: float) -> dict[str, LookUps]:
    with (
        env.served(workers=WORKERS, threads=threads) as (port, process),
        ProcessPoolExecutor(1) as pool,
    ):
        clients = look_up_clients(env, port, seconds)
        look_ups(pool, numbers, process.popen.pid, flat_out(clients, LEAD_S))
        phases = {"flat out": flat_out(clients, seconds), "at a pace": clients}
        return {name: look_ups(pool, numbers, process.popen.pid, each) for name, each in phases.items()}


def show_matrix(env: Environment, numbers: list[str], seconds: float) -> None:
    rows = []
    for threads in THREADS:
        for concurrency in CONCURRENCY:
            during = drill(env, numbers, "both", threads, concurrency, seconds).phases["during"]
            times = [f"{value:.0f}" for value in during.percentiles_ms]
            rows.append([threads, concurrency, f"{during.answered:.2%}", *times])
    print("\nlook-ups while both carriers hang and 32 clients order labels")
    print_table(["threads", "CARRIER_CONCURRENCY", "answered", "p50, ms", "p95, ms", "p99, ms"], rows)


if __name__ == "__main__":
    main()
