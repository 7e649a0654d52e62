"""What every test may use: worlds of two shops, clients with a token, and counters that start at nothing."""

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import hypothesis
import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import caches
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from django.test.client import ClientHandler

from config.api.error_catalogue import PLAIN_ERRORS
from shops import throttling
from shops.authentication import find, find_replicated
from shops.models import Shop
from tests.support.factories import AccessTokenFactory, ShopFactory

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse

    Response: TypeAlias = _MonkeyPatchedWSGIResponse
else:
    Response = HttpResponse

# Every run tries the same examples, as many as there is time for, and keeps no files.
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("suite")

UNKNOWN_PATH = PLAIN_ERRORS["path_unknown"].message
SEARCH = "/public/v1/tracking/search"
PARCELS = "/public/v1/tracking/parcels/"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("services") == "postgresql":
        return
    for item in items:
        if item.get_closest_marker("real_services"):
            item.add_marker(pytest.mark.skip(reason="needs --services postgresql"))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Put SQLite's test database into a file: connections of several threads lock one in memory against each other."""
    for connection in connections.all():
        if connection.vendor == "sqlite":
            connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


def forget() -> None:
    """Forget what the process keeps between requests: tokens, and the pause after a count that failed."""
    find.cache_clear()
    find_replicated.cache_clear()
    throttling.pause.until = 0


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    forget()
    caches["rate_limit"].clear()


@pytest.fixture(scope="session", autouse=True)
def patient_counter() -> None:
    """Wait for Redis on a busy machine, too: the service lets a request through that it can't count at once."""
    made_with = caches.settings["rate_limit"]
    options = made_with.get("OPTIONS", {})
    made_with["OPTIONS"] = options | {name: 30.0 for name in options if name.endswith("timeout")}


@cache
def handler() -> ClientHandler:
    """Load the middleware once: one of them reads all static files' names."""
    return ClientHandler(enforce_csrf_checks=False)


def client() -> Client:
    """Make a client that sends no token, and answers what a server would when a view raises."""
    made = Client(raise_request_exception=False)
    made.handler = handler()
    return made


def logged_in(*permissions: str, name: str = "ada", **options: Any) -> Client:
    """Make a client that a member of the staff with these permissions is logged in with."""
    user = User.objects.create_user(name, is_staff=True, **options)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    made = client()
    made.force_login(user)
    return made


@dataclass(frozen=True)
class Caller:
    """A client of the API."""

    shop: Shop
    token: str

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def request(self, method: str, path: str, **options: Any) -> Response:
        headers = {"Authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        return client().generic(method, path, headers=headers, **options)

    def look_up(self, number: str) -> Response:
        return self.get(PARCELS + number)

    def search(self, **query: str) -> Response:
        return self.get(SEARCH, query_params=query)


def caller(shop: Shop) -> Caller:
    return Caller(shop=shop, token=AccessTokenFactory(shop=shop).secret)


@pytest.fixture
def own(db: None) -> Caller:
    """The shop that asks."""
    return caller(ShopFactory(id="own", name="Own"))


@pytest.fixture
def other(db: None) -> Caller:
    """A shop whose data the other must not see."""
    return caller(ShopFactory(id="other", name="Other"))


@pytest.fixture
def nobody() -> "Nobody":
    """Whoever sends no token."""
    return Nobody()


class Nobody:
    """A client of the API without a token."""

    def request(self, method: str, path: str, **options: Any) -> Response:
        return client().generic(method, path, **options)

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)


class Clock:
    """Stands in for the time of day, of tokens and of the rate limit; it moves only when told to."""

    def __init__(self, start_s: float) -> None:
        self.now_s = start_s

    def time(self) -> float:
        return self.now_s

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.now_s, UTC)

    def tick(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(time.time())
    monkeypatch.setattr("time.time", made.time)
    monkeypatch.setattr("time.monotonic", made.time)
    monkeypatch.setattr("django.utils.timezone.now", made.now)
    return made


def assert_error(response: Response, status: int, message: str | None = None) -> None:
    """Check that an answer has the API's one error shape, and no other."""
    assert response.status_code == status
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    body = response.json()
    assert list(body) == ["message", "statusCode", "timestamp"]
    assert body["statusCode"] == status
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", body["timestamp"])
    assert isinstance(body["message"], str)
    assert body["message"]
    if message is not None:
        assert body["message"] == message


def without_timestamp(response: Response) -> bytes:
    """Blank out the one part of an error's body that may differ between equal errors."""
    blanked, found = re.subn(rb'"timestamp":"[^"]*"', b'"timestamp":""', response.content)
    assert found == 1
    return blanked
