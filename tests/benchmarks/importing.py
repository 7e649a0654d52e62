"""The import benchmark: ``python -m tests.benchmarks.importing [--parcels N] [--database D]``.

It imports N parcels, and then the same again, and prints the CPU time of this process and of PostgreSQL. Only a ratio
to another version on the same machine, measured in turn, means something.
"""

import argparse
import time
from collections.abc import Callable

from tests.drills.environment import environment
from tests.drills.process import cpu_s
from tests.drills.shop import SHOP


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.importing", description=__doc__)
    parser.add_argument("--parcels", type=int, default=100_000)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    options = parser.parse_args()
    with environment(options.database, {}) as env:
        from django.db import connections

        lines = sample_lines(options.parcels)
        for name in ("new", "again"):
            pid = env.postmaster if options.database == "postgresql" else None
            measure(name, pid, lambda: run(lines))
        connections.close_all()


def sample_lines(count: int) -> list[bytes]:
    import orjson

    from parcels.samples import sample_parcels

    return [orjson.dumps(each) for each in sample_parcels(count, now_ms=time.time_ns() // 10**6)]


def run(lines: list[bytes]) -> None:
    from parcels.importing import ParcelImport

    count = ParcelImport(shop_id=SHOP, report=print).run(enumerate(lines, 1))
    assert count == len(lines)


def measure(name: str, database_pid: int | None, work: Callable[[], None]) -> None:
    """Print the CPU time of a run; `database_pid` is PostgreSQL's."""

    def database_cpu_s() -> float:
        return cpu_s(database_pid) if database_pid else 0.0

    started_at, before_s, database_before_s = time.perf_counter(), time.process_time(), database_cpu_s()
    work()
    own_s, database_s = time.process_time() - before_s, database_cpu_s() - database_before_s
    took_s = time.perf_counter() - started_at
    print(f"{name:5} {own_s:6.2f} s CPU, PostgreSQL's {database_s:6.2f} s; {took_s:.1f} s in all", flush=True)


if __name__ == "__main__":
    main()
