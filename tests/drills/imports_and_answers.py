"""The drill of imports and answers at once: ``python -m tests.drills.imports_and_answers [--parcels N]``.

A shop imports the same parcels again and again while `work` refreshes them on their journeys. An answer that meets a
row that an import holds is dropped, and the carrier is asked again when the lease ends. In the end each parcel has
every event of its journey once, and the story that the pure function tells of these and of the last report.
"""

import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.drills.environment import environment, tracking_settings
from tests.drills.forks import close_connections
from tests.drills.options import read_options
from tests.drills.printing import exit_code
from tests.drills.process import Process
from tests.drills.shop import SHOP
from tests.drills.tracking import END_TIMEOUT_S, PACE, SETTINGS, followed, make_parcels, stub
from tests.drills.tracking_stub import EVENT_GAP, Stub
from tests.support.http import call
from tests.support.processes import free_port
from tests.support.waiting import until

STEP_S = 10.0
UNLIMITED: dict[str, object] = {"ALPHA_TRACKING_RATE": 5000, "BETA_TRACKING_RATE": 5000, "TRACKING_PACE": PACE / STEP_S}
IMPORTS = 3


def main() -> None:
    options = read_options(__doc__, parcels=10_000, database="postgresql")
    port = free_port()
    with environment(options.database, SETTINGS | UNLIMITED | tracking_settings(port)) as env:
        base = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
        make_parcels(SHOP, options.parcels, base)
        with stub(env, port, base, step_s=STEP_S):
            with Process([sys.executable, "manage.py", "work"], env.variables, env.folder / "work.log"):
                until(lambda: calls(port) > 0)
                imports = [import_again(options.parcels, base, number, port) for number in range(IMPORTS)]
                until(lambda: followed() == 0, timeout_s=END_TIMEOUT_S + options.parcels / 20)
            total = calls(port)
        faults = differences(base, IMPORTS - 1)
        print(f"{options.database}: {options.parcels} parcels, {total} calls, {sum(imports)} of them during imports")
    print(f"{len(faults)} faults")
    sys.exit(exit_code(faults))


def calls(port: int) -> int:
    return sum(map(len, call(port, "GET", "/calls").body.values()))


def report(base: datetime, number: int) -> dict[str, Any]:
    """Return what the shop says happened: that the parcel came to a depot, later with each import."""
    at = round((base + (number + 0.5) * EVENT_GAP).timestamp() * 1000)
    event = {"status": "IN_TRANSIT", "createdAt": at, "label": f"Depot {number}", "carrierStatusCode": None}
    told = {"isNotificationSkipped": False, "notifications": []}
    return {"lastStatus": "IN_TRANSIT", "lastStatusUpdatedAt": at, "events": [event | told]}


def import_again(count: int, base: datetime, number: int, port: int) -> int:
    """Import all parcels with a newer report; return how often the carriers were asked meanwhile."""
    import orjson

    from parcels.importing.reading import ParcelImport
    from parcels.models import Parcel
    from tests.support.factories import ParcelLineFactory

    rows = Parcel.objects.filter(shop=SHOP).values_list("id", "tracking_id", "carrier_code", "created_at")
    names = ("id", "trackingId", "carrierCode", "createdAt")
    fields = report(base, number) | {"carrierLastStatus": None, "estimatedDeliveryDateWindow": None}
    lines = []
    for row in rows:
        known = dict(zip(names, row, strict=True))
        own = {"trackingNumbers": [known["trackingId"]], "updatedAt": known["createdAt"]}
        lines.append(orjson.dumps(ParcelLineFactory(**known, **own, **fields)))
    before, started_s = calls(port), time.monotonic()
    assert ParcelImport(shop_id=SHOP, report=print).run(enumerate(lines, 1)) == count
    close_connections()
    meanwhile = calls(port) - before
    print(f"import {number + 1}: {time.monotonic() - started_s:.0f} s, {meanwhile} calls meanwhile", flush=True)
    return meanwhile


def differences(base: datetime, last: int) -> list[str]:
    """Return a fault for each parcel with another history or another story than it should have."""
    from parcels.models import TrackingNumber
    from parcels.tracking.timeline import TIMELINE_FIELDS, Timeline, derive, events_of

    reference = Stub(base, step_s=1e-9, step_asks=0)  # all has happened
    fields = report(base, last)
    names = {"last_status": "lastStatus", "last_status_updated_at": "lastStatusUpdatedAt", "events": "events"}
    reported = Timeline(**{name: fields[field] for name, field in names.items()})
    faults, events, statuses = [], 0, 0
    for number in TrackingNumber.objects.filter(shop=SHOP).select_related("parcel").iterator():
        parcel, found = number.parcel, events_of([number])
        journey = reference.events(parcel.carrier_code, number.number.encode())
        has = sorted((event.code, event.at) for event in found)
        should = sorted((code, round(at.timestamp() * 1000)) for code, at in journey)
        told = derive(reported=reported, events=found)
        events += len(should)
        statuses += parcel.last_status != told.last_status
        if has != should or Timeline.of(parcel) != told:
            differing = [name for name in TIMELINE_FIELDS if getattr(parcel, name) != getattr(told, name)]
            faults.append(f"{parcel.id}: {has} instead of {should}; told otherwise: {differing}")
    close_connections()
    print(f"{events} events; {statuses} statuses differ from the pure function's")
    return faults


if __name__ == "__main__":
    main()
