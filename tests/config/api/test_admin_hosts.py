"""ADMIN_HOSTS: the admin under its own names, the API under the others, and no sign of either elsewhere."""

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.support.api import Caller, Response, client, logged_in, without_timestamp
from tests.support.paths import PARCELS

pytestmark = pytest.mark.django_db
ADMIN, API = "staff.example.com", "api.example.com"


@pytest.fixture(autouse=True)
def _hosts(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = [ADMIN, API]
    settings.ADMIN_HOSTS = [ADMIN]


def answer(host: str, path: str, browser: Client | None = None) -> Response:
    return (browser or client()).get(path, headers={"Host": host})


def test_the_admin_is_served_under_its_own_name_only() -> None:
    staff = logged_in(is_superuser=True)
    assert answer(ADMIN, "/admin/", staff).status_code == 200
    assert answer(ADMIN, "/admin/account/login/").status_code == 200
    unknown = answer(API, "/nope")
    for path in ("/admin/", "/admin", "/admin/login/", "/admin/account/login/", "/admin/?q=%00", "/admin/shops/shop/"):
        for browser in (client(), staff):
            refused = answer(API, path, browser)
            assert (refused.status_code, refused.content) == (404, unknown.content), path
            assert set(refused.headers) == set(unknown.headers), path
    posted = client().post("/admin/account/login/", {"login": "a\0"}, headers={"Host": API})
    assert (posted.status_code, posted.content) == (404, unknown.content)


def test_the_api_is_served_under_the_other_names_only(own: Caller) -> None:
    found = own.get(PARCELS + "1", headers={"Host": API})
    refused = own.get(PARCELS + "1", headers={"Host": ADMIN})
    unknown = own.get("/public/nope", headers={"Host": API})
    assert found.json()["message"].startswith("No parcel")
    assert (refused.status_code, without_timestamp(refused)) == (404, without_timestamp(unknown))
    for path in ("/docs", "/openapi.json", "/"):
        assert answer(ADMIN, path).status_code == 404
        assert answer(API, path).status_code in {200, 302}


def test_what_both_need_is_served_under_all_names() -> None:
    for host in (ADMIN, API):
        assert answer(host, "/livez").status_code == 200
        assert client().head("/static/staff/login.css", headers={"Host": host}).status_code == 200
        assert answer(host, "/files/altered").status_code == 403


def test_without_the_setting_all_is_served_under_all_names(settings: Settings) -> None:
    settings.ADMIN_HOSTS = []
    for host in (ADMIN, API):
        assert answer(host, "/admin/account/login/").status_code == 200
        assert answer(host, "/docs").status_code == 200
