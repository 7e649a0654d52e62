"""Attacks from outside, with their figures: ``python -m tests.drills.attacks [--through-caddy] [ATTACK ...]``.

The service runs as in production (2 workers, PostgreSQL, Redis). While an attack goes on, parcels are looked up and a
label is bought over connections of their own. Attacks that granian can't hold off alone are meant for Caddy, which runs
with deploy/Caddyfile.
"""

import argparse
import os
import resource
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass

from config.ops.look_up_pool import LOOK_UP_THREADS
from tests.drills import caddy
from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.printing import counts, percentiles_ms
from tests.drills.process import peak_mb, process_tree
from tests.drills.shop import carrier_of, import_samples, new_key, order
from tests.drills.sql import execute
from tests.support.http import Connection, call
from tests.support.paths import PARCELS, SHIPMENTS
from tests.support.processes import free_port
from tests.support.programs import Process
from tests.support.services import redis_pid

WORKERS, LIMIT = 2, 100
THREADS = 24 + LOOK_UP_THREADS  # of a worker, which hold a connection
LOOK_UPS, LOOK_UP_TIMEOUT_S = 200, 5.0
MEMORY_LIMIT_MB = 300
COOKIE = f"Cookie: csrftoken={'c' * 32}; sessionid={'a' * 32}"
# All but this one.
CLIENTS_OF_POSTGRESQL = "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"
PAGES = ("/admin/", "/admin/parcels/parcel/", "/admin/unknown")


@dataclass
class Target:
    """The attacked service: the port of it or of its proxy, and a shop with a parcel."""

    env: Environment
    port: int
    process: Process
    number: str

    def look_up(self, timeout_s: float = LOOK_UP_TIMEOUT_S) -> tuple[str, float]:
        with closing(Connection(self.port, timeout_s)) as connection:
            answer = connection.request("GET", PARCELS + self.number, headers=self.env.bearer)
        return str(answer.status or "no answer"), answer.duration_s

    def open_admin(self) -> str:
        name, value = COOKIE.split(": ")
        return str(call(self.port, "GET", "/admin/", headers={name: value}).status or "no answer")

    def order(self) -> str:
        key = new_key()
        return self.env.buy(self.port, key, order(key, carrier_of(int(key, 16)))).outcome

    def peak_mb(self) -> float:
        """Return the largest peak of resident memory among the service's processes."""
        return max(peak_mb(pid) for pid in process_tree(self.process.pid))


@contextmanager
def flood(port: int, count: int, content: Callable[[int], bytes]) -> Iterator[list[socket.socket]]:
    """Open connections and send each its content, as far as the server takes it; yield them all open."""
    with ExitStack() as stack:
        opened = []
        for number in range(count):
            with suppress(OSError):
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=1))
                opened.append(connection)
                connection.sendall(content(number))
        yield opened


def unfinished_body(number: int) -> bytes:
    head = [f"POST {PAGES[number % len(PAGES)]} HTTP/1.1", "Host: 127.0.0.1", COOKIE, "Content-Length: 1000"]
    return "\r\n".join([*head, "Content-Type: application/x-www-form-urlencoded", "", "half"]).encode()


def look_ups(target: Target) -> list[str]:
    """Look up and buy during an attack; return what was not answered."""
    answers = [target.look_up() for _ in range(LOOK_UPS)]
    p95_ms = percentiles_ms([duration_s for _, duration_s in answers])[1]
    outcomes = Counter(outcome for outcome, _ in answers)
    bought = target.env.buy(target.port, key := new_key(), order(key, "alpha")).outcome
    print(f"  look-ups {counts(outcomes)}, p95 {p95_ms:.0f} ms; an order {bought}")
    return [f"look-ups: {counts(outcomes)}"] * (set(outcomes) != {"200"}) + [f"order: {bought}"] * (bought != "201")


def unfinished_bodies(target: Target) -> list[str]:
    """60 unfinished bodies to pages that take none."""
    with flood(target.port, 60, unfinished_body):
        time.sleep(1)
        return look_ups(target)


def stalled_orders(target: Target) -> list[str]:
    """46 unfinished orders of one token, then 50 of another shop, four at a time, over connections of their own."""
    other = open_another_shop()
    head = ["Host: 127.0.0.1", f"Authorization: Bearer {other}", "Content-Type: application/json"]
    content = "\r\n".join([f"POST {SHIPMENTS} HTTP/1.1", *head, "Content-Length: 1000", "", "half"]).encode()
    with flood(target.port, 46, lambda _: content), ThreadPoolExecutor(4) as pool:
        outcomes = Counter(pool.map(lambda _: target.order(), range(50)))
    print(f"  orders {counts(outcomes)}")
    return [f"orders: {counts(outcomes)}"] * (outcomes != {"201": 50})


