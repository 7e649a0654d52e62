"""The acts by name; each returns the audit of its keys."""

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from tests.drills.audit import AuditResult
from tests.drills.edges.carriers import gateway_answers, late_search, late_writer
from tests.drills.edges.database import database_away, lost_row, severed
from tests.drills.edges.hosts import SKEW_MINUTES, frozen, frozen_at_random, reconciler_frozen, skewed_clock, unread_log
from tests.drills.environment import Environment
from tests.support.http import call

Act = Callable[[Environment], AuditResult]
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
    "frozen-behind": lambda env: frozen(env, -SKEW_MINUTES),
    "frozen-at-random": frozen_at_random,
    "reconciler-frozen": reconciler_frozen,
    "log-unread": unread_log,
    "search-late": late_search,
    "writer-late": late_writer,
    "commits-severed": severed,
    "database-away": database_away,
}
# SQLite's clock is its host's.
OF_CLOCKS = {"buyer-behind", "buyer-ahead", "reconciler-behind", "reconciler-ahead", "frozen-behind"}
ONLY_POSTGRESQL = {*OF_CLOCKS, "frozen-at-random", "commits-severed", "database-away"}


def is_possible(name: str, database: str) -> bool:
    return database == "postgresql" or name not in ONLY_POSTGRESQL


def begin_afresh(env: Environment) -> None:
    """Begin an act with an empty ledger, an empty table and contracts that are older than any clock's error."""
    from labels.models import ShippingLabel
    from shops.contracts.models import CarrierContract

    call(env.sandbox_port, "POST", "/control/reset")
    ShippingLabel.objects.all().delete()
    CarrierContract.objects.update(updated_at=timezone.now() - timedelta(days=1))
