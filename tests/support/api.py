"""Callers of the API and of the admin, and what every answer has to look like."""

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from django.contrib.auth.models import Permission, User
from django.core.cache import caches
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.client import ClientHandler
from django.test.utils import CaptureQueriesContext

from config.api import fast_path
from shops.api import throttling
from shops.api.authentication import find, find_replicated, known_digests
from shops.api.errors.plain import PATH_UNKNOWN
from shops.contracts.bulkhead import bulkhead
from shops.models import Shop
from tests.support.factories import AccessTokenFactory
from tests.support.paths import PARCELS, SEARCH

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse

    Response: TypeAlias = _MonkeyPatchedWSGIResponse
else:
    Response = HttpResponse

UNKNOWN_PATH = PATH_UNKNOWN.message


def forget() -> None:
    """Clear the state that the process keeps between requests: tokens, counts, and the counter's back-off."""
    fast_path.headers_of.cache_clear()
    find.cache_clear()
    find_replicated.cache_clear()
    known_digests.clear()
    throttling.asked_again_at = 0
    bulkhead.patient_until = 0
    caches["default"].clear()


class Handler(ClientHandler):
    """The test client's handler, behind the fast path as in the server."""

    def __call__(self, environ: dict[str, Any]) -> Any:
        answer = fast_path.answer_to(environ)
        if answer is None:
            return super().__call__(environ)
        headers, body = answer
        response: Any = HttpResponse(body, headers=dict(headers))
        response.wsgi_request = WSGIRequest(environ)
        return response


@cache
def handler() -> ClientHandler:
    """Load the middleware once: one of them reads all static files' names."""
    return Handler(enforce_csrf_checks=False)


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
    note_second_factor(made, user)
    return made


def note_second_factor(staff: Client, user: User) -> None:
    """Make the session one that a second factor was given in."""
    session = staff.session
    session["account_authentication_methods"] = [{"method": "mfa", "at": time.time(), "id": 0, "type": "totp"}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()


def query_count(staff: Client, path: str) -> int:
    """Get a page; return the number of its queries."""
    with CaptureQueriesContext(connection) as captured:
        assert staff.get(path).status_code == 200
    return len(captured)


@dataclass(frozen=True)
class Caller:
    """A client of the API."""

    shop: Shop
    token: str

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def request(self, method: str, path: str, **options: Any) -> Response:
        headers = self.bearer | options.pop("headers", {})
        return client().generic(method, path, headers=headers, **options)

    def look_up(self, number: str) -> Response:
        return self.get(PARCELS + number)

    def search(self, **query: str) -> Response:
        return self.get(SEARCH, query_params=query)


def caller(shop: Shop) -> Caller:
    return Caller(shop=shop, token=AccessTokenFactory(shop=shop).secret)


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


def assert_error(response: Response, status: int, message: str | None = None, *, code: str | None = None) -> None:
    """Check that an answer has the API's one error shape, with this code or none, and no other."""
    body = response.json()
    assert (response.status_code, body.get("code")) == (status, code), body
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    assert list(body) == ["message", "statusCode", "timestamp", *(["code"] if code else [])]
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
