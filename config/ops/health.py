"""Liveness and readiness pages for orchestrators: public, so of each part they show its name and state alone."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import cache
from http import HTTPStatus

import orjson
from django.conf import settings
from django.core.cache import caches
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.ops.background_check import Check
from labels.pdfs import storage
from shops.contracts.clients import client
from shops.contracts.models import CarrierContract
from shops.db import clock
from shops.db.failures import reason as reason_of

DEADLINE_S = 1.0  # of a probe, whatever hangs
FRESH_S = 1.0  # however many probes come, each part is checked once a second
STORAGE_FRESH_S = 15.0  # checking a bucket takes milliseconds of CPU time, and readiness does not depend on it
CLOCK_FRESH_S = 15.0  # a clock that is off stays so, and each check of it writes a line
CREDENTIALS_FRESH_S = 60.0
OK, FAILING, SILENT, OFF, UNREADABLE = "ok", "failing", "no answer in time", "off", "no key opens some"
UNKNOWN = "unknown without the database"
ASK_DATABASE = ("clock", "credentials")
logger = logging.getLogger("service.health")


@require_safe
def livez(request: HttpRequest) -> HttpResponse:
    """Liveness only: no dependencies are checked."""
    return answer(HTTPStatus.OK, {"status": OK})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Readiness: the database answers and has this version's tables. Other parts are shown, but not required.

    A host whose clock is off is degraded: it serves, and leaves other processes' purchases alone. So is one that lacks
    a key of carriers' credentials: those shops can't order.
    """
    runs = {name: check.start() for name, check in checks().items()}
    wait(runs.values(), timeout=DEADLINE_S)
    states = states_of(runs)
    found: dict[str, object] = {"version": settings.VERSION, "checks": states | circuit_breakers()}
    if not any(states[name] == OK for name in databases().values()):
        return answer(HTTPStatus.SERVICE_UNAVAILABLE, {"status": "not ready", **found})
    is_degraded = states["clock"] == OFF or states["credentials"] == UNREADABLE
    return answer(HTTPStatus.OK, {"status": "degraded" if is_degraded else OK, **found})


def answer(status: HTTPStatus, body: dict[str, object]) -> HttpResponse:
    response = HttpResponse(orjson.dumps(body), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response


def states_of(runs: "dict[str, Future[str | None]]") -> dict[str, str]:
    """Return the state of each part; a database that is away is one cause, so it alone fails and is logged."""
    primary = databases()[DEFAULT_DB_ALIAS]
    states: dict[str, str] = {}
    for name, run in runs.items():  # the primary's comes first
        is_away = states.get(primary) in {FAILING, SILENT}
        is_unknown = is_away and name in ASK_DATABASE and (not run.done() or run.exception() is not None)
        states[name] = UNKNOWN if is_unknown else state_of(name, run)
    return states


def state_of(name: str, run: "Future[str | None]") -> str:
    if not run.done():
        state, reason = SILENT, "TimeoutError"
    elif error := run.exception():
        state, reason = FAILING, str(error) if isinstance(error, storage.StorageError) else reason_of(error)
    else:
        return run.result() or OK
    logger.warning("check failed", extra={"check": name, "reason": reason})
    return state


@cache
def checks() -> dict[str, Check[str | None]]:
    """Make the checks, each with a thread of its own; one that has nothing to say is fine."""
    found: dict[str, Check[str | None]] = {
        name: Check(database_check(alias), fresh_s=FRESH_S) for alias, name in databases().items()
    }
    if settings.REDIS_URL:
        found["redis"] = Check(check_redis, fresh_s=FRESH_S)
    found["clock"] = Check(check_clock, fresh_s=CLOCK_FRESH_S)
    found["credentials"] = Check(check_credentials, fresh_s=CREDENTIALS_FRESH_S)
    return found | {"storage": Check(storage.check, fresh_s=STORAGE_FRESH_S)}


def databases() -> dict[str, str]:
    """Return the display names of the databases by alias; parcels can be read from any, so one is enough."""
    return {alias: "database" if alias == DEFAULT_DB_ALIAS else f"database {alias}" for alias in settings.DATABASES}


def database_check(alias: str) -> Callable[[], str]:
    """Make a check that opens a connection of its own."""
    is_migrated = False

    def check() -> str:
        nonlocal is_migrated
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT 1")
        # A version may run on newer tables, never on older ones. Migrations are not reversed, so once none is pending,
        # none will be.
        is_migrated = is_migrated or not has_pending_migrations(alias)
        return OK if is_migrated else "migrations are pending"

    return check


def has_pending_migrations(alias: str) -> bool:
    executor = MigrationExecutor(connections[alias])
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def check_clock() -> str:
    return OFF if clock.is_host_off() else OK


def check_credentials() -> str:
    unreadable = CarrierContract.objects.unreadable()
    if unreadable:
        # An earlier key was left out, or the keys are another service's.
        extra = {"count": len(unreadable), "shops": ",".join(sorted({each.shop_id for each in unreadable})[:10])}
        logger.error("credentials that none of CREDENTIALS_KEYS opens", extra=extra)
    return UNREADABLE if unreadable else OK


def check_redis() -> str:
    """Count, as a request does: a Redis that is full or read-only answers a ping."""
    caches["rate_limit"].count("readyz", 60)  # type: ignore[attr-defined]  # CountingRedisCache's, of this thread
    return OK


def circuit_breakers() -> dict[str, str]:
    """Show this process's circuit breakers, by carrier and service; the carriers themselves are not asked."""
    return {
        f"{carrier_code} {service}": f"circuit breaker {breaker.state}"
        for carrier_code in settings.CARRIER_ENDPOINTS
        for service, breaker in client(carrier_code, is_test=False).circuit_breakers.items()
    }
