"""The upgrade drill: ``python -m tests.drills.upgrade [--from COMMIT] [--rounds N]``.

A release serves with PostgreSQL, Redis and the carriers' sandbox behind Caddy, as deploy/Caddyfile sets it up, while
clients look parcels up, over kept connections and new ones, and order labels. ``deploy/upgrade.sh`` brings HEAD,
``deploy/upgrade.sh back`` the release again, by turns; it is the script itself, but `systemctl` is the drill's, which
runs what the units name. Each time both versions are up, requests go to the two directly for a while: each order is
repeated with its key at the other version. Nothing else is sent twice.

No request may be refused or cut off, every label must be found, every order bought once and recorded, and no version
may log an error. HEAD gets columns and, concurrently, an index for three tables in use. It needs caddy and unshare.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import django
import orjson
from django.db import connection

from tests.drills import caddy
from tests.drills.audit import Audit
from tests.drills.environment import Environment, sandbox, sandbox_settings, set_variables
from tests.drills.printing import exit_code, print_table
from tests.drills.shop import ACCOUNTS, SENDER, SHOP
from tests.drills.systemd import Systemd
from tests.drills.turns import Load
from tests.drills.versions import check_out_changed, extract, git, manage, migrations, version_before
from tests.support.http import call
from tests.support.processes import free_port
from tests.support.services import postgresql, redis_server
from tests.support.waiting import until

SAMPLES = 500
CARRIER_S = 0.4  # a call to a carrier takes this long, so that a server that is stopped has purchases under way
LEAVE_S = 0.5  # from the last request that goes to a server directly to its SIGTERM
GOOD = ("look-up 200", "order 201", "repeated 201 replayed", "label 200")
# Labels by whether the version that wrote them filled the new column.
FILLED = "SELECT upgrade_note IS NOT NULL, count(*) FROM labels_shippinglabel GROUP BY 1"


class Drill:
    """A service on this machine that is upgraded, and its clients."""

    def __init__(self, commit: str, folder: Path, stack: ExitStack, seconds: float) -> None:
        """Start everything but the clients."""
        self.folder, self.seconds = folder, seconds
        self.public, self.port = free_port(), free_port()
        extract(commit, folder / "srv", with_its_packages=True)
        check_out_changed(folder / "checkout")
        if not migrations(folder / "srv").items() <= migrations(folder / "checkout").items():
            sys.exit(f"HEAD has not all migrations of {commit} as they were: the two can't share a database")
        self.env = self.start_servers(stack)
        self.load = Load(self.env, import_samples(folder / "srv"))
        self.systemd = Systemd(folder, stack, self.serve_both)
        units = folder / "srv" / "deploy" / "systemd"
        subprocess.run(f"cp -r {units}/parcel-* {folder}/units/", shell=True, check=True)
        (folder / "settings.env").write_text(f"SERVE_PORT={self.port}\n")
        for unit in ("parcel-serve", "parcel-work"):
            self.systemd.start(unit)
        until(lambda: call(self.port, "GET", "/readyz").status == 200)
        stack.enter_context(caddy.proxy(folder, self.public, self.port, spare=True))

    def start_servers(self, stack: ExitStack) -> Environment:
        sandbox_port = free_port()
        set_variables(self.folder, sandbox_settings(sandbox_port))
        os.environ.update(
            DATABASE_URL=stack.enter_context(postgresql(self.folder / "pg")),
            REDIS_URL=stack.enter_context(redis_server(self.folder / "redis.sock")),
            SERVE_PORT=str(self.port),
            METRICS_PORT=str(free_port()),
            TRUSTED_PROXIES="1",
            ALLOWED_HOSTS=",".join(caddy.HOSTS),
            PUBLIC_BASE_URL=f"http://127.0.0.1:{self.public}",
        )
        stack.enter_context(sandbox(self.folder, sandbox_port))
        django.setup()
        return Environment(self.folder, sandbox_port, open_shop(self.folder / "srv"))

    def provide_release(self) -> None:
        """Put HEAD where the script would install it, with this run's packages."""
        (self.folder / "srv" / "releases").mkdir()
        checkout = self.folder / "checkout"
        release = self.folder / "srv" / "releases" / git("describe", "--tags", "--always", folder=checkout)
        extract("HEAD", release, checkout)
        (release / "complete").touch()

    def run(self, rounds: int) -> None:
        """Upgrade and go back, by turns, and upgrade in the end."""
        slow = {"fault": "slow", "delay_s": CARRIER_S}
        self.serve("0.1.0")
        with self.env.faults(*[slow | {"carrier": carrier} for carrier in ACCOUNTS]), self.load:
            time.sleep(self.seconds)
            for _ in range(rounds):
                self.upgrade("HEAD")
                self.upgrade("0.1.0", "back")
            self.upgrade("HEAD")
        for unit in list(self.systemd.processes):
            self.systemd.run("stop", unit)

    def serve(self, phase: str) -> None:
        self.load.begin(phase, ("127.0.0.1", self.public))

    def upgrade(self, name: str, *words: str) -> None:
        self.to = name
        self.serve(f"{name} starts beside")
        begun_s = time.monotonic()
        command = [str(self.folder / "checkout" / "deploy" / "upgrade.sh"), *words]
        subprocess.run(command, env=dict(os.environ) | self.systemd.variables, check=True)
        print(f"  upgrade.sh {' '.join(words)}: {time.monotonic() - begun_s:.0f} s", flush=True)
        self.serve(f"{name} serves")
        time.sleep(self.seconds)

    def serve_both(self, unit: str) -> None:
        """Send requests to both versions for a while, before the one is replaced."""
        if unit == "parcel-serve":
            self.load.begin(f"{self.to} and the other", *((host, self.port) for host in caddy.HOSTS))
            time.sleep(self.seconds)
            self.serve(f"{self.to} takes over")
            time.sleep(LEAVE_S)

    def faults(self) -> Iterator[str]:
        """Print the answers and the purchases; yield what is wrong."""
        phases = dict.fromkeys(phase for phase, _ in self.load.answers)
        rows = [(phase, [self.load.answers[phase, good] for good in GOOD]) for phase in phases]
        rows.append(("all", [sum(column) for column in zip(*(counted for _, counted in rows), strict=True)]))
        waits = [f"{self.longest_ms(phase, 'look-up')}, {self.longest_ms(phase, 'order')}" for phase in phases]
        table = [[phase, *counted, wait] for (phase, counted), wait in zip(rows, [*waits, ""], strict=True)]
        print_table(["phase", *GOOD, "longest look-up, order (ms)"], table)
        for (phase, what), count in self.load.answers.items():
            if what not in GOOD:
                yield f"{phase}: {count} x {what}"
        audit = Audit(self.env)
        result, unrecorded = audit.keys(self.load.keys), audit.unrecorded()
        print(f"  {result}; {unrecorded.unknown_to_us} in the ledger alone")
        yield from [*result.faults, *unrecorded.faults, *writers(), *self.systemd.faults, *self.systemd.errors()]

    def longest_ms(self, phase: str, what: str) -> int:
        return round(1000 * self.load.longest_s[phase, what])


