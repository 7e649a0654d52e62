"""The drill of failing tracking services: ``python -m tests.drills.failing_tracking [--seconds N]``.

The service runs as in production (2 workers, PostgreSQL, Redis), and `work` beside it. Clients look parcels up and
order labels while both tracking services hang, answer HTML, 429 or garbage, each for an hour whose time is compressed:
`TRACKING_PACE` makes it the `--seconds` of a phase. In the end tracking recovers by itself.
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.drills.environment import Environment, tracking_settings
from tests.drills.forks import close_connections
from tests.drills.harness import play
from tests.drills.load import Clients, Record
from tests.drills.printing import counts, percentiles
from tests.drills.process import Process
from tests.drills.shop import SHOP
from tests.drills.tracking import followed, make_parcels, stub
from tests.support.http import Answer, call
from tests.support.waiting import until

HOUR_S = 3600
PARCELS = 300
LOOK_UP_CLIENTS, LOOK_UP_PACE_S = 4, 0.02
LABEL_CLIENTS, LABEL_PACE_S = 2, 0.5
PHASES = {"before": "normal", "hang": "hang", "HTML": "html", "429": "429", "garbage": "garbage", "after": "normal"}
# After the last fault: the circuit breakers' reset, the back-off at this pace, and some calls.
RECOVERY_TIMEOUT_S = 120


@dataclass(frozen=True)
class Phase:
    """The answers that clients got while the tracking services behaved in one way, and the calls that those got."""

    name: str
    look_ups: list[Record]
    labels: list[Answer]
    calls: int
    oldest_due_s: float

    @property
    def faults(self) -> list[str]:
        late = sum(record.outcome != "200" for record in self.look_ups)
        failed = sum(answer.status != 201 for answer in self.labels)
        return [f"{self.name}: {late} look-ups, {failed} purchases failed"] if late or failed else []

    def __str__(self) -> str:
        p50, p95, p99 = (1000 * value for value in percentiles([record.duration_s for record in self.look_ups]))
        bought = 1000 * percentiles([answer.duration_s for answer in self.labels])[1]
        outcomes = counts(answer.outcome for answer in self.labels)
        return (
            f"{self.name:8} {len(self.look_ups):6} look-ups: p50 {p50:5.1f}, p95 {p95:5.1f}, p99 {p99:6.1f} ms;"
            f" labels: {outcomes}, p95 {bought:4.0f} ms; {self.calls:5} calls, oldest due {self.oldest_due_s:4.0f} s"
        )


def settings(options: argparse.Namespace) -> dict[str, object]:
    rates = {"ALPHA_TRACKING_RATE": 50, "BETA_TRACKING_RATE": 50}
    return tracking_settings() | rates | {"TRACKING_PACE": HOUR_S / options.seconds}


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    seconds: float = options.seconds
    base = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    make_parcels(SHOP, PARCELS, base)
    numbers = [f"{'XU' if number % 2 else '6A'}{number:011}" for number in range(PARCELS)]
    faults: list[str] = []
    with ExitStack() as stack:
        # The journeys last until the tracking services are well again.
        stub_port = stack.enter_context(stub(env, base, step_s=seconds * len(PHASES) / 8))
        port, _ = stack.enter_context(env.served(workers=2))
        stack.enter_context(Process([sys.executable, "manage.py", "work"], env.variables, env.folder / "work.log"))
        pool = stack.enter_context(ProcessPoolExecutor(2))
        until(lambda: calls(stub_port) > 0)
        for name, mode in PHASES.items():
            call(stub_port, "POST", "/control", {"mode": mode})
            phase = measure(env, pool, port, stub_port, name, numbers, seconds)
            print(phase, flush=True)
            faults += phase.faults
        started_s = time.monotonic()
        until(lambda: followed() == labels_in_flight(), timeout_s=RECOVERY_TIMEOUT_S + seconds)
        print(f"all {PARCELS} parcels have arrived {time.monotonic() - started_s:.0f} s later")
    return faults


def measure(
    env: Environment,
    pool: ProcessPoolExecutor,
    port: int,
    stub_port: int,
    name: str,
    numbers: list[str],
    seconds: float,
) -> Phase:
    before = calls(stub_port)
    look_ups = pool.submit(Clients(env, port, LOOK_UP_CLIENTS, seconds, LOOK_UP_PACE_S).look_ups, numbers)
    labels = pool.submit(Clients(env, port, LABEL_CLIENTS, seconds, LABEL_PACE_S).labels)
    answers = [answer for seen in labels.result().values() for answer in seen]
    return Phase(name, look_ups.result(), answers, calls(stub_port) - before, oldest_due())


def calls(stub_port: int) -> int:
    return sum(map(len, call(stub_port, "GET", "/calls").body.values()))


def oldest_due() -> float:
    from parcels.tracking.due import oldest_due_s

    oldest_s = max(map(oldest_due_s, ("alpha", "beta")))
    close_connections()
    return oldest_s


def labels_in_flight() -> int:
    """Count the parcels of the labels bought meanwhile that have not arrived: their journeys began late."""
    from parcels.models import Parcel

    bought = Parcel.objects.filter(shop=SHOP, imported_at=None, numbers__due_at__isnull=False)
    count = bought.exclude(last_status="DELIVERED").count()
    close_connections()
    return count


if __name__ == "__main__":
    play(drill, settings, redis=True, seconds=30.0)