def open_another_shop() -> str:
    from shops.models import AccessToken, Shop

    return AccessToken.issue(shop=Shop.objects.create(id="another", name="Another"))[1]


def half_heads(target: Target) -> list[str]:
    """2,100 half-sent heads."""
    with flood(target.port, 2100, lambda _: b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-") as opened:
        faults = look_ups(target)
        began = time.monotonic()
        opened[-1].settimeout(90)
        with suppress(OSError):
            opened[-1].recv(1000)
        print(f"  {len(opened)} heads; the last was given up {time.monotonic() - began:.0f} s later")
    return faults


def large_heads(target: Target) -> list[str]:
    """1,900 heads of 390 kB."""
    with flood(target.port, 1900, lambda _: b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: " + b"a" * 390_000):
        return too_much(target)


def hostile_bodies(target: Target) -> list[str]:
    """400 bodies at once, of a known shop: 64 KiB and 1 MiB of tiny objects."""
    bodies = [{"parcels": [{"": 0}] * number} for number in (7_000, 116_000)]  # nine bytes each, as they are sent

    def post(number: int) -> str:
        return str(target.env.ask(target.port, "POST", SHIPMENTS, bodies[number % 2]).status or "no answer")

    with ThreadPoolExecutor(400) as pool:
        outcomes = Counter(pool.map(post, range(400)))
    print(f"  answered {counts(outcomes)}")
    return too_much(target)


def too_much(target: Target) -> list[str]:
    most_mb = target.peak_mb()
    print(f"  peak memory of one process {most_mb:.0f} MB")
    return [f"{most_mb:.0f} MB"] * (most_mb > MEMORY_LIMIT_MB)


def bursts(target: Target) -> list[str]:
    """60 anonymous requests with an invented session and 44 orders at once, four times, 36 s apart."""
    faults = []
    for number in range(4):
        time.sleep(36 if number else 0)  # granian ends threads that were idle for 30 s
        with ThreadPoolExecutor(60) as pool:
            outcomes = Counter(pool.map(lambda _: target.open_admin(), range(60)))
            outcomes += Counter(pool.map(lambda _: target.order(), range(44)))
        [[connections]] = execute(CLIENTS_OF_POSTGRESQL)
        print(f"  answered {counts(outcomes)}; {connections} connections to PostgreSQL", flush=True)
        refused = [outcome for outcome in outcomes if outcome[:3] not in {"302", "201", "502"}]  # 502: the bulkhead
        faults += [f"answered {outcome}" for outcome in refused]
        faults += [f"{connections} connections"] * (connections > WORKERS * THREADS)
    return faults


def frozen_redis(target: Target) -> list[str]:
    """1,000 look-ups of one shop while Redis is stopped, with a limit of 100."""
    pid = redis_pid(os.environ["REDIS_URL"])
    os.kill(pid, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(16) as pool:
            outcomes = Counter(outcome for outcome, _ in pool.map(lambda _: target.look_up(), range(1000)))
    finally:
        os.kill(pid, signal.SIGCONT)
    print(f"  answered {counts(outcomes)}")
    passed = 1000 - outcomes["429"]
    return [f"{passed} of at most {WORKERS * LIMIT} passed"] * (passed > WORKERS * LIMIT)


ATTACKS: dict[str, Callable[[Target], list[str]]] = {
    "unfinished-bodies": unfinished_bodies,
    "bursts": bursts,
    "stalled-orders": stalled_orders,
    "half-heads": half_heads,
    "large-heads": large_heads,
    "hostile-bodies": hostile_bodies,
    "frozen-redis": frozen_redis,
}


def attack(name: str, env: Environment, number: str, *, through_caddy: bool) -> list[str]:
    """Attack a fresh service; return what it did not withstand."""
    limit = {"RATE_LIMIT": f"{LIMIT}/31d"} if name == "frozen-redis" else {}
    print(f"{name}: {ATTACKS[name].__doc__}", flush=True)
    with ExitStack() as stack:
        public_port = free_port()
        behind = {"TRUSTED_PROXIES": "1", "PUBLIC_BASE_URL": f"http://127.0.0.1:{public_port}"} if through_caddy else {}
        stack.enter_context(env.setting(limit | behind))
        process = stack.enter_context(env.served(workers=WORKERS))
        port = process.port
        if through_caddy:
            stack.enter_context(caddy.proxy(env.folder, public_port, port))
            port = public_port
        return [f"{name}: {fault}" for fault in ATTACKS[name](Target(env, port, process, number))]


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    number = import_samples(1)[0]["trackingId"]
    names = options.chosen or list(ATTACKS)
    return [fault for name in names for fault in attack(name, env, number, through_caddy=options.through_caddy)]


if __name__ == "__main__":
    play(drill, redis=True, chosen=ATTACKS, through_caddy=False)