def writers() -> list[str]:
    """Print how many labels each version wrote; return a fault unless both did."""
    with connection.cursor() as cursor:
        cursor.execute(FILLED)
        counts = dict(cursor.fetchall())
    print(f"  written by 0.1.0: {counts.get(False, 0)}, by HEAD: {counts.get(True, 0)}")
    return [] if len(counts) == 2 else ["one version wrote no label"]


def open_shop(folder: Path) -> str:
    """Make the tables, the shop and its contracts with a version's own commands; return a token."""
    manage(folder, "migrate", "--verbosity", "0")
    manage(folder, "create_shop", "Drill", "--id", SHOP)
    manage(folder, "set_sender_address", SHOP, "-", stdin=json.dumps(SENDER).encode())
    for carrier, (account, password) in ACCOUNTS.items():
        options = ["--account-number", account, "--password-stdin", "--all-products"]
        manage(folder, "configure_carrier", SHOP, carrier, *options, stdin=password.encode())
    return manage(folder, "create_token", SHOP)


def import_samples(folder: Path) -> list[str]:
    """Import sample parcels; return their tracking numbers."""
    from parcels.samples import sample_parcels

    samples = list(sample_parcels(SAMPLES, now_ms=time.time_ns() // 1_000_000))
    manage(folder, "import_parcels", SHOP, "-", stdin=b"\n".join(map(orjson.dumps, samples)))
    return [sample["trackingId"] for sample in samples]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.upgrade", description=__doc__)
    parser.add_argument("--from", dest="commit", default=version_before(), help="by default %(default)s")
    parser.add_argument("--rounds", type=int, default=1, help="how often to go there and back, before the last upgrade")
    parser.add_argument("--seconds", type=float, default=8, help="of each phase in which nothing changes")
    parser.add_argument("--install", action=argparse.BooleanOptionalAction, default=True, help="HEAD's packages, anew")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM ends the drill's processes, too
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drill-", ignore_cleanup_errors=True)))
        print(f"from {options.commit} to HEAD and back", flush=True)
        drill = Drill(options.commit, folder, stack, options.seconds)
        if not options.install:
            drill.provide_release()
        drill.run(options.rounds)
        faults = list(drill.faults())
        print(f"{len(faults)} faults")
        sys.exit(exit_code(faults))


if __name__ == "__main__":
    main()
