"""The kill drill: ``python -m tests.drills.kill [--rounds N] [--carrier C] [--database D] [--server forking|granian]``.

It kills the service with SIGKILL at each point of a purchase, of a purchase to a pickup point and of a cancellation, N
times. The client, which got no answer, retries with the same Idempotency-Key: at once, when the leases have expired,
after a reconciliation that comes too early to believe that nothing was made, and after the last one. In between,
reconciliations are killed at each of their points. ``reconcile_labels`` runs in two processes at the same time. Then
the sandbox's ledger is compared with the table and with what the API shows. `--points beta:call-sent,...` are that
carrier's only ones, of purchase and cancellation.
"""

import argparse
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from functools import partial

from django.core.management import call_command

from tests.drills.audit import FIGURES, Audit, AuditResult
from tests.drills.environment import Environment, lease_settings
from tests.drills.forks import Child
from tests.drills.harness import play
from tests.drills.kill_cases import CANCELLATION, Case, all_cases
from tests.drills.printing import counts, print_table
from tests.support.http import Answer, call
from tests.support.paths import SHIPMENTS
from tests.support.processes import ROOT
from tests.support.threads import repeated

# Long enough for a purchase on a busy machine.
TIMEOUT_S, LEASE_S, WAIT_S = 4.0, 6.0, 20.0
SETTINGS = lease_settings(TIMEOUT_S, LEASE_S - TIMEOUT_S, WAIT_S)
GRANIAN_BATCH = 8  # purchases that one kill of granian interrupts


def settings(options: argparse.Namespace) -> dict[str, object]:
    if options.database == "both":
        sys.exit(drill_both_databases())
    return SETTINGS


def drill_both_databases() -> int:
    """Run the drill in two processes, as Django knows one database a process."""
    command = [sys.executable, "-m", "tests.drills.kill", *sys.argv[1:], "--database"]
    codes = [subprocess.run([*command, name], cwd=ROOT, check=False).returncode for name in ("sqlite", "postgresql")]
    return max(codes)


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    """Kill the service and print the results; return the faults."""
    started_s, database, server = time.monotonic(), options.database, options.server
    print(f"\n{database}, {server}: {options.rounds} interruptions at each point", flush=True)
    run = Run(env, options.rounds, GRANIAN_BATCH if server == "granian" else 1)
    carriers = ["alpha", "beta"] if options.carrier == "both" else [options.carrier]
    cases = [case for carrier in carriers for case in all_cases(env, carrier, with_reconciling=run.batch == 1)]
    total = run.interrupted([case for case in cases if is_chosen(case, options.points)])
    print(f"\n{database}: {run.kills} kills in {time.monotonic() - started_s:.0f} s; {total}", flush=True)
    return total.faults


def is_chosen(case: Case, points: str) -> bool:
    """Return whether a case is one of its carrier's points, where that has any."""
    own = [each for each in points.split(",") if each.startswith(f"{case.carrier}:")]
    return not own or f"{case.carrier}:{case.point}" in own


class Server:
    """A forking server, which restarts by itself; or granian, where one kill interrupts a batch of purchases."""

    def __init__(self, env: Environment, stack: ExitStack, batch: int) -> None:
        self.batch, points = batch, "tests.drills.kill_points:application"
        granian = env.granian(points, threads=batch + 2, DRILL_KILLS_GROUP="1")
        self.process = stack.enter_context(granian if batch > 1 else env.forking_server())
        self.port = self.process.port
        self.warm_up()

    def warm_up(self) -> None:
        """Let each thread answer a request."""
        if self.batch > 1:
            with ThreadPoolExecutor(self.batch) as pool:
                list(pool.map(lambda _: call(self.port, "GET", SHIPMENTS + "/0"), range(self.batch * 2)))

    def restart(self) -> None:
        if self.batch > 1:
            self.process.popen.wait()
            self.process.start()
            self.warm_up()


