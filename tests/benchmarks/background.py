"""Look-ups and purchases beside tracking and webhooks: ``python -m tests.benchmarks.background [--parcels N]``.

In turn without `work` and without an endpoint, and with both: `work` then follows N parcels at 10 polls a day each, of
which every fourth brings news, and delivers the events. Only the ratio within one run means something.
"""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from statistics import median, quantiles
from threading import Event

from tests.benchmarks import importing, purchases, tracking
from tests.benchmarks.driver import drive
from tests.benchmarks.mixed import Driver, Request
from tests.benchmarks.webhooks import switch
from tests.drills.environment import Environment, environment, tracking_settings
from tests.drills.options import read_options
from tests.drills.printing import print_table
from tests.drills.process import Process, metered
from tests.drills.shop import SHOP
from tests.drills.tracking import stub
from tests.drills.webhooks import world
from tests.drills.webhooks.receiver import SLOW
from tests.support.paths import PARCELS
from tests.support.processes import ROOT, free_port
from tests.support.waiting import until

ROUNDS = 3
CONNECTIONS = 16
LOOK_UPS, LABELS = 25_000, 600
PACE, PACED_S, IMPORTED = 200, 20.0, 20_000  # look-ups a second, for so long; parcels of an import
NAMES = {False: "without", True: "with tracking and webhooks"}
HOURS_BETWEEN_POLLS = 2.4
SETTLE_S = 30.0  # `work` begins with all that is due: counts, and the polls of the time without it
SPREAD = "UPDATE parcels_parcelnumber SET due_at = now() + random() * %s * interval '1 hour'"
RATES: dict[str, object] = {"ALPHA_TRACKING_RATE": 50, "BETA_TRACKING_RATE": 50}  # never reached
Cost = tuple[float, float, float]


def main() -> None:
    parcels, port = read_options(__doc__, parcels=100_000).parcels, free_port()
    settings = world.SETTINGS | tracking_settings(port) | RATES | {"CARRIER_CONCURRENCY": CONNECTIONS}
    with environment("postgresql", settings, redis=True) as env, ExitStack() as stack:
        stack.enter_context(stub(env, port, step_asks=4))
        receiver = world.Receiver(env.folder)
        world.add_endpoint(SHOP, receiver.url(SLOW))
        receiver.start()
        stack.callback(receiver.kill)
        tracking.fill(parcels)
        spread()
        server = stack.enter_context(env.served(workers=2))
        purchases.buy(env, server[0], 2 * LABELS, CONNECTIONS)
        for name, size, work in (
            ("look-ups", LOOK_UPS, partial(look_up, env, parcels, server[0])),
            ("purchases", LABELS, partial(purchases.buy, env, server[0], LABELS, CONNECTIONS)),
        ):
            show(name, size, compare(env, work, size, server[1].popen.pid))
        show_paced(env, server[0], parcels)


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
    assert {each.status for each in outcomes} == {200}
    cuts = quantiles((each.latency_ms for each in outcomes), n=100)
    yield f"{len(outcomes) / took_s:.0f}"
    yield from (f"{cuts[percent - 1]:.1f}" for percent in (50, 95, 99))


@contextmanager
def repeated(act: Callable[[], object]) -> Iterator[None]:
    """Do something again and again meanwhile."""
    is_over = Event()

    def repeat() -> None:
        while not is_over.is_set():
            act()

    with ThreadPoolExecutor(1) as pool:
        repeating = pool.submit(repeat)
        try:
            yield
        finally:
            is_over.set()
        repeating.result()


def import_new(env: Environment, files: Iterator[int]) -> None:
    file = importing.write_samples(env, IMPORTED, f"import-{next(files)}-")
    command = [sys.executable, "manage.py", "import_parcels", SHOP, str(file)]
    subprocess.run(command, cwd=ROOT, env=env.variables, check=True, capture_output=True)


def path_of(number: int) -> str:
    return f"{PARCELS}{'6A' if number % 2 else 'XU'}{number:011d}"


def look_up(env: Environment, parcels: int, port: int) -> None:
    chosen = (random.randrange(1, parcels + 1) for _ in range(LOOK_UPS))
    paths = [path_of(number) for number in chosen]
    assert drive(port, paths, env.token, CONNECTIONS)[1] == 0


def compare(env: Environment, work: Callable[[], object], count: int, pid: int) -> dict[bool, list[Cost]]:
    """Return the requests a second and the CPU milliseconds a request, the service's and PostgreSQL's, by round."""
    costs: dict[bool, list[Cost]] = {False: [], True: []}
    work()
    for number in range(2 * ROUNDS):
        is_on = number % 2 == 1
        with background(env) if is_on else ExitStack():
            switch(is_on)
            with metered(pid, env.postmaster) as used:
                work()
        took_s, own_s, server_s = used
        costs[is_on].append((count / took_s, 1000 * own_s / count, 1000 * server_s / count))
    return costs


def spread() -> None:
    """Spread the parcels over the time between two polls, and let the table be vacuumed before anything is measured."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(SPREAD, [HOURS_BETWEEN_POLLS])
        cursor.execute("VACUUM ANALYZE parcels_parcelnumber")
    connection.close()


@contextmanager
def background(env: Environment) -> Iterator[None]:
    """Run `work` as it is once it has caught up."""
    from django.db import connection
    from django.utils import timezone

    from parcels.models import TrackingNumber

    answered = TrackingNumber.objects.filter(checked_at__gte=timezone.now())
    with Process([sys.executable, "manage.py", "work"], env.variables, env.folder / "work.log"):
        until(answered.exists)
        connection.close()
        time.sleep(SETTLE_S)
        yield


def show(what: str, count: int, costs: dict[bool, list[Cost]]) -> None:
    middle = {key: [median(column) for column in zip(*rounds, strict=True)] for key, rounds in costs.items()}
    rows = [
        [NAMES[key], f"{rate:.0f}", f"{rate / middle[False][0]:.2f}", f"{own:.2f}", f"{its:.2f}"]
        for key, (rate, own, its) in middle.items()
    ]
    print_table([f"{count} x {what}", "a second", "of without", "CPU, ms", "PostgreSQL's, ms"], rows)


if __name__ == "__main__":
    main()
