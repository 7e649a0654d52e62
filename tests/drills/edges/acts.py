"""The acts; each returns the audit of its keys. Those with a host's clock or severed commits need PostgreSQL."""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

from tests.drills.audit import AuditResult
from tests.drills.edges.buyers import RECONCILE_WAIT_S, SETTLE_S, Buyers
from tests.drills.edges.gateway import ANSWERS, gateway
from tests.drills.edges.log_pipe import log_pipe
from tests.drills.edges.severing import SeveringProxy
from tests.drills.environment import Environment, sandbox_settings
from tests.drills.http_client import call
from tests.support.proxies import postgresql_target
from tests.support.waiting import until

SKEW_MINUTES = 20
IN_FLIGHT_S = 8.0
# Points of a purchase at which its process is frozen until another one has settled what it left.
FREEZE_POINTS = ("reserve-after", "call-allowed", "call-before", "call-half-sent")
LOG_TIMEOUT_S = 20.0
LATE_WRITE_S, LATE_SEARCH_S = 11.0, 60.0
Act = Callable[[Environment], AuditResult]


def lost_row(env: Environment, point: str) -> AuditResult:
    """Lose the committed row after the carrier's yes."""
    buyers = Buyers(env, 6)
    with env.forking_server() as port:
        buyers.ask_all(port, **{"X-Drill-Lose": point})
        buyers.settle(port, seconds=2)
        return buyers.audited(port)


def skewed_clock(env: Environment, buyer_minutes: int, reconciler_minutes: int) -> AuditResult:
    """Reconcile on one host, and ask again there, while slow purchases of another are in flight."""
    buyers = Buyers(env, 8)
    with (
        env.setting({"CARRIER_TIMEOUT": str(2 * IN_FLIGHT_S)}),
        env.forking_server(**clock_off_by(buyer_minutes)) as port,
        env.forking_server(**clock_off_by(reconciler_minutes)) as other,
        env.faults({"fault": "slow", "delay_s": IN_FLIGHT_S, "count": len(buyers.carriers)}),
    ):
        with buyers.asking(port):
            time.sleep(1)  # the orders are with the carrier
            buyers.settle(other, seconds=IN_FLIGHT_S, reconciler=other)
        buyers.settle(other, reconciler=port if reconciler_minutes else other)
        return buyers.audited(other)


