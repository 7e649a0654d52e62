"""The kill drill: ``python -m tests.drills.kill [--rounds N] [--carrier C] [--database D] [--server warm|granian]``.

It ends the service with SIGKILL at each point of a purchase, N times; the client, who saw no answer, asks again with
the same Idempotency-Key at once; when the leases are over, ``reconcile_labels`` runs in two processes at the same time,
the client asks once more, and the sandbox's ledger is compared with the table. Points of the reconciliation follow.
"""

import argparse
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from tests.drills.environment import ROOT, Answer, Process, Stage, call, new_key, order, stage
from tests.drills.judging import Judge, Verdict
from tests.support.paths import SHIPMENTS

POINTS = {
    "reserve-before": "before the row is written",
    "reserve-commit": "row written, before its commit",
    "reserve-after": "row committed",
    "call-before": "before the carrier is called",
    "call-half-sent": "half of the request sent",
    "call-sent": "request sent, no answer read",
    "call-second": "before the second of two linked calls",
    "call-answered": "answer received, not yet read",
    "keep-before": "answer read, before the keeping commit",
    "keep-after": "kept",
    "store-before": "before the upload",
    "store-half": "half of the PDF written",
    "store-after": "uploaded",
    "finish-before": "before the finishing commit",
    "finish-after": "finished, not answered",
}
# Where a reconciliation dies, of purchases that died with the answer received (alpha) or kept (both).
RECONCILE_POINTS = {
    "take-after": ("call-answered", "lease taken"),
    "find-after": ("call-answered", "carrier asked"),
    "fetch-after": ("call-answered", "PDF fetched again"),
    "keep-after": ("call-answered", "kept"),
    "store-half": ("keep-after", "half of the PDF written"),
    "store-after": ("keep-after", "uploaded"),
    "finish-after": ("keep-after", "finished"),
}
# Long enough for a machine that is busy with other things to buy in.
TIMEOUT_S, LEASE_S = 4.0, 6.0
SETTINGS: dict[str, object] = {
    "CARRIER_TIMEOUT": TIMEOUT_S,
    "LEASE_MARGIN": LEASE_S - TIMEOUT_S,
    "RECONCILE_WAIT": LEASE_S,
    "CARRIER_CONCURRENCY": 16,
}
FLIGHT = 8  # purchases that a kill of granian interrupts together


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.kill", description=__doc__)
    parser.add_argument("--rounds", type=int, default=125)
    parser.add_argument("--carrier", choices=["alpha", "beta"])
    parser.add_argument("--database", choices=["sqlite", "postgresql"])
    parser.add_argument("--server", choices=["warm", "granian"], default="warm")
    options = parser.parse_args()
    if options.database is None:  # Django knows one database a process
        own = [sys.executable, "-m", "tests.drills.kill", *sys.argv[1:], "--database"]
        codes = [subprocess.run([*own, name], cwd=ROOT, check=False).returncode for name in ("sqlite", "postgresql")]
        sys.exit(max(codes))
    carriers = [options.carrier] if options.carrier else ["alpha", "beta"]
    sys.exit(0 if drill(options.database, carriers, options.rounds, options.server) else 1)


def drill(database: str, carriers: list[str], rounds: int, server: str) -> bool:
    started_s = time.monotonic()
    with stage(database, SETTINGS) as world:
        total, kills = Verdict(), 0
        for carrier in carriers:
            print(f"\n{database}, {carrier}, {server}: {rounds} purchases interrupted at each point", flush=True)
            run = Run(world, carrier, rounds, FLIGHT if server == "granian" else 1)
            total.add(run.all_cases())
            kills += run.kills
    print(f"\n{database}: {kills} kills in {time.monotonic() - started_s:.0f} s; {total}", flush=True)
    for fault in total.faults[:20]:
        print(f"  FAULT {fault}")
    return not total.faults


@dataclass
class Case:
    """One point, the purchases interrupted there, and all that their clients saw."""

    point: str
    then: str = ""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    at_once: Counter[str] = field(default_factory=Counter)
    later: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        return f"reconciling: {RECONCILE_POINTS[self.then][1]}" if self.then else POINTS[self.point]

    def order(self, key: str, carrier: str) -> dict[str, object]:
        """Two parcels where two calls are needed."""
        return order(key, carrier, parcels=2 if self.point == "call-second" else 1)


