"""The hung-carrier drill: ``python -m tests.drills.hung_carrier``.

The service as in production (granian, 2 workers, PostgreSQL, Redis), clients that look parcels up, and 32 clients that
order labels while a carrier, or the storage, accepts connections and is silent. It prints how the look-ups fared
before, during and after, and what the label clients were answered. `tests.drills.threads` does so for many numbers.
"""

import argparse
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from tests.benchmarks.drive import cpu_s
from tests.drills.crowd import Crowd, Seen, percentiles
from tests.drills.environment import SHOP, Answer, Stage, stage
from tests.drills.judging import Judge

WORKERS = 2
PARCELS = 10_000
LOOK_UP_CLIENTS, LOOK_UP_PACE_S = 8, 0.01
FLAT_OUT_CLIENTS = 16
LABEL_CLIENTS, LABEL_PACE_S = 32, 0.25
LEAD_S = 1.0  # until the label clients have taken what they get
WHAT = {
    "nothing": "nothing hangs",
    "alpha": "alpha hangs",
    "beta": "beta hangs",
    "both": "both carriers hang",
    "storage": "the storage hangs",
}
# What an excess label request may cost its client on a busy machine, a purchase at work left out.
QUICK_S = 5.0
# How much longer what hangs does so than anybody orders: an end that frees a slot lets another purchase in.
SLACK_S = 6.0