def clock_off_by(minutes: int) -> dict[str, str]:
    """Return the variables of a process whose wall clock is off; its monotonic clock is not."""
    if not minutes:
        return {}
    return {"LD_PRELOAD": str(libfaketime()), "FAKETIME": f"{minutes:+}m", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def libfaketime() -> Path | None:
    """Find the library of Debian's package ``faketime``."""
    return next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


def gateway_answers(env: Environment, carrier: str) -> AuditResult:
    """Let a gateway answer in the carrier's place when the carrier has made the parcel."""
    total = Buyers(env, 0)
    with gateway(env.sandbox_port) as before, env.setting(through(before.port)), env.forking_server() as port:
        for answer in ANSWERS[carrier]:
            buyers = Buyers(env, 3, carrier)
            before.answer = answer
            buyers.ask_all(port)
            before.answer = None
            env.buy_control(port, carrier)  # its success keeps the circuit breaker closed
            total.carriers |= buyers.carriers
            total.answers |= buyers.answers
        total.settle(port)
        return total.audited(port)


def through(port: int) -> dict[str, str]:
    """Return the settings that send purchases through a gateway; alpha's search has its own way."""
    settings = sandbox_settings(port)
    return {name: settings[name] for name in ("ALPHA_URL", "BETA_URL")}


def frozen(env: Environment) -> AuditResult:
    """Freeze processes in a purchase, beyond the lease and until others have settled it; then let them go on."""
    acts = [Buyers(env, 4, "alpha") for _ in FREEZE_POINTS]
    with ExitStack() as stack:
        other = stack.enter_context(env.forking_server())
        mortals = [stack.enter_context(env.forking_process()) for _ in FREEZE_POINTS]
        for point, buyers, mortal in zip(FREEZE_POINTS, acts, mortals, strict=True):
            port = int(mortal.first_line())
            stack.enter_context(buyers.asking(port, **{"X-Drill-Freeze": f"{point}*4"}))
            mortal.wait_until_frozen()
        everyone = merged(env, acts)
        everyone.settle(other)
        for mortal in mortals:
            mortal.thaw()
        everyone.settle(other, seconds=3)
        return everyone.audited(other)


def merged(env: Environment, acts: list[Buyers]) -> Buyers:
    everyone = Buyers(env, 0)
    for buyers in acts:
        everyone.carriers |= buyers.carriers
        everyone.answers |= buyers.answers
    return everyone


def reconciler_frozen(env: Environment) -> AuditResult:
    """Let a purchase end while a frozen reconciliation, which has not found its parcel, still means to fail it."""
    buyers = Buyers(env, 1, "alpha")
    with ExitStack() as stack:
        buyer, reconciler = (stack.enter_context(env.forking_process()) for _ in range(2))
        port, other = int(buyer.first_line()), int(reconciler.first_line())
        with env.faults({"fault": "young", "count": 1}), buyers.asking(port, **{"X-Drill-Freeze": "keep-before"}):
            buyer.wait_until_frozen()
            time.sleep(RECONCILE_WAIT_S + 1)
            env.buy_control(other)
            freezing = {"X-Drill-Freeze": "find-answered"}
            with ThreadPoolExecutor(1) as pool:
                pool.submit(call, other, "POST", "/drill/reconcile-all", None, freezing)
                reconciler.wait_until_frozen()
                buyer.thaw()
                until(lambda: any(buyers.answers.values()))
                reconciler.thaw()
        return buyers.audited(port)


def unread_log(env: Environment) -> AuditResult:
    """Order while nobody reads the service's log, and the pipe it writes to is full."""
    buyers = Buyers(env, 6)
    command = [sys.executable, "manage.py", "serve", "--workers", "1"]
    with env.forking_server() as other:
        with log_pipe() as pipe, env.listening(command, stderr=pipe.writer) as (port, process):
            pipe.fill()
            with buyers.asking(port) as asked:
                wait([asked], LOG_TIMEOUT_S)
                is_alive = call(port, "GET", "/livez").status == 200
                process.kill()
        late = sum(answer.status != 201 for answer in asked.result())
        buyers.settle(other)
        result = buyers.audited(other)
    faults = [f"{late} orders got no label while nobody read the log"] if late else []
    return with_faults(result, [*faults, *([] if is_alive else ["/livez was silent meanwhile"])])


def late_search(env: Environment) -> AuditResult:
    """Kill purchases that alpha has made, while its search shows no parcel of the last minute."""
    buyers = Buyers(env, 4, "alpha")
    with env.forking_server() as port:
        with env.faults({"fault": "unfound", "delay_s": LATE_SEARCH_S}):
            killed(buyers, port, "call-answered")
            buyers.settle(port)
        buyers.settle(port, seconds=4)
        return buyers.audited(port)


def late_writer(env: Environment) -> AuditResult:
    """Kill purchases whose parcel the carrier makes only after the lease."""
    buyers = Buyers(env, 4, "alpha")
    with env.forking_server() as port:
        with env.faults({"fault": "slow", "delay_s": LATE_WRITE_S, "operation": "shippingMultiParcelV4", "count": 4}):
            killed(buyers, port, "call-sent")
        buyers.settle(port)
        return buyers.audited(port)


def killed(buyers: Buyers, port: int, point: str) -> None:
    for key in buyers.carriers:
        answer = buyers.ask(port, key, **{"X-Drill-Kill": point})
        assert not answer.status, f"{point} was not reached: {answer}"


def severed(env: Environment) -> AuditResult:
    """Cut connections to the database at commits: before, after, or so that they are made late."""
    from django.db import connection

    buyers = Buyers(env, 30)
    with (
        SeveringProxy(postgresql_target(connection.settings_dict)) as proxy,
        env.setting({"DATABASE_URL": url_through(proxy.port)}),
        env.forking_server() as port,
    ):
        proxy.is_armed = True
        keys = list(buyers.carriers)
        for key in keys:
            buyers.ask(port, key)
        proxy.is_armed = False
        buyers.settle(port)
        result = buyers.audited(port)
    print(f"  {proxy.cuts} connections cut", flush=True)
    return with_faults(result, [f"{result.held} held for a person, for nothing"] if result.held else [])


def database_away(env: Environment) -> AuditResult:
    """Take the database away from purchases in flight for longer than they wait for it."""
    from django.db import connection

    buyers = Buyers(env, 6)
    with (
        SeveringProxy(postgresql_target(connection.settings_dict)) as proxy,
        env.setting({"DATABASE_URL": url_through(proxy.port)}),
        env.forking_server() as port,
        env.faults({"fault": "slow", "delay_s": 2.0, "count": len(buyers.carriers)}),
    ):
        with buyers.asking(port) as asked:
            time.sleep(1)
            proxy.refuse()
            wait([asked])
        proxy.restore()
        buyers.settle(port)
        result = buyers.audited(port)
    return with_faults(result, [f"{result.held} PDFs are lost"] if result.held else [])


def url_through(port: int) -> str:
    from django.db import connection

    settings = connection.settings_dict
    return f"postgresql://{settings['USER']}@127.0.0.1:{port}/{settings['NAME']}"


def with_faults(result: AuditResult, faults: list[str]) -> AuditResult:
    result.faults += faults
    return result


@contextmanager
def fresh(env: Environment) -> Iterator[None]:
    """Begin an act with an empty ledger, an empty table and contracts that are older than any clock's error."""
    from django.db import connection
    from django.utils import timezone

    from labels.models import ShippingLabel
    from shops.contracts.models import CarrierContract

    call(env.sandbox_port, "POST", "/control/reset")
    ShippingLabel.objects.all().delete()
    CarrierContract.objects.update(updated_at=timezone.now() - timedelta(days=1))
    connection.close()
    yield


ACTS: dict[str, Act] = {
    "row-lost-before-keeping": lambda env: lost_row(env, "keep-before"),
    "row-lost-before-finishing": lambda env: lost_row(env, "finish-before"),
    "buyer-behind": lambda env: skewed_clock(env, -SKEW_MINUTES, 0),
    "buyer-ahead": lambda env: skewed_clock(env, SKEW_MINUTES, 0),
    "reconciler-behind": lambda env: skewed_clock(env, 0, -SKEW_MINUTES),
    "reconciler-ahead": lambda env: skewed_clock(env, 0, SKEW_MINUTES),
    "gateway-alpha": lambda env: gateway_answers(env, "alpha"),
    "gateway-beta": lambda env: gateway_answers(env, "beta"),
    "frozen": frozen,
    "reconciler-frozen": reconciler_frozen,
    "log-unread": unread_log,
    "search-late": late_search,
    "writer-late": late_writer,
    "commits-severed": severed,
    "database-away": database_away,
}
OF_CLOCKS = {"buyer-behind", "buyer-ahead", "reconciler-behind", "reconciler-ahead"}
ONLY_POSTGRESQL = {*OF_CLOCKS, "commits-severed", "database-away"}
assert SETTLE_S < LATE_SEARCH_S
