"""Probes: liveness, readiness, and nothing in the answers but states by name."""

import threading
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from cryptography.fernet import Fernet
from django.conf import settings as django_settings
from django.db import DatabaseError, connections
from django.utils import timezone
from pytest_django.fixtures import Settings

from carriers.client import Service
from carriers.errors import CarrierUnavailable
from config import __version__
from config.ops import health
from config.ops.background_check import Check
from config.ops.serving import check_folder
from labels.pdfs import storage
from shops.contracts.clients import client as carrier_client
from tests.labels.factories import ContractFactory
from tests.support.api import Response, client
from tests.support.processes import free_port
from tests.support.sentinels import Redis
from tests.support.waiting import WAIT_TIMEOUT_S

READY = {
    "database": "ok",
    "clock": "ok",
    "credentials": "ok",
    "storage": "ok",
    **{
        f"{carrier} {service}": "circuit breaker closed"
        for carrier, further in {"alpha": ("cancellation", "reprints"), "beta": ("deposit slips",)}.items()
        for service in ("shipping", "pickup points", "contract checks", *further)
    },
}


@pytest.fixture(autouse=True)
def fresh_checks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the checks and the carriers' clients for the settings of the test."""
    monkeypatch.setattr(health, "DEADLINE_S", 60.0)  # a busy machine needs time
    health.checks.cache_clear()
    carrier_client.cache_clear()
    yield
    health.checks.cache_clear()
    carrier_client.cache_clear()


def expected(**changes: str) -> dict[str, str]:
    redis = {"redis": "ok"} if django_settings.REDIS_URL else {}
    return READY | redis | changes


def ask(path: str = "/readyz") -> Response:
    response = client().get(path)
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    return response


def assert_shown(**changes: str) -> None:
    """Check that the service is ready, and shows these parts in another state."""
    response = ask()
    assert (response.status_code, response.json()["checks"]) == (200, expected(**changes))


def said_of(caplog: pytest.LogCaptureFixture, fact: str) -> list[str]:
    return [vars(record)[fact] for record in caplog.records if record.name == "service.health"]


def broken(*args: Any, **kwargs: Any) -> Any:
    raise DatabaseError("host db.internal password=hunter2")


def test_liveness_depends_on_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "databases", broken)
    response = ask("/livez")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_a_service_with_a_migrated_database_is_ready(transactional_db: None) -> None:
    assert ask().json() == {"status": "ok", "version": __version__, "checks": expected()}
    assert_shown()


def test_a_database_check_closes_its_connection(transactional_db: None) -> None:
    used: list[Any] = []

    def run() -> str:
        used.append(connections["default"])
        return health.database_check("default")()

    assert Check(run, fresh_s=0).start().result(WAIT_TIMEOUT_S) == "ok"
    assert used[0].connection is None


