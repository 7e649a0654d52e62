"""The cost of a label: ``python -m tests.benchmarks.purchases [--labels N]``, on a PostgreSQL and a Redis of its own.

The service runs as it starts, with fsync in the database, and buys from the sandbox, which answers within milliseconds.
One client orders as fast as it is answered, then 16 at once. CPU times are those of the service's processes and of
PostgreSQL's, and not of the sandbox and the clients, which share the cores.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from tests.drills.environment import Environment, environment
from tests.drills.process import cpu_s
from tests.drills.shop import carrier_of, new_key, order

ROUNDS = 3
CLIENTS = (1, 16)
WARM_UP = 50


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.purchases", description=__doc__)
    parser.add_argument("--labels", type=int, default=400)
    labels = parser.parse_args().labels
    with (
        environment("postgresql", {"CARRIER_CONCURRENCY": max(CLIENTS)}, redis=True) as env,
        env.served(workers=2) as (port, process),
    ):
        env.write_to_disk()
        buy(env, port, WARM_UP, max(CLIENTS))
        for number in range(ROUNDS):
            for clients in CLIENTS:
                pids = process.popen.pid, env.postmaster
                before, started_at = [cpu_s(pid) for pid in pids], time.perf_counter()
                latencies_s = buy(env, port, labels, clients)
                elapsed_s = time.perf_counter() - started_at
                service_s, database_s = (cpu_s(pid) - used for pid, used in zip(pids, before, strict=True))
                print(
                    f"round {number + 1}, {clients:2} at once: {labels / elapsed_s:4.0f} labels/s, "
                    f"median {median(latencies_s) * 1000:4.0f} ms, CPU {service_s / labels * 1000:.1f} ms, "
                    f"PostgreSQL's {database_s / labels * 1000:.1f} ms a label"
                )


def buy(env: Environment, port: int, labels: int, clients: int) -> list[float]:
    """Order labels from both carriers in turn; return the seconds of each."""

    def one(number: int) -> float:
        key, started_at = new_key(), time.perf_counter()
        answer = env.buy(port, key, order(key, carrier_of(number)))
        assert answer.status == 201, answer
        return time.perf_counter() - started_at

    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(one, range(labels)))


if __name__ == "__main__":
    main()
