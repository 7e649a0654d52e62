"""The cluster drill: ``python -m tests.drills.cluster [--rate N] [--orders N,N] [SCENARIO ...]``.

Patroni runs a PostgreSQL primary and two replicas, Sentinel a Redis master and its replica; PDFs are in a bucket; two
application hosts stand behind HAProxy, one of which reaches the primary through PgBouncer. Under a mixed load one part
after the other is killed, restarted, frozen, cut off or silenced, once for each rate of orders. For each it prints the
answers by status and the longest time without a good one; at the end it compares the carriers' ledger with the table.

Debian: apt-get install etcd-server haproxy patroni pgbouncer postgresql; and `make .venv-s3/.done`.
"""

import argparse
import itertools
import os
import shutil
import sys
import time
from contextlib import ExitStack

import psycopg

from tests.drills.cluster.database import NAME, DatabaseCluster, binaries
from tests.drills.cluster.haproxy import haproxy
from tests.drills.cluster.load import Rates, paths_of
from tests.drills.cluster.scenarios import SCENARIOS, System
from tests.drills.environment import environment, temporary_folder
from tests.drills.harness import finish, read_options
from tests.drills.orders import Orders
from tests.drills.shop import import_samples
from tests.labels.buckets import SERVER as S3_SERVER
from tests.labels.buckets import s3_server
from tests.support.pooler import EXECUTABLE as PGBOUNCER
from tests.support.pooler import pgbouncer
from tests.support.processes import Server, free_port
from tests.support.sentinels import World as RedisCluster

PARCELS = 2_000
CARRIER_TIMEOUT_S, MARGIN_S = 4.0, 8.0
LEAD_S = 3.0  # load before a scenario begins
RATE = 100.0
WORKERS = 2  # the default, as the number of threads


def drill(system: System, port: int, options: argparse.Namespace) -> list[str]:
    """Run the scenarios and compare the purchases; return the faults."""
    paths = paths_of(import_samples(PARCELS))
    everyone, faults = Orders(system.env), list[str]()
    for name, order_rate in itertools.product(options.chosen or SCENARIOS, map(float, options.orders.split(","))):
        load = Rates(system.env, port, options.rate, order_rate, paths)
        play(name, system, load)
        everyone.join(load.orders)
        try:
            system.database.wait_until_healthy()
        except RuntimeError as error:  # the purchases are compared all the same
            faults.append(f"after {name}: {error}")
            break
    return faults + settle(everyone)


def check_programs() -> None:
    """Exit with a list of all missing programs."""
    found = {
        "etcd (etcd-server)": shutil.which("etcd"),
        "haproxy": shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin"),
        "patroni": shutil.which("patroni"),
        "pgbouncer": PGBOUNCER,
        "postgres (postgresql)": binaries(),
        "an S3 server (make .venv-s3/.done)": S3_SERVER.exists(),
    }
    missing = [name for name, where in found.items() if not where]
    if missing:
        sys.exit(f"Missing: {', '.join(missing)}. Debian's package has the same name unless one is in brackets.")
    os.environ["PATH"] += ":/usr/sbin"


def set_up(stack: ExitStack) -> tuple[System, int]:
    """Start everything; return it with the service's port."""
    folder = temporary_folder(stack)
    folder.chmod(0o755)  # PostgreSQL runs as another user
    say("PostgreSQL: etcd, Patroni, a primary and two replicas")
    database = DatabaseCluster(folder, stack)
    create_database(database)
    say("Redis: a master, a replica, three sentinels")
    redis = RedisCluster(folder, stack, down_after_ms=2000)
    redis.wait_for_discovery()
    say("the carriers' sandbox, HAProxy, PgBouncer, two application hosts")
    (folder / "s3").mkdir()
    bucket = stack.enter_context(s3_server(folder / "s3"))
    settings = settings_of(database, redis) | bucket.environment
    env = stack.enter_context(environment("sqlite", settings))
    pooler_port = free_port()
    pooler_url = f"postgresql://postgres@127.0.0.1:{pooler_port}/{NAME}?pgbouncer=true"
    of_hosts = {"a": {"DATABASE_URL": pooler_url}, "b": {}}
    hosts = [Server(env.variables | own, folder / f"{name}.log", workers=WORKERS) for name, own in of_hosts.items()]
    service_port, primary_port = haproxy(folder, stack, database, hosts)
    stack.enter_context(pgbouncer(folder, pooler_port, primary_port, pool_size=20))
    for host in hosts:
        host.variables["PUBLIC_BASE_URL"] = f"http://127.0.0.1:{service_port}"  # a port of its own is a foreign one
        stack.enter_context(host)
    return System(env, database, redis, hosts), service_port


def create_database(cluster: DatabaseCluster) -> None:
    url = cluster.url("?target_session_attrs=read-write").replace(f"/{NAME}", "/postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {NAME}")


def settings_of(database: DatabaseCluster, redis: RedisCluster) -> dict[str, object]:
    return {
        "DATABASE_URL": database.url(),
        "DATABASE_REPLICA_URL": database.url(),
        "REDIS_URL": redis.url,
        "CARRIER_TIMEOUT": CARRIER_TIMEOUT_S,
        "LEASE_MARGIN": MARGIN_S,
        "RECONCILE_WAIT": CARRIER_TIMEOUT_S + MARGIN_S,
        "LOG_FORMAT": "json",
    }


def play(name: str, system: System, load: Rates) -> None:
    """Run a scenario under load; print its events and the answers."""
    scenario = SCENARIOS[name]
    print(f"\n{(scenario.__doc__ or name).splitlines()[0]} {load.order_rate:g} orders a second.")
    with load:
        time.sleep(LEAD_S)
        for event in scenario(system):
            say(event)
    load.show()


def say(what: object) -> None:
    print(f"  {what}", flush=True)


def settle(orders: Orders) -> list[str]:
    """Let the leases expire, reconcile and compare; return the faults."""
    print("\nafter the reconciliation")
    time.sleep(CARRIER_TIMEOUT_S + MARGIN_S + 0.5)
    orders.env.reconcile()
    result = orders.audited()
    say(result)
    unserved = sum(answers[-1].status != 201 for answers in orders.answers.values())
    say(f"{unserved} buyers gave up without a label")
    return result.faults


if __name__ == "__main__":
    options, started_s = read_options(chosen=SCENARIOS, rate=RATE, orders="1"), time.monotonic()
    check_programs()
    with ExitStack() as stack:
        system, port = set_up(stack)
        faults = drill(system, port, options)
    finish(faults, started_s=started_s)
