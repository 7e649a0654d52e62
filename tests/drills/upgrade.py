"""The upgrade drill: ``python -m tests.drills.upgrade [--from COMMIT]``.

Two versions, N-1 and N, serve side by side on one PostgreSQL and Redis while clients look parcels up and order labels:
N-1 serves, N migrates, both serve, N alone; then back again, N-1 beside N and alone on N's tables. A server leaves the
rotation a moment before its SIGTERM, as behind a proxy, and clients send nothing twice, except that each order is
repeated with its key at the next server. Every look-up and label must be found, every order bought once and recorded,
and no version may log an error.

N is HEAD, N-1 the last release, or before the first one the commit that made the present migrations. Where N adds no
migration, its copy gets some: columns and, concurrently, an index for three tables in use.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import django
import orjson
from django.db import connection

from tests.drills.audit import Audit
from tests.drills.environment import Environment, sandbox, sandbox_settings, set_variables
from tests.drills.printing import exit_code, print_table
from tests.drills.shop import ACCOUNTS, SENDER, SHOP
from tests.drills.turns import Load
from tests.drills.versions import Version, version_before
from tests.support.processes import free_port
from tests.support.services import postgresql, redis_server

SAMPLES = 500
CARRIER_S = 0.4  # a call to a carrier takes this long, so that a server that is stopped has purchases under way
LEAVE_S = 0.2  # from leaving the rotation to SIGTERM
GOOD = ("look-up 200", "order 201", "repeated 201 replayed", "label 200")
# Labels by whether the version that wrote them filled the new column.
FILLED = "SELECT upgrade_note IS NOT NULL, count(*) FROM labels_shippinglabel GROUP BY 1"


def drill(env: Environment, old: Version, new: Version, load: Load, stack: ExitStack, seconds: float) -> list[str]:
    """Go from the old version to the new one and back; return the faults."""
    faults: list[str] = []

    def serve(phase: str, *rotation: Version) -> None:
        load.begin(phase, *rotation)
        time.sleep(seconds)

    def stop(version: Version) -> None:
        time.sleep(LEAVE_S)
        faults.extend(version.stop())

    def expect(version: Version, status: int, when: str) -> None:
        if (found := version.readiness()) != status:
            faults.append(f"{version.name}: /readyz is {found} {when}, not {status}")

    start(old, stack)
    load.begin("N-1", old)
    slow = {"fault": "slow", "delay_s": CARRIER_S}
    with env.faults(*[slow | {"carrier": carrier} for carrier in ACCOUNTS]), load:
        serve("N-1", old)
        new.start(stack)
        expect(new, 503, "before the migration")
        load.begin("N-1, N migrates", old)
        new.manage("migrate", "--verbosity", "0")
        new.wait_until_ready()
        expect(old, 200, "after the migration")
        new.run(stack, "work")
        serve("N-1 and N", old, new)
        load.begin("N, N-1 ends", new)
        stop(old)
        serve("N", new)
        old.manage("migrate", "--verbosity", "0")  # as an orchestrator does before each start
        start(old, stack)
        serve("N and N-1", new, old)
        load.begin("N-1, N ends", old)
        stop(new)
        serve("N-1 on N's tables", old)
    stop(old)
    return faults


def start(version: Version, stack: ExitStack) -> None:
    version.start(stack)
    version.run(stack, "work")
    version.wait_until_ready()


def report(env: Environment, load: Load) -> list[str]:
    """Print the answers and compare the purchases; return the faults."""
    phases = dict.fromkeys(phase for phase, _ in load.answers)
    rows = [(phase, [load.answers[phase, good] for good in GOOD]) for phase in phases]
    rows.append(("all", [sum(column) for column in zip(*(counted for _, counted in rows), strict=True)]))
    print_table(["phase", *GOOD], [[phase, *counted] for phase, counted in rows])
    bad = [f"{phase}: {count} x {what}" for (phase, what), count in load.answers.items() if what not in GOOD]
    audit = Audit(env)
    result, unrecorded = audit.keys(load.keys), audit.unrecorded()
    print(f"  {result}; {unrecorded.unknown_to_us} in the ledger alone")
    return bad + result.faults + unrecorded.faults


def writers() -> list[str]:
    """Print how many labels each version wrote; return a fault unless both did."""
    with connection.cursor() as cursor:
        cursor.execute(FILLED)
        counts = dict(cursor.fetchall())
    print(f"  written by N-1: {counts.get(False, 0)}, by N: {counts.get(True, 0)}")
    return [] if len(counts) == 2 else ["one version wrote no label"]


def open_shop(version: Version) -> str:
    """Make the tables, the shop and its contracts with a version's own commands; return a token."""
    version.manage("migrate", "--verbosity", "0")
    version.manage("create_shop", "Drill", "--id", SHOP)
    version.manage("set_sender_address", SHOP, "-", stdin=json.dumps(SENDER).encode())
    for carrier, (account, password) in ACCOUNTS.items():
        options = ["--account-number", account, "--password-stdin", "--all-products"]
        version.manage("configure_carrier", SHOP, carrier, *options, stdin=password.encode())
    return version.manage("create_token", SHOP)


def import_samples(version: Version) -> list[str]:
    """Import sample parcels; return their tracking numbers."""
    from parcels.samples import sample_parcels

    samples = list(sample_parcels(SAMPLES, now_ms=time.time_ns() // 1_000_000))
    version.manage("import_parcels", SHOP, "-", stdin=b"\n".join(map(orjson.dumps, samples)))
    return [sample["trackingId"] for sample in samples]


def set_up(commit: str, stack: ExitStack) -> tuple[Environment, Version, Version]:
    """Start everything but the service, and take both versions out of git."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drill-", ignore_cleanup_errors=True)))
    old, new = Version("N-1", commit, folder), Version("N", "HEAD", folder)
    if not old.migrations.items() <= new.migrations.items():
        sys.exit(f"HEAD has not all migrations of {commit} as they were: the two can't share a database")
    if old.migrations == new.migrations:
        new.change_tables()
    port = free_port()
    set_variables(folder, sandbox_settings(port))
    os.environ["DATABASE_URL"] = stack.enter_context(postgresql(folder / "pg"))
    os.environ["REDIS_URL"] = stack.enter_context(redis_server(folder / "redis.sock"))
    stack.enter_context(sandbox(folder, port))
    return Environment(folder, port, open_shop(old)), old, new


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.upgrade", description=__doc__)
    parser.add_argument("--from", dest="commit", default=version_before(), help="N-1; by default %(default)s")
    parser.add_argument("--seconds", type=float, default=8, help="of each phase")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM ends the drill's processes, too
    with ExitStack() as stack:
        env, old, new = set_up(options.commit, stack)
        print(f"N-1 is {options.commit}, N is HEAD", flush=True)
        django.setup()
        load = Load(env, import_samples(old))
        faults = drill(env, old, new, load, stack, options.seconds) + report(env, load)
        faults += [*(writers() if new.is_changed else []), *old.errors(), *new.errors()]
    print(f"{len(faults)} faults")
    sys.exit(exit_code(faults))


if __name__ == "__main__":
    main()
