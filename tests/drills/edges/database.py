"""Acts of the database: a lost row, commits in doubt, a long absence."""

import time
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager

from django.db import connection

from tests.drills.audit import AuditResult
from tests.drills.edges.buyers import Buyers
from tests.drills.environment import Environment
from tests.support.proxies import SeveringProxy, postgresql_target


def lost_row(env: Environment, point: str) -> AuditResult:
    """Lose the committed row after the carrier's yes."""
    buyers = Buyers(env, 6)
    with env.forking_server() as server:
        port = server.port
        buyers.send_all(port, **{"X-Drill-Lose": point})
        buyers.settle(port, seconds=2)
        return buyers.asked_and_audited(port)


def severed(env: Environment) -> AuditResult:
    """Cut connections to the database at commits: before, after, or so that they are made late."""
    buyers = Buyers(env, 30)
    with served_through_proxy(env) as (proxy, port):
        proxy.is_armed = True
        buyers.send_all(port)
        proxy.is_armed = False
        buyers.settle(port)
        result = buyers.asked_and_audited(port)
    print(f"  {proxy.cuts} connections cut", flush=True)
    return result.with_faults([f"{result.held} held for a person, for nothing"] if result.held else [])


def database_away(env: Environment) -> AuditResult:
    """Take the database away from purchases in flight for longer than they wait for it."""
    buyers = Buyers(env, 6)
    with (
        served_through_proxy(env) as (proxy, port),
        env.faults({"fault": "slow", "delay_s": 2.0, "count": len(buyers.bodies)}),
    ):
        with buyers.asking(port) as asked:
            time.sleep(1)
            proxy.refuse()
            wait([asked])
        proxy.restore()
        buyers.settle(port)
        result = buyers.asked_and_audited(port)
    lost = result.held + result.states["failed"]
    return result.with_faults([f"{lost} PDFs are lost"] if lost else [])


@contextmanager
def served_through_proxy(env: Environment) -> Iterator[tuple[SeveringProxy, int]]:
    """Serve with a proxy in front of the database; yield the proxy and the server's port."""
    settings = connection.settings_dict
    with SeveringProxy(postgresql_target(settings)) as proxy:
        url = f"postgresql://{settings['USER']}@127.0.0.1:{proxy.port}/{settings['NAME']}"
        with env.setting({"DATABASE_URL": url}), env.forking_server() as server:
            yield proxy, server.port