def cases(carrier: str, flight: int) -> list[Case]:
    made = [Case(point) for point in POINTS if point != "call-second" or carrier == "beta"]
    for then, (point, _) in RECONCILE_POINTS.items() if flight == 1 else ():
        if carrier == "alpha" or point == "keep-after":  # beta can't be asked
            made.append(Case(point, then))
    return made


class Run:
    """One carrier's rounds."""

    def __init__(self, world: Stage, carrier: str, rounds: int, flight: int) -> None:
        self.world = world
        self.carrier = carrier
        self.rounds = rounds
        self.flight = flight
        self.kills = 0

    def all_cases(self) -> Verdict:
        own = cases(self.carrier, self.flight)
        with self.serving() as server:
            with self.reconciling():
                for case in own:
                    for _ in range(-(-self.rounds // self.flight)):
                        self.one_round(server, case)
            time.sleep(LEASE_S)
            for case in own:
                self.interrupt_reconciling(server, case)
            time.sleep(LEASE_S)
            self.world.reconcile()
            for case in own:
                for key in case.answers:
                    case.later[self.ask(server.port, case, key).outcome] += 1
        return self.verdict(own)

    def verdict(self, own: list[Case]) -> Verdict:
        total, judge = Verdict(), Judge(self.world)
        for case in own:
            verdict = judge.keys(case.answers)
            total.add(verdict)
            print(f"  {case.name:38} {verdict}")
            print(f"  {'':38} asked at once: {line(case.at_once)}; after the reconciliation: {line(case.later)}")
        total.add(judge.strangers())
        return total

    @contextmanager
    def serving(self) -> Iterator["Forked | Granian"]:
        with ExitStack() as stack:
            if self.flight == 1:
                yield Forked(stack.enter_context(self.world.warm()))
            else:
                yield Granian(self.world, stack, self.flight)

    @contextmanager
    def reconciling(self) -> Iterator[None]:
        """Beside granian, which is killed rarely, run the command all the time, as cron would."""
        is_over = threading.Event()

        def run() -> None:
            while self.flight > 1 and not is_over.wait(1):
                self.world.reconcile(1)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def one_round(self, server: "Forked | Granian", case: Case) -> None:
        """Send purchases that end the server at a point, and ask for each again."""
        keys = [new_key() for _ in range(self.flight)]
        case.answers |= {key: [] for key in keys}
        headers = {"X-Drill-Kill": f"{case.point}*{self.flight}"}
        with ThreadPoolExecutor(len(keys)) as pool:
            interrupted = list(pool.map(lambda key: self.ask(server.port, case, key, **headers), keys))
        if any(answer.status for answer in interrupted):
            raise AssertionError(f"{case.point} was not reached: {[answer.outcome for answer in interrupted]}")
        self.kills += 1
        server.restart()
        if not case.then:
            for key in keys:
                case.at_once[self.ask(server.port, case, key).outcome] += 1

    def ask(self, port: int, case: Case, key: str, **headers: str) -> Answer:
        answer = self.world.buy(port, key, case.order(key, self.carrier), **headers)
        case.answers[key].append(answer)
        return answer

    def interrupt_reconciling(self, server: "Forked | Granian", case: Case) -> None:
        for key in case.answers if case.then else ():
            answer = call(server.port, "POST", f"/drill/reconcile?{key}", headers={"X-Drill-Kill": case.then})
            if answer.status:
                raise AssertionError(f"{case.then} was not reached")
            self.kills += 1
            server.restart()


class Forked:
    """A server that is there again by itself."""

    def __init__(self, port: int) -> None:
        self.port = port

    def restart(self) -> None:
        """Nothing to do."""


class Granian:
    """The server of production, which has to be started again when it was killed."""

    def __init__(self, world: Stage, stack: ExitStack, flight: int) -> None:
        self.world, self.stack, self.flight = world, stack, flight
        self.process: Process | None = None
        self.restart()

    def restart(self) -> None:
        if self.process:
            self.process.popen.wait()
        opened = self.world.hooked(threads=self.flight + 2)
        self.port, self.process = self.stack.enter_context(opened)
        with ThreadPoolExecutor(self.flight) as pool:  # each thread has answered something
            list(pool.map(lambda _: call(self.port, "GET", SHIPMENTS + "/0"), range(self.flight * 2)))


def line(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count} x {outcome}" for outcome, count in sorted(outcomes.items())) or "-"


if __name__ == "__main__":
    main()
