"""The cluster drill: ``python -m tests.drills.cluster [--rate N] [ACT ...]``.

Patroni keeps a PostgreSQL primary and two replicas, Sentinel a Redis master and its replica; PDFs are in a bucket; two
application hosts stand behind HAProxy, one reaching the primary through PgBouncer, the other by itself. Under a mixed
load one part after the other is killed, restarted, frozen or silenced. For each: the answers by status, the longest
time without a good one, and at the end the carriers' ledger against the table.

Debian: apt-get install etcd-server haproxy patroni pgbouncer postgresql; and `make .venv-s3/.done`.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.drills.cluster.database import NAME, Cluster, Node, binaries
from tests.drills.cluster.front import Host, haproxy
from tests.drills.cluster.load import KINDS, Load
from tests.drills.environment import SHOP, Answer, Stage, stage
from tests.drills.judging import Judge
from tests.drills.kill import line
from tests.labels.buckets import SERVER as S3_SERVER
from tests.labels.buckets import s3_server
from tests.support.pooler import EXECUTABLE as PGBOUNCER
from tests.support.pooler import pgbouncer
from tests.support.processes import free_port
from tests.support.sentinels import World as Counters

PARCELS = 2_000
CARRIER_TIMEOUT_S, MARGIN_S = 4.0, 8.0
CALM_S = 3.0  # before something happens
RATE = 100.0


@dataclass
class Scene:
    """All that an act may touch."""

    world: Stage
    cluster: Cluster
    counters: Counters
    hosts: list[Host]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.cluster", description=__doc__)
    parser.add_argument("--rate", type=float, default=RATE, help="requests a second")
    parser.add_argument("acts", nargs="*", metavar="ACT", help=", ".join(ACTS))
    options = parser.parse_args()
    check_programs()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends a drill ends its processes
    started_at = time.monotonic()
    with ExitStack() as stack:
        scene, port = set_up(stack)
        numbers, orders = import_parcels()
        keys: dict[str, list[Answer]] = {}
        faults: list[str] = []
        for name in options.acts or ACTS:
            load = Load(scene.world, port, options.rate, numbers, orders)
            play(name, scene, load)
            keys |= load.keys
            try:
                scene.cluster.wait_until_healthy()
            except RuntimeError as error:  # what was bought is compared all the same
                faults.append(f"after {name}: {error}")
                break
        faults += settle(scene.world, keys)
    print(f"\n{len(faults)} faults, {time.monotonic() - started_at:.0f} s")
    for fault in faults[:20]:
        print(f"  FAULT {fault}")
    sys.exit(1 if faults else 0)


def check_programs() -> None:
    """Say what is missing, all of it."""
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
        sys.exit(f"Missing: {', '.join(missing)}. Debian's packages have these names where none is in brackets.")
    os.environ["PATH"] += ":/usr/sbin"


def set_up(stack: ExitStack) -> tuple[Scene, int]:
    """Start everything; return it with the port of the service."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-", ignore_cleanup_errors=True)))
    folder.chmod(0o755)  # PostgreSQL runs as another user
    say("PostgreSQL: etcd, Patroni, a primary and two replicas")
    cluster = Cluster(folder, stack)
    with psycopg.connect(cluster.url("?target_session_attrs=read-write").replace(f"/{NAME}", "/postgres"),
                         autocommit=True) as connection:  # fmt: skip
        connection.execute(f"CREATE DATABASE {NAME}")
    say("Redis: a master, a replica, three sentinels")
    counters = Counters(folder, stack, down_after_ms=2000)
    counters.wait_for_discovery()
    (folder / "s3").mkdir()
    bucket = stack.enter_context(s3_server(folder / "s3"))
    settings: dict[str, object] = {
        "DATABASE_URL": cluster.url(),
        "DATABASE_REPLICA_URL": cluster.url(),
        "REDIS_URL": counters.url,
        "CARRIER_TIMEOUT": CARRIER_TIMEOUT_S,
        "LEASE_MARGIN": MARGIN_S,
        "RECONCILE_WAIT": CARRIER_TIMEOUT_S + MARGIN_S,
        "LOG_FORMAT": "json",
    }
    say("the carriers' sandbox, HAProxy, PgBouncer, two application hosts")
    world = stack.enter_context(stage("sqlite", settings | bucket.environment))
    pooler_port = free_port()
    hosts = [
        Host(folder, "a", {"DATABASE_URL": f"postgresql://postgres@127.0.0.1:{pooler_port}/{NAME}?pgbouncer=true"}),
        Host(folder, "b", {}),
    ]
    service_port, primary_port = haproxy(folder, stack, cluster, hosts)
    stack.enter_context(pgbouncer(folder, pooler_port, primary_port, pool_size=20))
    for host in hosts:
        stack.callback(host.kill)
        host.start()
    return Scene(world, cluster, counters, hosts), service_port