@dataclass(frozen=True)
class LookUps:
    """How the look-ups of one phase fared; times in seconds."""

    seen: list[Seen]
    seconds: float
    cpu_s: float

    @property
    def answered(self) -> float:
        return sum(each.outcome == "200" for each in self.seen) / len(self.seen)

    @property
    def rate(self) -> float:
        return len(self.seen) / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Of the whole service, a look-up: while labels are ordered too, with what they cost."""
        return 1000 * self.cpu_s / len(self.seen)

    def __str__(self) -> str:
        p50, p95, p99 = (1000 * value for value in percentiles([each.duration_s for each in self.seen]))
        slowest = 1000 * max(each.duration_s for each in self.seen)
        return (
            f"{self.answered:8.2%} {self.rate:7.0f}/s {p50:8.1f} {p95:8.1f} {p99:8.1f} "
            f"{slowest:8.1f} ms {self.cpu_ms:7.2f} ms"
        )


@dataclass
class Run:
    """One service that met one illness."""

    what: str
    threads: int
    concurrency: int
    phases: dict[str, LookUps] = field(default_factory=dict)
    labels: dict[str, list[Answer]] = field(default_factory=dict)
    rows: int = 0
    bought_twice: int = 0

    @property
    def faults(self) -> list[str]:
        """Promises broken, for a service that has more threads than can hang."""
        late = [name for name, phase in self.phases.items() if phase.answered < 1]
        faults = [f"{self.what}: look-ups {name} were not all answered" for name in late]
        refused = [answer.duration_s for answer in self.answers if is_refusal(answer)]
        if refused and percentiles(refused)[1] > QUICK_S:
            faults.append(f"{self.what}: label requests were not refused quickly")
        if self.bought_twice:
            faults.append(f"{self.what}: {self.bought_twice} bought twice")
        at_work = {key for key, seen in self.labels.items() if any(not is_refusal(answer) for answer in seen)}
        if self.rows > len(at_work):
            faults.append(f"{self.what}: {self.rows} rows for {len(at_work)} purchases that were let in")
        return faults

    @property
    def answers(self) -> list[Answer]:
        return [answer for seen in self.labels.values() for answer in seen]

    def show(self) -> None:
        """Print what happened, phase by phase."""
        print(
            f"\n{self.what}: {WORKERS} workers x {self.threads} threads, CARRIER_CONCURRENCY {self.concurrency}; "
            f"{LOOK_UP_CLIENTS} look-up clients, {LABEL_CLIENTS} label clients"
        )
        print(f"  {'look-ups':10} answered      rate      p50      p95      p99  slowest    CPU each")
        for name, phase in self.phases.items():
            print(f"  {name:10} {phase}")
        print(f"  {'labels, during':34}    count      p50      p95      p99")
        by_outcome: dict[str, list[float]] = defaultdict(list)
        for answer in self.answers:
            by_outcome[answer.outcome].append(answer.duration_s)
        for outcome, durations_s in sorted(by_outcome.items()):
            p50, p95, p99 = (1000 * value for value in percentiles(durations_s))
            print(f"  {outcome:34} {len(durations_s):8} {p50:8.0f} {p95:8.0f} {p99:8.0f} ms")
        print(f"  rows written: {self.rows}; bought twice: {self.bought_twice}", flush=True)


def is_refusal(answer: Answer) -> bool:
    return answer.status == 502 and answer.outcome.endswith("_UNAVAILABLE")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.hung_carrier", description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0, help="a phase")
    parser.add_argument("--threads", type=int, default=24, help="SERVE_THREADS")
    parser.add_argument("--concurrency", type=int, default=4, help="CARRIER_CONCURRENCY")
    parser.add_argument("--what", choices=WHAT, action="append", help="what hangs; all in turns without it")
    options = parser.parse_args()
    faults = []
    with stage("postgresql", {}, redis=True) as world:
        numbers = fill()
        for what in options.what or list(WHAT):
            run = drill(world, numbers, what, options.threads, options.concurrency, options.seconds)
            run.show()
            faults += run.faults
    print(f"\n{len(faults)} faults")
    for fault in faults:
        print(f"  FAULT {fault}")
    sys.exit(1 if faults else 0)


def fill() -> list[str]:
    """Load the parcels that are looked up; return their numbers."""
    from django.db import connection

    from tests.benchmarks.load import load, numbers

    load(SHOP, PARCELS)
    connection.close()
    return [number for index in range(PARCELS) for number in numbers(index)]


def drill(world: Stage, numbers: list[str], what: str, threads: int, concurrency: int, seconds: float) -> Run:
    run = Run(WHAT[what], threads, concurrency)
    storage: AbstractContextManager[dict[str, str]] = silent_bucket() if what == "storage" else nullcontext({})
    rows_before = rows()
    with (
        storage as bucket,
        world.setting({"CARRIER_CONCURRENCY": str(concurrency)} | bucket),
        world.served(workers=WORKERS, threads=threads) as (port, process),
        ProcessPoolExecutor(2) as pool,
    ):
        visitors = Crowd(port, world.token, LOOK_UP_CLIENTS, seconds, LOOK_UP_PACE_S)
        look_up = partial(looked_up, pool, numbers, process.popen.pid)
        look_up(flat_out(visitors, LEAD_S))  # each thread has a connection to the database
        run.phases["flat out"] = look_up(flat_out(visitors, seconds))
        run.phases["before"] = look_up(visitors)
        with sick(world, what, seconds + 2 * LEAD_S + SLACK_S):
            buyers = Crowd(port, world.token, LABEL_CLIENTS, seconds + LEAD_S, LABEL_PACE_S)
            labels = pool.submit(buyers.labels)
            time.sleep(LEAD_S)
            run.phases["during"] = look_up(visitors)
        run.labels = labels.result()
        run.phases["after"] = look_up(visitors)
    run.rows = rows() - rows_before
    run.bought_twice = Judge(world).keys(run.labels).bought_twice
    return run


def looked_up(pool: Executor, numbers: list[str], server: int, crowd: Crowd) -> LookUps:
    """Let a crowd look parcels up in a process of its own; `server` is the id of the service's process."""
    before_s, started_s = cpu_s(server), time.monotonic()
    seen = pool.submit(crowd.look_ups, numbers).result()
    return LookUps(seen, time.monotonic() - started_s, cpu_s(server) - before_s)


def flat_out(crowd: Crowd, seconds: float) -> Crowd:
    return replace(crowd, clients=FLAT_OUT_CLIENTS, pace_s=0, seconds=seconds)


def rows() -> int:
    from django.db import connection

    from labels.models import ShippingLabel

    count: int = ShippingLabel.objects.count()
    connection.close()
    return count


@contextmanager
def sick(world: Stage, what: str, seconds: float) -> Iterator[None]:
    """Let carriers take requests and stay silent, each request for so long, while the block runs."""
    for carrier in {"alpha": ["alpha"], "beta": ["beta"], "both": ["alpha", "beta"]}.get(what, []):
        world.arm(fault="hang", carrier=carrier, delay_s=seconds)
    try:
        yield
    finally:
        world.disarm()


@contextmanager
def silent_bucket() -> Iterator[dict[str, str]]:
    """Give the settings of a bucket that takes connections and stays silent."""
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        yield {
            "LABELS_BUCKET": "labels",
            "AWS_S3_ENDPOINT_URL": f"http://127.0.0.1:{listener.getsockname()[1]}",
            "AWS_ACCESS_KEY_ID": "drill",
            "AWS_SECRET_ACCESS_KEY": "drill",
        }


if __name__ == "__main__":
    main()
