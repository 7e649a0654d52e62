"""What every test may use: worlds of two shops, clients with a token, and counters that start at nothing."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from django.core.cache import caches
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from django.test.client import ClientHandler

from shops import throttling
from shops.authentication import find
from shops.models import Shop
from tests.factories import AccessTokenFactory, ShopFactory

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Response
else:
    Response = HttpResponse

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
    throttling.pause.until = 0


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    forget()
    caches["rate_limit"].clear()


@cache
def handler() -> ClientHandler:
    """Load the middleware once: one of them reads all static files' names."""
    return ClientHandler(enforce_csrf_checks=False)


def client() -> Client:
    """Make a client that sends no token, and answers what a server would when a view raises."""
    made = Client(raise_request_exception=False)
    made.handler = handler()
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
