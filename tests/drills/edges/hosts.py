"""Acts of hosts: their clocks, frozen processes, a log that nobody reads."""

import fcntl
import os
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from signal import SIGCONT, SIGSTOP

from tests.drills.audit import AuditResult
from tests.drills.edges.buyers import RECONCILE_WAIT_S, Buyers
from tests.drills.environment import Environment
from tests.drills.process import signal_all, wait_until_frozen
from tests.support.http import call
from tests.support.processes import Server
from tests.support.programs import Process
from tests.support.waiting import until

SKEW_MINUTES = 20
IN_FLIGHT_S = 10.0
SLOW = [
    {"fault": "slow", "delay_s": IN_FLIGHT_S, "operation": operation}
    for operation in ("shippingMultiParcelV4", "generateLabel")
]
# Points of a purchase at which its process is frozen until another one has settled what it left.
FREEZE_POINTS = ("reserve-after", "call-allowed", "call-before", "call-half-sent")
RANDOM_PROCESSES, RANDOM_THREADS, RANDOM_ORDERS = 5, 8, 32
LOG_TIMEOUT_S = 20.0


def skewed_clock(env: Environment, buyer_minutes: int, reconciler_minutes: int) -> AuditResult:
    """Reconcile on one host, and ask again there, while slow purchases of another are in flight."""
    buyers = Buyers(env, 8)
    with (
        env.setting({"CARRIER_TIMEOUT": str(2 * IN_FLIGHT_S)}),
        env.forking_server(CLOCK_OFF_MINUTES=str(buyer_minutes)) as buyer,
        env.forking_server(CLOCK_OFF_MINUTES=str(reconciler_minutes)) as reconciler,
    ):
        port, other = buyer.port, reconciler.port
        for each in (port, other):  # the first requests take long
            env.buy_control(each)
            call(each, "POST", "/drill/reconcile-all")
        before = sum(env.requests().values())
        slow = [each | {"count": len(buyers.bodies) // 2} for each in SLOW]
        with env.faults(*slow), buyers.asking(port):
            until(lambda: sum(env.requests().values()) >= before + len(buyers.bodies))  # they are with the carriers
            buyers.settle(other, seconds=IN_FLIGHT_S, reconciler=other)
        buyers.settle(other, reconciler=port if reconciler_minutes else other)
        return buyers.audited_in_flight(other)


def frozen(env: Environment, clock_off_minutes: int = 0) -> AuditResult:
    """Freeze processes in a purchase, beyond the lease and until others have settled it; then let them go on."""
    clock = {"CLOCK_OFF_MINUTES": str(clock_off_minutes)}
    acts = [Buyers(env, 4, "alpha") for _ in FREEZE_POINTS]
    with ExitStack() as stack:
        other = stack.enter_context(env.forking_server()).port
        mortals = [stack.enter_context(env.forking_server(**clock)) for _ in FREEZE_POINTS]
        for point, buyers, mortal in zip(FREEZE_POINTS, acts, mortals, strict=True):
            stack.enter_context(buyers.asking(mortal.port, **{"X-Drill-Freeze": f"{point}*4"}))
            wait_until_frozen(mortal.pid)
        return settled_without(mortals, acts, other).audited_in_flight(other)


def frozen_at_random(env: Environment) -> AuditResult:
    """Freeze processes that serve as in production, each at a random moment of its purchases, as `frozen` does."""
    acts = [Buyers(env, RANDOM_ORDERS, "alpha") for _ in range(RANDOM_PROCESSES)]
    with ExitStack() as stack:
        other = stack.enter_context(env.forking_server()).port
        mortals = [stack.enter_context(env.served(threads=RANDOM_THREADS)) for _ in acts]
        for buyers, mortal in zip(acts, mortals, strict=True):
            env.buy_control(mortal.port)  # the first request takes long
            stack.enter_context(buyers.asking(mortal.port))
            until(partial(has_answers, buyers, random.randrange(RANDOM_ORDERS)))
            signal_all(mortal.pid, SIGSTOP)
        return settled_without(mortals, acts, other).asked_and_audited(other)


def settled_without(mortals: Sequence[Process], acts: list[Buyers], other: int) -> Buyers:
    """Settle all orders at another port while these processes are frozen, then let them go on; return the orders."""
    everyone = Buyers(acts[0].env).join(*acts)
    everyone.settle(other)
    for mortal in mortals:
        signal_all(mortal.pid, SIGCONT)
    everyone.settle(other, seconds=3)
    return everyone


def has_answers(buyers: Buyers, count: int) -> bool:
    return len(buyers.seen) >= count


def reconciler_frozen(env: Environment) -> AuditResult:
    """Let a purchase end while a frozen reconciliation, which has not found its parcel, still means to fail it."""
    buyers = Buyers(env, 1, "alpha")
    with ExitStack() as stack:
        buyer, reconciler = (stack.enter_context(env.forking_server()) for _ in range(2))
        port, other = buyer.port, reconciler.port
        with env.faults({"fault": "young", "count": 1}), buyers.asking(port, **{"X-Drill-Freeze": "keep-before"}):
            wait_until_frozen(buyer.pid)
            time.sleep(RECONCILE_WAIT_S + 1)
            env.buy_control(other)
            freezing = {"X-Drill-Freeze": "find-answered"}
            with ThreadPoolExecutor(1) as pool:
                pool.submit(call, other, "POST", "/drill/reconcile-all", None, freezing)
                wait_until_frozen(reconciler.pid)
                signal_all(buyer.pid, SIGCONT)
                until(lambda: any(buyers.answers.values()))
                signal_all(reconciler.pid, SIGCONT)
        return buyers.asked_and_audited(port)


def unread_log(env: Environment) -> AuditResult:
    """Order while nobody reads the service's log, and the pipe it writes to is full."""
    buyers = Buyers(env, 6)
    with env.forking_server() as healthy:
        other = healthy.port
        with log_pipe() as writer, Server(env.variables, env.folder / "service.log", stderr=writer) as server:
            fill(writer)
            with buyers.asking(server.port) as asked:
                wait([asked], LOG_TIMEOUT_S)
                is_alive = call(server.port, "GET", "/livez").status == 200
                server.kill()
        late = sum(answer.status != 201 for answer in asked.result())
        buyers.settle(other)
        result = buyers.asked_and_audited(other)
    faults = [f"{late} orders got no label while nobody read the log"] if late else []
    return result.with_faults([*faults, *([] if is_alive else ["/livez was silent meanwhile"])])


@contextmanager
def log_pipe() -> Iterator[int]:
    """Make a small pipe for a process's log that nobody reads; yield where it is written."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 65_536)
    try:
        yield writer
    finally:
        os.close(reader)
        os.close(writer)


def fill(pipe: int) -> None:
    """Leave no room in a pipe, so that a process that writes there waits for ever."""
    # An open file of its own: the process's own end must go on to block.
    writer = os.open(f"/proc/self/fd/{pipe}", os.O_WRONLY | os.O_NONBLOCK)
    for size in (4096, 1):
        with suppress(BlockingIOError):
            while True:
                os.write(writer, b"\n" * size)
    os.close(writer)
