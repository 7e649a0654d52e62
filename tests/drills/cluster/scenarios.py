"""Scenarios of the cluster drill: a docstring's first line is printed, then each event that is yielded."""

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.drills.cluster.database import DatabaseCluster, Node
from tests.drills.environment import Environment
from tests.support.processes import Server
from tests.support.sentinels import World as RedisCluster
from tests.support.waiting import until


@dataclass
class System:
    """All parts that a scenario may disturb."""

    env: Environment
    database: DatabaseCluster
    redis: RedisCluster
    hosts: list[Server]


def calm(system: System) -> Iterator[str]:
    """Nothing happens."""
    time.sleep(10)
    yield f"database: {system.database.roles()}"


def host_killed(system: System) -> Iterator[str]:
    """An application host killed with SIGKILL, started again after 5 s."""
    host = system.hosts[0]
    host.kill()
    time.sleep(5)
    host.start()
    yield f"host {host.log.stem} is back"
    time.sleep(3)


def rolling_restart(system: System) -> Iterator[str]:
    """Rolling restart: SIGTERM to one application host, then to the other."""
    for host in system.hosts:
        began_at = time.monotonic()
        host.stop()
        yield f"host {host.log.stem} ended {time.monotonic() - began_at:.1f} s after SIGTERM"
        host.start()
        time.sleep(2)


def replica_killed(system: System) -> Iterator[str]:
    """The replica that commits wait for (the synchronous standby) killed, started again after 10 s."""
    node = system.database.node("sync_standby")
    node.kill()
    time.sleep(10)
    node.start()
    yield f"{node.name} was killed; database: {system.database.roles()}"
    time.sleep(5)


def primary_killed(system: System) -> Iterator[str]:
    """The primary's host killed, Patroni and PostgreSQL with SIGKILL; started again when another has taken over."""
    node = system.database.node("leader")
    node.kill()
    yield from wait_for_successor(system, node)
    node.start()
    time.sleep(5)


def primary_frozen(system: System) -> Iterator[str]:
    """The primary's host frozen (SIGSTOP), with open connections silent; reset when another has taken over.

    In a real cluster a watchdog resets it. If it resumed instead, Patroni 3.0.2 (Debian 12's) might overwrite the new
    leader's key in etcd, and the new primary's transactions would be undone: Patroni's pull request 2689 fixed that.
    """
    node = system.database.node("leader")
    node.signal_all(signal.SIGSTOP)
    yield from wait_for_successor(system, node)
    node.kill()
    node.start()
    time.sleep(5)


def primary_cut_off(system: System) -> Iterator[str]:
    """The primary's host cut off: nothing reaches it or leaves it, and it runs on; until another has taken over."""
    node = system.database.node("leader")
    node.cut_off()
    yield from wait_for_successor(system, node)
    node.reconnect()
    time.sleep(5)


def wait_for_successor(system: System, gone: Node) -> Iterator[str]:
    began_at = time.monotonic()
    others = {node.name for node in system.database.nodes} - {gone.name}
    until(lambda: others & {name for name, role in system.database.roles().items() if role == "leader"})
    yield f"{gone.name} was the primary; another one is {time.monotonic() - began_at:.1f} s later"
    time.sleep(5)


def redis_killed(system: System) -> Iterator[str]:
    """Redis: the master killed, started again after 10 s."""
    before = redis_master(system)
    server = next(server for server in system.redis.servers if server.port == before)
    server.kill()
    time.sleep(10)
    server.start()
    yield f"the master was on port {before}, now it is on port {redis_master(system)}"
    time.sleep(3)


def redis_master(system: System) -> int:
    """Return the master's port."""
    _, port = system.redis.sentinels[0].ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
    return int(port)


def redis_silent(system: System) -> Iterator[str]:
    """Redis and its sentinels silent for 10 s (SIGSTOP): connections stay open, nothing answers."""
    processes = [server.popen for server in (*system.redis.servers, *system.redis.sentinels)]
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    time.sleep(10)
    for process in processes:
        process.send_signal(signal.SIGCONT)
    yield "Redis answers again"
    time.sleep(3)


SCENARIOS: dict[str, Callable[[System], Iterator[str]]] = {
    "calm": calm,
    "host-killed": host_killed,
    "rolling": rolling_restart,
    "replica-killed": replica_killed,
    "primary-killed": primary_killed,
    "primary-frozen": primary_frozen,
    "primary-cut-off": primary_cut_off,
    "redis-killed": redis_killed,
    "redis-silent": redis_silent,
}