def test_without_a_database_it_is_not_ready_and_does_not_say_why(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(health, "has_pending_migrations", broken)
    response = ask()
    assert response.status_code == 503
    assert response.json() == {"status": "not ready", "version": __version__, "checks": expected(database="failing")}
    assert said_of(caplog, "reason") == ["DatabaseError"]
    assert "hunter2" not in caplog.text + response.content.decode()


def test_a_database_that_is_away_is_one_failure(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("has_pending_migrations", "check_clock", "check_credentials"):
        monkeypatch.setattr(health, name, broken)
    unknown = "unknown without the database"
    assert ask().json()["checks"] == expected(database="failing", clock=unknown, credentials=unknown)
    assert said_of(caplog, "check") == ["database"]


def test_with_migrations_to_run_it_is_not_ready(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = [True, False]
    monkeypatch.setattr(health, "has_pending_migrations", lambda alias: pending.pop(0))
    monkeypatch.setattr(health, "FRESH_S", 0.0)
    response = ask()
    assert response.status_code == 503
    assert response.json()["checks"]["database"] == "migrations are pending"
    # Once none is pending, it is not checked again.
    assert [ask().status_code for _ in range(3)] == [200] * 3


def test_one_of_several_databases_is_enough_to_read_parcels(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert health.databases() == {"default": "database"}
    names = {"default": "database", "replica": "database replica"}
    monkeypatch.setattr(health, "databases", lambda: names)
    assert_shown(**{"database replica": "failing"})  # no connection of that name can be made


def test_a_hanging_check_delays_no_probe_and_is_not_started_twice(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, begun = threading.Event(), []

    def hang() -> str:
        begun.append(1)
        release.wait(60)
        return "ok"

    monkeypatch.setattr(storage, "check", hang)
    monkeypatch.setattr(health, "FRESH_S", 600.0)
    for check in health.checks().values():
        check.start()
    for name in expected().keys() & health.checks().keys() - {"storage"}:
        assert health.checks()[name].start().result(60) == "ok"  # and is reused from now on
    monkeypatch.setattr(health, "DEADLINE_S", 0.1)
    answers = [ask().json() for _ in range(3)]
    assert not release.is_set()
    assert answers == [{"status": "ok", "version": __version__, "checks": expected(storage="no answer in time")}] * 3
    assert begun == [1]
    release.set()


def test_a_check_for_which_there_was_no_thread_is_made_later(monkeypatch: pytest.MonkeyPatch) -> None:
    check = Check(lambda: "ok", fresh_s=600)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        assert not check.start().done()
    assert check.start().result(WAIT_TIMEOUT_S) == "ok"


def test_a_flood_of_probes_is_one_check(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "FRESH_S", 60.0)
    monkeypatch.setattr(health, "has_pending_migrations", asked := Mock(return_value=False))
    assert {ask().status_code for _ in range(20)} == {200}
    asked.assert_called_once_with("default")


def test_a_folder_that_cannot_be_written_to_is_shown(
    transactional_db: None, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "labels").write_text("no folder")
    labels = settings.STORAGES["labels"] | {"OPTIONS": {"location": str(tmp_path / "labels")}}
    settings.STORAGES = settings.STORAGES | {"labels": labels}
    assert_shown(storage="failing")
    assert said_of(caplog, "reason") == ["EACCES"]


def test_a_full_disk_is_shown_and_lets_the_service_start(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Path("/dev/full").open("wb"))  # noqa: SIM115 - its caller does
    assert_shown(storage="failing")
    assert said_of(caplog, "reason") == ["ENOSPC"]
    check_folder()


def test_a_bucket_that_does_not_answer_is_shown(transactional_db: None, settings: Settings) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    options = {"bucket_name": "b", "access_key": "a", "secret_key": "hunter2", "endpoint_url": url}
    labels = {"BACKEND": "labels.pdfs.bucket.LabelBucket", "OPTIONS": options}
    settings.STORAGES = settings.STORAGES | {"labels": labels}
    with pytest.raises(storage.StorageError, match=r"\AEndpointConnectionError\Z"):
        storage.check()


@pytest.mark.real_services
def test_a_redis_that_does_not_answer_is_shown(transactional_db: None, settings: Settings) -> None:
    caches: dict[str, Any] = deepcopy(django_settings.CACHES)
    caches["rate_limit"]["LOCATION"] = ["redis://127.0.0.1:1/0"]
    settings.CACHES = caches
    assert_shown(redis="failing")


@pytest.mark.real_services
def test_a_redis_that_is_full_is_shown(transactional_db: None, settings: Settings, tmp_path: Path) -> None:
    port = free_port()
    caches: dict[str, Any] = deepcopy(django_settings.CACHES)
    caches["rate_limit"]["LOCATION"] = [f"redis://127.0.0.1:{port}/0"]
    caches["rate_limit"]["OPTIONS"] |= {"socket_timeout": WAIT_TIMEOUT_S}  # a busy machine needs time
    settings.CACHES = caches
    with Redis(tmp_path / "redis", port, ['save ""', "maxmemory 1", "maxmemory-policy noeviction"]) as server:
        server.wait_for("PING", answer=bool)
        assert_shown(redis="failing")
        server.ask("CONFIG", "SET", "maxmemory", "0")
        health.checks.cache_clear()
        assert_shown()


def test_the_state_of_each_services_circuit_breaker_is_shown(transactional_db: None) -> None:
    breaker = carrier_client("beta", is_test=False).circuit_breakers[Service.PICKUP_POINTS]
    for _ in range(5):
        with pytest.raises(CarrierUnavailable), breaker.call():
            raise CarrierUnavailable("beta", is_carrier_failing=True)
    assert_shown(**{"beta pickup points": "circuit breaker open"})
    breaker._opened_at_s -= breaker._reset_timeout_s
    assert_shown(**{"beta pickup points": "circuit breaker half-open"})


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_probes_are_read_only(path: str, transactional_db: None) -> None:
    assert client().head(path).status_code == 200
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert client().generic(method, path).status_code == 405


@pytest.mark.parametrize("offset_s", [-6, 6])
def test_a_host_whose_clock_is_off_is_degraded_and_says_so(
    offset_s: float, transactional_db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("shops.db.clock.now", lambda: timezone.now() - timedelta(seconds=offset_s))
    assert_shown(clock="off")
    assert ask().json()["status"] == "degraded"
    (said,) = [record for record in caplog.records if record.name == "service.clock"]
    assert (said.levelname, round(vars(said)["offset_s"])) == ("ERROR", offset_s)


def test_credentials_that_no_key_opens_are_told(
    transactional_db: None, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    contract = ContractFactory(carrier_code="alpha")
    settings.CREDENTIALS_KEYS = [Fernet.generate_key().decode()]
    ContractFactory(carrier_code="beta")
    state = expected(credentials="no key opens some")
    assert ask().json() == {"status": "degraded", "version": __version__, "checks": state}
    (said,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert (vars(said)["count"], vars(said)["shops"]) == (1, contract.shop_id)
