"""The tracking drill: ``python -m tests.drills.tracking [--kills N] [--parcels N] [--step-s S] [--database D]``.

Two `work` processes follow parcels on their journeys, within limits that they reach, and are killed with SIGKILL at
random moments. Before that one process follows the same journeys undisturbed. The drill compares what is known of the
parcels afterwards, and counts the calls that the carriers got.
"""

import argparse
import logging
import random
import time
from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.db.models.functions import Now

from tests.drills.environment import Environment, tracking_settings
from tests.drills.forks import Child
from tests.drills.harness import play
from tests.drills.shop import SHOP, add_contract
from tests.support.http import call
from tests.support.programs import Process
from tests.support.waiting import until

RATE = 5.0  # a second for each carrier, which two processes would exceed
# A kill every 0.78 s of each of two processes, and the steps of the longest journey.
KILLS_A_SECOND, STEPS = 2.5, 9
PAUSE_S = (0.025, 0.75)  # between two kills
OTHER_SHOP = "undisturbed"
SETTINGS: dict[str, object] = {
    "ALPHA_TRACKING_RATE": RATE,
    "BETA_TRACKING_RATE": RATE,
    "CARRIER_TIMEOUT": 2,
    "LEASE_MARGIN": 2,
    "LOG_FORMAT": "text",
}
PACE = 4320  # with steps of a second: a parcel in transit is due every 1.7 s
WINDOWS_S = (1.0, 10.0)
END_TIMEOUT_S = 300


def settings(options: argparse.Namespace) -> dict[str, object]:
    return SETTINGS | tracking_settings() | {"TRACKING_PACE": PACE / options.step_s}


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    base = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    make_parcels(OTHER_SHOP, options.parcels, base)
    with stub(env, base, step_s=options.step_s):
        undisturbed(env)
        expected = known_of(OTHER_SHOP)
    make_parcels(SHOP, options.parcels, base)
    with stub(env, base, step_s=max(options.step_s, options.kills / KILLS_A_SECOND / STEPS)) as carriers:
        started_s = time.monotonic()
        kill_at_random(options.kills)
        took_s = time.monotonic() - started_s
        undisturbed(env)
        calls = call(carriers.port, "GET", "/calls").body
    faults = compare(expected, known_of(SHOP)) + too_many(calls)
    total = sum(map(len, calls.values()))
    print(f"{options.database}: {options.kills} kills in {took_s:.0f} s, {options.parcels} parcels, {total} calls")
    return faults


def stub(env: Environment, base: datetime | None = None, **steps: float) -> Process:
    """Run the carriers of `tracking_settings`, with all journeys at their beginning; `steps` are the stub's options."""
    port = int(urlsplit(env.variables["ALPHA_TRACKING_URL"]).port or 0)
    words = ["--base", base.isoformat()] if base else []
    words += [word for name, step in steps.items() for word in (f"--{name.replace('_', '-')}", str(step))]
    return env.module(["tests.drills.tracking_stub", *words], {}, port=port, log="stub.log")


def make_parcels(shop_id: str, count: int, base: datetime) -> None:
    """Import parcels of both carriers, created an hour before their first event, and let them be due."""
    from parcels.importing.reading import ParcelImport
    from parcels.models import TrackingNumber
    from shops.models import Shop
    from tests.support.factories import ParcelLineFactory

    shop, is_new = Shop.objects.get_or_create(id=shop_id, defaults={"name": shop_id})
    if is_new:
        add_contract(shop, "beta")
    created_ms = int((base - timedelta(hours=1)).timestamp() * 1000)
    nothing: dict[str, Any] = dict.fromkeys(["lastStatus", "lastStatusUpdatedAt", "carrierLastStatus"])
    lines = []
    for number in range(count):
        carrier, prefix = ("alpha", "XU") if number % 2 else ("beta", "6A")
        name = f"{prefix}{number:011}"
        fields = nothing | {"events": [], "createdAt": created_ms, "updatedAt": created_ms}
        line = ParcelLineFactory(
            id=f"{shop_id}-{number}", trackingId=name, trackingNumbers=[name], carrierCode=carrier, **fields
        )
        lines.append(orjson.dumps(line))
    assert ParcelImport(shop_id=shop_id, report=print).run(enumerate(lines, 1)) == count
    assert TrackingNumber.objects.filter(shop=shop_id).update(due_at=Now()) == count


def undisturbed(env: Environment) -> None:
    """Run one process until no parcel is followed any more."""
    with env.working():
        until(lambda: followed() == 0, timeout_s=END_TIMEOUT_S)


def followed() -> int:
    from parcels.models import TrackingNumber

    return TrackingNumber.objects.filter(due_at__isnull=False).exclude(parcel__last_status="DELIVERED").count()


def kill_at_random(count: int) -> None:
    """Kill one of two processes that work, and replace it, as often as asked."""
    rng, children = random.Random(1), [Child(work).start() for _ in range(2)]
    for kill in range(count):
        time.sleep(rng.uniform(*PAUSE_S))
        children[kill % 2].restart()
    for child in children:
        child.kill()


def work() -> None:
    from config.ops import worker

    logging.disable()
    worker.work(Event())


def known_of(shop_id: str) -> dict[str, Any]:
    """Return what is known of each parcel, by its number."""
    from parcels.models import Parcel

    names = ("last_status", "last_status_updated_at", "carrier_last_status", "delivery_date", "events")
    rows = Parcel.objects.filter(shop=shop_id).values("tracking_id", *names)
    return {row.pop("tracking_id"): row for row in rows}


def compare(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Count events lost and doubled and statuses that differ; return a fault for each parcel that differs at all."""
    lost = doubled = statuses = 0
    faults = []
    for number, parcel in expected.items():
        should = [(event["carrierStatusCode"], event["createdAt"]) for event in parcel["events"]]
        has = [(event["carrierStatusCode"], event["createdAt"]) for event in found[number]["events"]]
        lost += len(set(should) - set(has))
        doubled += len(has) - len(set(has))
        statuses += parcel["last_status"] != found[number]["last_status"]
        if parcel != found[number]:
            faults.append(f"{number}: {found[number]} instead of {parcel}")
    events = sum(len(parcel["events"]) for parcel in expected.values())
    print(f"{events} events: {lost} lost, {doubled} doubled; {statuses} statuses differ from the undisturbed run")
    return faults


def too_many(calls: dict[str, list[float]]) -> list[str]:
    """Return a fault for each call above the limit, in any window that begins with a call."""
    from parcels.tracking.limits import MAX_LATE_S

    faults = []
    for carrier, moments in calls.items():
        times = sorted(moments)
        for window_s in WINDOWS_S:
            most = max(bisect_left(times, begin + window_s) - place for place, begin in enumerate(times))
            limit = RATE * (window_s + MAX_LATE_S) + 1
            print(f"{carrier}: at most {most} calls in {window_s:g} s, of {limit:.0f}, as a call may be late")
            if most > limit:
                faults.append(f"{carrier}: {most} calls in {window_s:g} s")
    return faults


if __name__ == "__main__":
    play(drill, settings, kills=500, parcels=400, step_s=3.0, database="postgresql")
