"""The upgrade drill: ``python -m tests.drills.upgrade [--from COMMIT] [--rounds N]``.

A release serves with PostgreSQL, Redis and the carriers' sandbox behind Caddy, as deploy/Caddyfile sets it up, while
clients look parcels up, over kept connections and new ones, and order labels. ``deploy/upgrade.sh`` brings HEAD,
``deploy/upgrade.sh back`` the release again, by turns; it is the script itself, but `systemctl` is the drill's, which
runs what the units name. Each time both versions are up, requests go to the two directly for a while: each order is
repeated with its key at the other version. Nothing else is sent twice.

No request may be refused or cut off, every label must be found, every order bought once and recorded, and no version
may log an error. HEAD gets columns and, concurrently, an index for three tables in use. It needs caddy and unshare.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import django
import orjson

from tests.drills import caddy
from tests.drills.environment import Environment, sandbox, sandbox_settings, set_variables, temporary_folder
from tests.drills.harness import finish, read_options
from tests.drills.load import slowest_s
from tests.drills.printing import print_table
from tests.drills.shop import ACCOUNTS, SHOP, open_shop_by_commands
from tests.drills.sql import execute
from tests.drills.systemd import Systemd
from tests.drills.turns import Turns
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
        self.load = Turns(self.env, import_samples(folder / "srv"))
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
        manage(self.folder / "srv", "migrate", "--verbosity", "0")
        return Environment(self.folder, sandbox_port, open_shop_by_commands(partial(manage, self.folder / "srv")))

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
        answers = Counter((each.phase, f"{each.kind} {each.outcome}") for each in self.load.records)
        phases = dict.fromkeys(phase for phase, _ in answers)
        rows = [(phase, [answers[phase, good] for good in GOOD]) for phase in phases]
        rows.append(("all", [sum(column) for column in zip(*(counted for _, counted in rows), strict=True)]))
        waits = [f"{self.longest_ms(phase, 'look-up')}, {self.longest_ms(phase, 'order')}" for phase in phases]
        table = [[phase, *counted, wait] for (phase, counted), wait in zip(rows, [*waits, ""], strict=True)]
        print_table(["phase", *GOOD, "longest look-up, order (ms)"], table)
        for (phase, what), count in answers.items():
            if what not in GOOD:
                yield f"{phase}: {count} x {what}"
        result = self.load.orders.audited()
        print(f"  {result}")
        yield from [*result.faults, *writers(), *self.systemd.faults, *self.systemd.errors()]

    def longest_ms(self, phase: str, what: str) -> int:
        return round(1000 * slowest_s(self.load.of(what, phase)))


def writers() -> list[str]:
    """Print how many labels each version wrote; return a fault unless both did."""
    counts = dict(execute(FILLED))
    print(f"  written by 0.1.0: {counts.get(False, 0)}, by HEAD: {counts.get(True, 0)}")
    return [] if len(counts) == 2 else ["one version wrote no label"]


def import_samples(folder: Path) -> list[str]:
    """Import sample parcels; return their tracking numbers."""
    from parcels.samples import sample_parcels

    samples = list(sample_parcels(SAMPLES, now_ms=time.time_ns() // 1_000_000))
    manage(folder, "import_parcels", SHOP, "-", stdin=b"\n".join(map(orjson.dumps, samples)).decode())
    return [sample["trackingId"] for sample in samples]


if __name__ == "__main__":
    # By default HEAD's packages are installed anew.
    options = read_options(**{"from": version_before()}, rounds=1, seconds=8.0, install=True)
    with ExitStack() as stack:
        folder, commit = temporary_folder(stack), vars(options)["from"]
        print(f"from {commit} to HEAD and back", flush=True)
        drill = Drill(commit, folder, stack, options.seconds)
        if not options.install:
            drill.provide_release()
        drill.run(options.rounds)
        faults = list(drill.faults())
    finish(faults)