class Run:
    """The rounds of all cases."""

    def __init__(self, env: Environment, rounds: int, batch: int) -> None:
        self.env = env
        self.rounds = rounds
        self.batch = batch
        self.kills = 0

    def interrupted(self, cases: list[Case]) -> AuditResult:
        with ExitStack() as stack:
            server = Server(self.env, stack, self.batch)
            # With granian, whose kills take long, reconcile all the time, as cron would.
            reconciling = repeated(partial(self.env.reconcile, 1), pause_s=1) if self.batch > 1 else nullcontext()
            with reconciling:
                self.interrupt_all(server, [case for case in cases if not case.fault])
            time.sleep(LEASE_S)
            self.ask_meanwhile(server, [case for case in cases if not case.is_finished_by_asking])
            for case in cases:
                self.interrupt_reconciling(server, case)
            self.interrupt_all(server, [case for case in cases if case.fault])
            interrupted_at = time.monotonic()
            time.sleep(LEASE_S)
            reconcile_in_two_processes()
            self.ask_meanwhile(server, cases)
            time.sleep(max(LEASE_S, interrupted_at + WAIT_S - time.monotonic()))
            self.env.buy_control(server.port)
            self.env.end_pauses()
            reconcile_in_two_processes()
            for case in cases:
                case.reconciled += case.ask(server.port)
            return self.audit(cases, server.port)

    def interrupt_all(self, server: Server, cases: list[Case]) -> None:
        for case in cases:
            self.interrupt(server, case)

    def ask_meanwhile(self, server: Server, cases: list[Case]) -> None:
        for case in cases:
            case.meanwhile += case.ask(server.port)

    def audit(self, cases: list[Case], port: int) -> AuditResult:
        audit, rows = Audit(self.env), []
        of_carriers: defaultdict[str, AuditResult] = defaultdict(AuditResult)
        for case in cases:
            result = audit.keys(case.orders.answers).with_faults(audit.wrongly_shown(case.orders.answers, port))
            of_carriers[case.carrier].add(result)
            retries = (case.at_once, case.meanwhile, case.reconciled)
            rows.append([f"{case.carrier}: {case.name}", *result.figures, *map(counts, retries)])
        print_table(["interrupted", *FIGURES, "retried at once", "meanwhile", "at the end"], rows)
        total = audit.unrecorded()
        for carrier, result in of_carriers.items():
            print(f"{carrier}: {result}")
            total.add(result)
        return total

    def interrupt(self, server: Server, case: Case) -> None:
        for _ in range(-(-self.rounds // self.batch)):
            keys = [case.add() for _ in range(self.batch)]
            with self.env.faults(*([case.fault] if case.fault else [])):
                self.kill(server, case, keys)
            if not case.reconcile_point:
                case.at_once += case.ask(server.port, keys)

    def kill(self, server: Server, case: Case, keys: list[str]) -> None:
        """Send purchases, or cancellations of labels bought before, that kill the server at the case's point."""
        headers = {"X-Drill-Kill": f"{case.point}*{self.batch}"}

        def act(key: str) -> Answer:
            if case.kind != CANCELLATION:
                return case.orders.send(server.port, key, **headers)
            bought = case.orders.send(server.port, key)
            assert bought.status == 201, bought
            return call(server.port, "POST", f"/drill/cancel?{key}", headers=headers)

        with ThreadPoolExecutor(len(keys)) as pool:
            answers = list(pool.map(act, keys))
        self.restart(server, case.point, answers)

    def interrupt_reconciling(self, server: Server, case: Case) -> None:
        for key in case.orders.answers if case.reconcile_point else ():
            headers = {"X-Drill-Kill": case.reconcile_point}
            answer = call(server.port, "POST", f"/drill/reconcile?{key}", headers=headers)
            self.restart(server, case.reconcile_point, [answer])

    def restart(self, server: Server, point: str, answers: list[Answer]) -> None:
        """Restart a server that was killed at a point, and so gave no answers."""
        assert not any(answer.status for answer in answers), f"{point} was not reached: {answers}"
        self.kills += 1
        server.restart()


def reconcile_in_two_processes() -> None:
    """Run the command in two processes at once, forked from this one, which has imported everything."""
    children = [Child(call_command, "reconcile_labels").start() for _ in range(2)]
    for child in children:
        child.process.join()
    assert [child.process.exitcode for child in children] == [0, 0]


if __name__ == "__main__":
    names, both, servers = ("both", "sqlite", "postgresql"), ("both", "alpha", "beta"), ("forking", "granian")
    play(drill, settings, rounds=125, carrier=both, database=names, server=servers, points="")
