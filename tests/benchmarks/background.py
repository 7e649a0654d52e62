"""Look-ups and purchases beside tracking and webhooks: ``python -m tests.benchmarks.background [--parcels N]``.

In turn without `work` and without an endpoint, and with both: `work` then follows N parcels at 10 polls a day each, of
which every fourth brings news, and delivers the events. Only the ratio within one run means something.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count, repeat
from statistics import median

from django.utils import timezone

from tests.benchmarks import importing, purchases, tracking
from tests.benchmarks.driver import drive
from tests.benchmarks.mixed import Driver, Request
from tests.benchmarks.webhooks import compare
from tests.drills.environment import Environment, tracking_settings
from tests.drills.harness import play
from tests.drills.printing import percentiles_ms, print_table
from tests.drills.shop import SHOP
from tests.drills.sql import execute
from tests.drills.tracking import stub
from tests.drills.webhooks import world
from tests.drills.webhooks.receiver import SLOW
from tests.support.paths import PARCELS
from tests.support.processes import ROOT
from tests.support.threads import repeated
from tests.support.waiting import until

ROUNDS = 3
CONNECTIONS = 16
LOOK_UPS, LABELS = 25_000, 600
PACE, PACED_S, IMPORTED = 200, 20.0, 20_000  # look-ups a second, for so long; parcels of an import
NAMES = {False: "without", True: "with tracking and webhooks"}
HOURS_BETWEEN_POLLS = 2.4
SETTLE_S = 30.0  # `work` begins with all that is due: counts, and the polls of the time without it
# Over the time between two polls.
SPREAD = "UPDATE parcels_parcelnumber SET due_at = now() + random() * %s * interval '1 hour'"
RATES: dict[str, object] = {"ALPHA_TRACKING_RATE": 50, "BETA_TRACKING_RATE": 50}  # never reached


def settings(_: argparse.Namespace) -> dict[str, object]:
    return world.SETTINGS | tracking_settings() | RATES | {"CARRIER_CONCURRENCY": CONNECTIONS}


def benchmark(env: Environment, options: argparse.Namespace) -> None:
    parcels = options.parcels
    with stub(env, step_asks=4), world.Receiver(env.folder) as receiver:
        world.add_endpoint(SHOP, receiver.url(SLOW))
        tracking.fill(parcels)
        execute(SPREAD, [HOURS_BETWEEN_POLLS])
        execute("VACUUM ANALYZE parcels_parcelnumber")  # before anything is measured
        with env.served(workers=2) as server:
            port = server.port
            purchases.buy(env, port, 2 * LABELS, CONNECTIONS)
            for name, size, work in (
                ("look-ups", LOOK_UPS, partial(look_up, env, parcels, port)),
                ("purchases", LABELS, partial(purchases.buy, env, port, LABELS, CONNECTIONS)),
            ):
                work()
                pids = [server.pid, env.postmaster]
                beside = partial(maybe, partial(background, env))
                show(name, size, compare(repeat(work), ROUNDS, pids, beside))
            show_paced(env, port, parcels)


def maybe(what: Callable[[], AbstractContextManager[object]], is_on: bool) -> AbstractContextManager[object]:
    return what() if is_on else nullcontext()


def show_paced(env: Environment, port: int, parcels: int) -> None:
    """Show look-ups at a steady pace, alone and beside everything else, by turns."""
    files = count()
    buy, read = partial(purchases.buy, env, port, 20, 1), partial(import_new, env, files)
    rows = []
    for _ in range(ROUNDS):
        rows.append(["alone", *paced(env, port, parcels)])
        with background(env), repeated(buy), repeated(read):
            rows.append(["beside all", *paced(env, port, parcels)])
    print_table([f"{PACE} look-ups a second", "a second", "p50, ms", "p95", "p99"], rows)


def paced(env: Environment, port: int, parcels: int) -> Iterator[str]:
    """Send look-ups at random moments; yield how many were answered in a second, and percentiles of their time."""
    rng = random.Random(1)
    numbers = [rng.randrange(1, parcels + 1) for _ in range(int(PACE * PACED_S))]
    due_s = sorted(rng.uniform(0, PACED_S) for _ in numbers)
    requests = [Request(at, "look-up", "GET", path_of(number)) for at, number in zip(due_s, numbers, strict=True)]
    began_at = time.monotonic()
    with ProcessPoolExecutor(1) as pool:
        outcomes = pool.submit(Driver(port, env.token, requests).drive).result()
    took_s = time.monotonic() - began_at
    assert {each.outcome for each in outcomes} == {"200"}
    yield f"{len(outcomes) / took_s:.0f}"
    yield from (f"{each:.1f}" for each in percentiles_ms([outcome.duration_s for outcome in outcomes]))


def import_new(env: Environment, files: Iterator[int]) -> None:
    file = importing.write_samples(env, IMPORTED, f"import-{next(files)}-")
    command = [sys.executable, "manage.py", "import_parcels", SHOP, str(file)]
    subprocess.run(command, cwd=ROOT, env=env.variables, check=True, capture_output=True)


def path_of(number: int) -> str:
    return f"{PARCELS}{'6A' if number % 2 else 'XU'}{number:011d}"


def look_up(env: Environment, parcels: int, port: int) -> None:
    chosen = (random.randrange(1, parcels + 1) for _ in range(LOOK_UPS))
    paths = [path_of(number) for number in chosen]
    assert {each.outcome for each in drive(port, paths, env.token, CONNECTIONS)} == {"200"}


@contextmanager
def background(env: Environment) -> Iterator[None]:
    """Run `work` as it is once it has caught up."""
    from parcels.models import TrackingNumber

    answered = TrackingNumber.objects.filter(checked_at__gte=timezone.now())
    with env.working():
        until(answered.exists)
        time.sleep(SETTLE_S)
        yield


def show(what: str, count: int, costs: dict[bool, list[list[float]]]) -> None:
    middle = {key: [median(column) for column in zip(*rounds, strict=True)] for key, rounds in costs.items()}
    rows = []
    for key, (took_s, *cpu_s) in middle.items():
        rate = [f"{count / took_s:.0f}", f"{middle[False][0] / took_s:.2f}"]
        rows.append([NAMES[key], *rate, *(f"{1000 * each / count:.2f}" for each in cpu_s)])
    print_table([f"{count} x {what}", "a second", "of without", "CPU, ms", "PostgreSQL's, ms"], rows)


if __name__ == "__main__":
    play(benchmark, settings, redis=True, parcels=100_000)
