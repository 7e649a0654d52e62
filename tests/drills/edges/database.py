"""Acts of the database: a lost row, commits in doubt, a long absence."""

import time
from concurrent.futures import wait

from tests.drills.audit import AuditResult
from tests.drills.edges.buyers import Buyers
from tests.drills.edges.severing import SeveringProxy
from tests.drills.environment import Environment
from tests.support.proxies import postgresql_target


def lost_row(env: Environment, point: str) -> AuditResult:
    """Lose the committed row after the carrier's yes."""
    buyers = Buyers(env, 6)
    with env.forking_server() as port:
        buyers.ask_all(port, **{"X-Drill-Lose": point})
        buyers.settle(port, seconds=2)
        return buyers.audited(port)


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
    return result.with_faults([f"{result.held} held for a person, for nothing"] if result.held else [])


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
    return result.with_faults([f"{result.held} PDFs are lost"] if result.held else [])


def url_through(port: int) -> str:
    from django.db import connection

    settings = connection.settings_dict
    return f"postgresql://{settings['USER']}@127.0.0.1:{port}/{settings['NAME']}"
