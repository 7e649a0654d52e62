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
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import psycopg

from tests.drills.audit import Audit
from tests.drills.cluster.database import NAME, DatabaseCluster, binaries
from tests.drills.cluster.hosts import Host, haproxy
from tests.drills.cluster.load import KINDS, Load
from tests.drills.cluster.scenarios import SCENARIOS, System
from tests.drills.environment import Environment, environment
from tests.drills.options import read_options
from tests.drills.printing import counts, exit_code
from tests.drills.shop import import_samples
from tests.labels.buckets import SERVER as S3_SERVER
from tests.labels.buckets import s3_server
from tests.support.http import Answer
from tests.support.pooler import EXECUTABLE as PGBOUNCER
from tests.support.pooler import pgbouncer
from tests.support.processes import free_port
from tests.support.sentinels import World as RedisCluster

PARCELS = 2_000
CARRIER_TIMEOUT_S, MARGIN_S = 4.0, 8.0
LEAD_S = 3.0  # load before a scenario begins
RATE = 100.0


def main() -> None:
    options = read_options(__doc__, chosen=SCENARIOS, rate=RATE, orders="1")
    check_programs()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM ends the drill's processes, too
    started_at = time.monotonic()
    with ExitStack() as stack:
        system, port = set_up(stack)
        faults = drill(system, port, options)
    print(f"\n{len(faults)} faults, {time.monotonic() - started_at:.0f} s")
    sys.exit(exit_code(faults))


def drill(system: System, port: int, options: argparse.Namespace) -> list[str]:
    """Run the scenarios and compare the purchases; return the faults."""
    samples = import_samples(PARCELS)
    numbers = [sample["trackingId"] for sample in samples]
    orders = [sample["orderNumber"] for sample in samples]
    keys: dict[str, list[Answer]] = {}
    faults: list[str] = []
    for name, order_rate in itertools.product(options.chosen or SCENARIOS, map(float, options.orders.split(","))):
        load = Load(system.env, port, options.rate, order_rate, numbers, orders)
        play(name, system, load)
        keys |= load.keys
        try:
            system.database.wait_until_healthy()
        except RuntimeError as error:  # the purchases are compared all the same
            faults.append(f"after {name}: {error}")
            break
    return faults + settle(system.env, keys)


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
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-", ignore_cleanup_errors=True)))
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
    hosts = [Host(folder, "a", {"DATABASE_URL": pooler_url}), Host(folder, "b", {})]
    service_port, primary_port = haproxy(folder, stack, database, hosts)
    stack.enter_context(pgbouncer(folder, pooler_port, primary_port, pool_size=20))
    for host in hosts:
        host.variables["PUBLIC_BASE_URL"] = f"http://127.0.0.1:{service_port}"  # a port of its own is a foreign one
        stack.callback(host.kill)
        host.start()
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


def play(name: str, system: System, load: Load) -> None:
    """Run a scenario under load; print its events and the answers."""
    scenario = SCENARIOS[name]
    print(f"\n{(scenario.__doc__ or name).splitlines()[0]} {load.order_rate:g} orders a second.")
    with load:
        time.sleep(LEAD_S)
        for event in scenario(system):
            say(event)
    for kind in KINDS:
        tally = load.tallies[kind]
        gap_s = tally.longest_gap_s(load.began_at, load.ended_at)
        outcomes = counts(tally.outcomes)
        print(f"  {kind:8} longest gap {gap_s:5.1f} s, slowest {tally.slowest_s:5.1f} s   {outcomes}", flush=True)
    say(f"first answers to orders: {counts(load.first_answers)}; the slowest label took {load.slowest_label_s:.1f} s")


def say(what: str) -> None:
    print(f"  {what}", flush=True)


def settle(env: Environment, keys: dict[str, list[Answer]]) -> list[str]:
    """Let the leases expire, reconcile and compare; return the faults."""
    print("\nafter the reconciliation")
    time.sleep(CARRIER_TIMEOUT_S + MARGIN_S + 0.5)
    env.reconcile()
    audit = Audit(env)
    result = audit.keys(keys)
    say(str(result))
    unserved = sum(answers[-1].status != 201 for answers in keys.values())
    say(f"{unserved} buyers gave up without a label")
    return result.faults + audit.unrecorded().faults


if __name__ == "__main__":
    main()