def import_parcels() -> tuple[list[str], list[str]]:
    """Fill the shop; return tracking numbers and order numbers."""
    import orjson
    from django.db import connections

    from parcels.importing import ParcelImport
    from parcels.samples import sample_parcels

    samples = list(sample_parcels(PARCELS, now_ms=time.time_ns() // 1_000_000))
    lines = ((number, orjson.dumps(sample)) for number, sample in enumerate(samples, 1))
    ParcelImport(shop_id=SHOP, report=lambda *_: None).run(lines)
    connections.close_all()  # as what it is connected to will die
    return [sample["trackingId"] for sample in samples], [sample["orderNumber"] for sample in samples]


def play(name: str, scene: Scene, load: Load) -> None:
    """Put the scene under load, let the act happen, print what came back."""
    act = ACTS[name]
    print(f"\n{(act.__doc__ or name).splitlines()[0]}")
    with load:
        time.sleep(CALM_S)
        after = act(scene)
        for what in after:
            say(what)
    for kind in KINDS:
        tally = load.tallies[kind]
        gap_s = tally.longest_gap_s(load.began_at, load.ended_at)
        outcomes = line(tally.outcomes)
        print(f"  {kind:8} longest gap {gap_s:5.1f} s, slowest {tally.slowest_s:5.1f} s   {outcomes}", flush=True)


def say(what: str) -> None:
    print(f"  {what}", flush=True)


def settle(world: Stage, keys: dict[str, list[Answer]]) -> list[str]:
    """Let the leases end, reconcile, compare; return what is wrong."""
    print("\nafter the reconciliation")
    time.sleep(CARRIER_TIMEOUT_S + MARGIN_S + 0.5)
    world.reconcile()
    verdict = Judge(world).keys(keys)
    say(str(verdict))
    unserved = sum(answers[-1].status != 201 for answers in keys.values())
    say(f"{unserved} buyers gave up without a label")
    return verdict.faults + Judge(world).strangers().faults


def calm(scene: Scene) -> Iterator[str]:
    """Nothing happens."""
    time.sleep(10)
    yield f"database: {scene.cluster.roles()}"


def host_killed(scene: Scene) -> Iterator[str]:
    """An application host killed with SIGKILL, started again after 5 s."""
    host = scene.hosts[0]
    host.kill()
    time.sleep(5)
    host.start()
    yield f"host {host.name} is back"
    time.sleep(3)


def rolling_restart(scene: Scene) -> Iterator[str]:
    """Rolling restart: SIGTERM to one application host, then to the other."""
    for host in scene.hosts:
        began_at = time.monotonic()
        host.stop()
        yield f"host {host.name} ended {time.monotonic() - began_at:.1f} s after SIGTERM"
        host.start()
        time.sleep(2)


def replica_killed(scene: Scene) -> Iterator[str]:
    """The replica that commits wait for (the synchronous standby) killed, started again after 10 s."""
    node = scene.cluster.node("sync_standby")
    node.kill()
    time.sleep(10)
    node.start()
    yield f"{node.name} was killed; database: {scene.cluster.roles()}"
    time.sleep(5)


def primary_killed(scene: Scene) -> Iterator[str]:
    """The primary's host killed, Patroni and PostgreSQL with SIGKILL; started again when another has taken over."""
    node = scene.cluster.node("leader")
    node.kill()
    yield from wait_for_successor(scene, node)
    node.start()
    time.sleep(5)


def primary_frozen(scene: Scene) -> Iterator[str]:
    """The primary's host frozen (SIGSTOP), silent on open connections; reset when another has taken over.

    A watchdog resets it in a cluster. Thawed instead, Patroni 3.0.2 (Debian 12's) may overwrite the new leader's key in
    etcd, and the new primary's transactions are undone: its pull request 2689 mended that.
    """
    node = scene.cluster.node("leader")
    node.signal_all(signal.SIGSTOP)
    yield from wait_for_successor(scene, node)
    node.kill()
    node.start()
    time.sleep(5)


def wait_for_successor(scene: Scene, gone: Node) -> Iterator[str]:
    began_at = time.monotonic()
    others = {node.name for node in scene.cluster.nodes} - {gone.name}
    while not any(role == "leader" and name in others for name, role in scene.cluster.roles().items()):
        time.sleep(0.1)
        if time.monotonic() - began_at > 60:
            raise RuntimeError("nobody has taken over")
    yield f"{gone.name} was the primary; another one is {time.monotonic() - began_at:.1f} s later"
    time.sleep(5)


def redis_killed(scene: Scene) -> Iterator[str]:
    """Redis: the master killed, started again after 10 s."""
    host, port = scene.counters.sentinels[0].ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
    server = next(server for server in scene.counters.servers if server.port == int(port))
    server.process.kill()
    time.sleep(10)
    server.start()
    now = scene.counters.sentinels[0].ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
    yield f"{host.decode()}:{port.decode()} was the master, now it is {now[0].decode()}:{now[1].decode()}"
    time.sleep(3)


def redis_silent(scene: Scene) -> Iterator[str]:
    """Redis and its sentinels silent for 10 s (SIGSTOP): connections stay open, nothing answers."""
    processes = [server.process for server in (*scene.counters.servers, *scene.counters.sentinels)]
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    time.sleep(10)
    for process in processes:
        process.send_signal(signal.SIGCONT)
    yield "Redis answers again"
    time.sleep(3)


ACTS: dict[str, Callable[[Scene], Iterator[str]]] = {
    "calm": calm,
    "host-killed": host_killed,
    "rolling": rolling_restart,
    "replica-killed": replica_killed,
    "primary-killed": primary_killed,
    "primary-frozen": primary_frozen,
    "redis-killed": redis_killed,
    "redis-silent": redis_silent,
}


if __name__ == "__main__":
    main()
