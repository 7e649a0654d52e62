"""The hung-carrier drill: ``python -m tests.drills.hung_carrier``.

The service runs as in production (granian, 2 workers, PostgreSQL, Redis). Clients look parcels up, and others order
labels, while a carrier or the storage accepts connections and stays silent. It prints the look-ups before, during and
after, and the label clients' answers.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from tests.drills.audit import Audit
from tests.drills.environment import Environment, bucket_settings
from tests.drills.harness import play
from tests.drills.load import Clients, LookUps, look_ups
from tests.drills.printing import percentiles_ms
from tests.drills.shop import SHOP
from tests.support.http import Answer
from tests.support.proxies import silent_server

WORKERS = 2
PARCELS = 10_000
LOOK_UP_CLIENTS, LOOK_UP_PACE_S = 8, 0.01
FLAT_OUT_CLIENTS = 16
LABEL_CLIENTS, LABEL_PACE_S = 32, 0.25
LEAD_S = 1.0  # until the label clients hold all threads they can get
TITLES = {
    "nothing": "nothing hangs",
    "alpha": "alpha hangs",
    "beta": "beta hangs",
    "both": "both carriers hang",
    "storage": "the storage hangs",
}
HUNG_CARRIERS = {"alpha": ["alpha"], "beta": ["beta"], "both": ["alpha", "beta"]}
# The limit of an excess label request's duration on a busy machine.
QUICK_S = 5.0
# Faults outlast the last order by this: a call that ended earlier would let another purchase in.
SLACK_S = 6.0


@dataclass
class Run:
    """One run of the service, with one thing that hangs."""

    title: str
    threads: int
    concurrency: int
    clients: int
    phases: dict[str, LookUps] = field(default_factory=dict)
    labels: dict[str, list[Answer]] = field(default_factory=dict)
    rows: int = 0
    bought_twice: int = 0

    @property
    def faults(self) -> list[str]:
        """Broken promises of a service that has more threads than can hang."""
        late = [name for name, phase in self.phases.items() if phase.answered < 1]
        faults = [f"look-ups {name} were not all answered" for name in late]
        refused = [answer.duration_s for answer in self.answers if is_unavailable(answer)]
        if refused and percentiles_ms(refused)[1] > 1000 * QUICK_S:
            faults.append("label requests were not refused quickly")
        if self.bought_twice:
            faults.append(f"{self.bought_twice} bought twice")
        admitted = {key for key, seen in self.labels.items() if any(not is_unavailable(answer) for answer in seen)}
        if self.rows > len(admitted):
            faults.append(f"{self.rows} rows for {len(admitted)} purchases that were let in")
        return [f"{self.title}: {fault}" for fault in faults]

    @property
    def answers(self) -> list[Answer]:
        return [answer for seen in self.labels.values() for answer in seen]

    def show(self) -> None:
        """Print the look-ups of each phase and the label clients' answers."""
        print(
            f"\n{self.title}: {WORKERS} workers x {self.threads} threads, CARRIER_CONCURRENCY {self.concurrency}; "
            f"{LOOK_UP_CLIENTS} look-up clients, {self.clients} label clients"
        )
        print(f"  {'look-ups':10} answered      rate      p50      p95      p99  slowest    CPU each")
        for name, phase in self.phases.items():
            print(f"  {name:10} {phase}")
        print(f"  {'labels, during':34}    count      p50      p95      p99")
        by_outcome: dict[str, list[float]] = defaultdict(list)
        for answer in self.answers:
            by_outcome[answer.outcome].append(answer.duration_s)
        for outcome, durations_s in sorted(by_outcome.items()):
            p50, p95, p99 = percentiles_ms(durations_s)
            print(f"  {outcome:34} {len(durations_s):8} {p50:8.0f} {p95:8.0f} {p99:8.0f} ms")
        print(f"  rows written: {self.rows}; bought twice: {self.bought_twice}", flush=True)


def is_unavailable(answer: Answer) -> bool:
    return answer.status == 502 and answer.outcome.endswith("_UNAVAILABLE")


def play_each(env: Environment, options: argparse.Namespace) -> list[str]:
    faults, numbers = [], load_parcels()
    for what in [options.what] if options.what in TITLES else TITLES:
        run = Run(TITLES[what], options.threads, options.concurrency, options.clients)
        drill(env, numbers, what, run, options.seconds)
        run.show()
        faults += run.faults
    return faults


def load_parcels() -> list[str]:
    """Load the parcels to look up; return their tracking numbers."""
    from tests.benchmarks import parcels

    parcels.load_parcels(SHOP, PARCELS)
    return [number for index in range(PARCELS) for number in parcels.numbers(index)]


def drill(env: Environment, numbers: list[str], what: str, run: Run, seconds: float) -> None:
    """Look parcels up before, while and after it hangs, for as many seconds each; write down what comes."""
    rows_before = count_rows()
    with (
        storage_settings(what) as bucket,
        env.setting({"CARRIER_CONCURRENCY": str(run.concurrency)} | bucket),
        env.served(workers=WORKERS, threads=run.threads) as server,
        ProcessPoolExecutor(2) as pool,
    ):
        clients = look_up_clients(env, server.port, seconds)
        look_up = partial(look_ups, pool, numbers, server.pid)
        look_up(flat_out(clients, LEAD_S))  # each thread connects to the database
        run.phases["flat out"] = look_up(flat_out(clients, seconds))
        run.phases["before"] = look_up(clients)
        delay_s = seconds + 2 * LEAD_S + SLACK_S
        hangs = [{"fault": "hang", "carrier": each, "delay_s": delay_s} for each in HUNG_CARRIERS.get(what, [])]
        with env.faults(*hangs):
            buyers = Clients(env, server.port, run.clients, seconds + LEAD_S, LABEL_PACE_S)
            labels = pool.submit(buyers.labels)
            time.sleep(LEAD_S)
            run.phases["during"] = look_up(clients)
        run.labels = labels.result()
        run.phases["after"] = look_up(clients)
    run.rows = count_rows() - rows_before
    run.bought_twice = Audit(env).keys(run.labels).bought_twice


def look_up_clients(env: Environment, port: int, seconds: float) -> Clients:
    return Clients(env, port, LOOK_UP_CLIENTS, seconds, LOOK_UP_PACE_S)


def flat_out(clients: Clients, seconds: float) -> Clients:
    return replace(clients, count=FLAT_OUT_CLIENTS, pace_s=0, seconds=seconds)


def count_rows() -> int:
    from labels.models import ShippingLabel

    return ShippingLabel.objects.count()


@contextmanager
def storage_settings(what: str) -> Iterator[dict[str, str]]:
    """Yield the settings of a silent bucket if the storage hangs, none otherwise."""
    if what != "storage":
        yield {}
        return
    with silent_server() as port:
        yield bucket_settings(port)


if __name__ == "__main__":
    what = ("each", *TITLES)
    play(play_each, redis=True, seconds=15.0, threads=24, concurrency=4, clients=LABEL_CLIENTS, what=what)
