"""The cost of a label: ``python -m tests.benchmarks.purchases [--labels N] [--rounds N]``, on servers of its own.

The service runs as it starts, with fsync in PostgreSQL, and buys from the sandbox, which answers within milliseconds;
each order has another customer. One client orders as fast as it is answered, then 16 at once. CPU times are those of
the service's processes and of PostgreSQL's, and not of the sandbox and the clients, which share the cores.
"""

import argparse
import re
from statistics import median

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.orders import Orders
from tests.drills.process import metered
from tests.drills.shop import RECIPIENT, carrier_of, new_key
from tests.drills.sql import configure, execute, write_to_disk

CLIENTS = (1, 16)
# Each thread's connection prepares its statements, and PostgreSQL plans each five times before it keeps the plan.
WARM_UP = 600
COUNTED = 20  # labels whose statements are counted
# A line of PostgreSQL's log, which begins with the transaction.
STATEMENT = re.compile(r"^(\S+) LOG:  (?:execute|statement)[^:]*: (\w+)", re.MULTILINE)


def benchmark(env: Environment, options: argparse.Namespace) -> None:
    with env.served(workers=2) as server:
        port = server.port
        write_to_disk()
        buy(env, port, WARM_UP, max(CLIENTS))
        execute("ANALYZE")  # as autovacuum does within a minute
        for number in range(options.rounds):
            for clients in CLIENTS:
                pids = server.pid, env.postmaster
                print(f"round {number + 1}, {clients:2} at once:", measured(env, port, options.labels, clients, pids))
        statements, commits = counted(env, port)
        print(f"a label: {statements:.1f} statements, BEGIN and COMMIT included, {commits:.1f} commits of changes")


def measured(env: Environment, port: int, labels: int, clients: int, pids: tuple[int, int]) -> str:
    """Order labels; return the rate, the latency and the CPU time of the service and of PostgreSQL."""
    with metered(*pids) as used:
        latencies_s = buy(env, port, labels, clients)
    elapsed_s, service_s, database_s = used
    return (
        f"{labels / elapsed_s:4.0f} labels/s, median {median(latencies_s) * 1000:4.0f} ms, "
        f"CPU {service_s / labels * 1000:.1f} ms, PostgreSQL's {database_s / labels * 1000:.1f} ms a label"
    )


def buy(env: Environment, port: int, labels: int, clients: int) -> list[float]:
    """Order labels from both carriers in turn; return the seconds of each."""
    orders = Orders(env)
    for number in range(labels):
        customer = RECIPIENT | {"lastName": f"Grünwald {new_key().translate(LETTERS)}"}
        orders.add(carrier_of(number), destinationAddress=customer)
    answers = orders.send_all(port, (), clients)
    assert not orders.unexpected({"201"})
    return [answer.duration_s for answer in answers]


LETTERS = str.maketrans("0123456789", "ghijklmnop")


def counted(env: Environment, port: int) -> tuple[float, float]:
    """Return the statements and the transactions that write, for a label bought alone."""
    configure(log_statement="all", log_line_prefix="%v ")
    buy(env, port, WARM_UP // 10, max(CLIENTS))  # until all connections have noticed
    log = env.folder / "pg" / "log"
    begin = log.stat().st_size
    buy(env, port, COUNTED, 1)
    found = STATEMENT.findall(log.read_bytes()[begin:].decode())
    writing = {transaction for transaction, word in found if word in ("INSERT", "UPDATE")}
    return len(found) / COUNTED, len(writing) / COUNTED


if __name__ == "__main__":
    play(benchmark, {"CARRIER_CONCURRENCY": max(CLIENTS)}, redis=True, labels=400, rounds=3)
