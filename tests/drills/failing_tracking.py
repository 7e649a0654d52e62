"""The drill of failing tracking services: ``python -m tests.drills.failing_tracking [--seconds N]``.

The service runs as in production (2 workers, PostgreSQL, Redis), and `work` beside it. Clients look parcels up and
order labels while both tracking services hang, answer HTML, 429 or garbage, each for an hour whose time is compressed:
`TRACKING_PACE` makes it the `--seconds` of a phase. In the end tracking recovers by itself.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

from tests.drills.environment import Environment, tracking_settings
from tests.drills.harness import play
from tests.drills.load import Clients, LookUps, look_ups
from tests.drills.printing import counts, percentiles_ms
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
        stub_port = stack.enter_context(stub(env, base, step_s=seconds * len(PHASES) / 8)).port
        server = stack.enter_context(env.served(workers=2))
        stack.enter_context(env.working())
        pool = stack.enter_context(ProcessPoolExecutor(2))
        until(lambda: calls(stub_port) > 0)
        for name, mode in PHASES.items():
            call(stub_port, "POST", "/control", {"mode": mode})
            before = calls(stub_port)
            labels = pool.submit(Clients(env, server.port, LABEL_CLIENTS, seconds, LABEL_PACE_S).labels)
            clients = Clients(env, server.port, LOOK_UP_CLIENTS, seconds, LOOK_UP_PACE_S)
            seen = look_ups(pool, numbers, server.pid, clients)
            faults += show(name, seen, labels.result(), calls(stub_port) - before)
        started_s = time.monotonic()
        until(lambda: followed() == labels_in_flight(), timeout_s=RECOVERY_TIMEOUT_S + seconds)
        print(f"all {PARCELS} parcels have arrived {time.monotonic() - started_s:.0f} s later")
    return faults


def show(name: str, seen: LookUps, labels: dict[str, list[Answer]], called: int) -> list[str]:
    """Print a phase: the clients' answers, and the calls that the tracking services got; return its faults."""
    answers = [answer for each in labels.values() for answer in each]
    failed = sum(answer.status != 201 for answer in answers)
    p95_ms = percentiles_ms([answer.duration_s for answer in answers])[1]
    bought = f"{counts(answer.outcome for answer in answers)}, p95 {p95_ms:.0f} ms"
    print(f"{name:8} {seen}; labels: {bought}; {called:5} calls, oldest due {oldest_due():4.0f} s", flush=True)
    return [f"{name}: look-ups or {failed} purchases failed"] if failed or seen.answered < 1 else []


def calls(stub_port: int) -> int:
    return sum(map(len, call(stub_port, "GET", "/calls").body.values()))


def oldest_due() -> float:
    from parcels.tracking.due import oldest_due_s

    return max(map(oldest_due_s, ("alpha", "beta")))


def labels_in_flight() -> int:
    """Count the parcels of the labels bought meanwhile that have not arrived: their journeys began late."""
    from parcels.models import Parcel

    bought = Parcel.objects.filter(shop=SHOP, imported_at=None, numbers__due_at__isnull=False)
    return bought.exclude(last_status="DELIVERED").count()


if __name__ == "__main__":
    play(drill, settings, redis=True, seconds=30.0)
