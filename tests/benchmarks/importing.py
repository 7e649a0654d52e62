"""The import benchmark: ``python -m tests.benchmarks.importing [--parcels N ...] [--labels L] [--database D]``.

It imports N new parcels, the same again, and each with one more event, into a shop that has just bought L labels. It
prints the CPU time of this process and of PostgreSQL, and this process's peak memory. Only a ratio to another version
on the same machine, measured in turn, means something.
"""

import argparse
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from django.db.models import F
from django.utils import timezone

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.process import metered, peak_mb
from tests.drills.shop import SHOP

HOUR_MS = 3_600_000
NOW_MS = time.time_ns() // 10**6


def benchmark(env: Environment, options: argparse.Namespace) -> None:
    pids = [os.getpid(), *([env.postmaster] if options.database == "postgresql" else [])]
    run_file(write_samples(env, 500, "warm"), 500)
    if options.labels:
        make_labels(env, options.labels)
    for count in options.parcels:
        file = write_samples(env, count, f"{count}-")
        measure("new", count, file, pids)
        measure("unchanged", count, file, pids)
        measure("changed", count, write_samples(env, count, f"{count}-", are_later=True), pids)


def write_samples(env: Environment, count: int, prefix: str, *, are_later: bool = False) -> Path:
    from parcels.samples import sample_parcels

    path = env.folder / "parcels.ndjson"
    now_ms = NOW_MS
    with path.open("wb") as file:
        for parcel in sample_parcels(count, now_ms=now_ms, prefix=prefix):
            file.write(orjson.dumps(parcel | later(parcel) if are_later else parcel) + b"\n")
    return path


def make_labels(env: Environment, count: int) -> None:
    """Import parcels, and make them as labels that were bought a moment ago would be."""
    from parcels.models import NumberState, Parcel, TrackingNumber

    run_file(write_samples(env, count, "label-"), count)
    Parcel.objects.update(imported_at=None)
    TrackingNumber.objects.update(state=NumberState.BOUGHT, label=F("parcel_id"), followed_since=timezone.now())


def later(parcel: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that one more event changes."""
    at = parcel["updatedAt"] + HOUR_MS
    event = parcel["events"][0] | {"createdAt": at, "label": "One more"}
    return {"events": [event, *parcel["events"]], "lastStatusUpdatedAt": at, "updatedAt": at}


def run(lines: Iterable[tuple[int, bytes]], count: int) -> None:
    from parcels.importing.reading import ParcelImport

    assert ParcelImport(shop_id=SHOP, report=print).run(lines) == count


def run_file(path: Path, count: int) -> None:
    from parcels.importing.reading import read_lines

    with path.open("rb") as file:
        run(read_lines(file), count)


def measure(name: str, count: int, path: Path, pids: list[int]) -> None:
    """Print the cost of an import to this process and to the database, where it is one."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    with metered(*pids) as used:
        run_file(path, count)
    took_s, own_s, database_s = [*used, 0.0][:3]
    print(
        f"{count:7} {name:9} {own_s / count * 1000:.3f} ms CPU a parcel, PostgreSQL's {database_s / count * 1000:.3f}; "
        f"{count / took_s:5.0f} a second; at most {peak_mb(os.getpid()):.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    play(benchmark, parcels=[10_000, 100_000], labels=0, database="postgresql")
