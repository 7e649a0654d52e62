"""The admin's content security policy, and the `Host` that is answered."""

import re
import runpy
from pathlib import Path
from unittest.mock import patch

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from config.api import policies
from shops.api.errors.plain import PLAIN_ERRORS
from tests.support.api import Nobody, assert_error, client, logged_in
from tests.support.cases import in_one_test
from tests.support.paths import SEARCH


def directives(policy: str) -> dict[str, list[str]]:
    return {name: sources for name, *sources in (part.split() for part in policy.split("; "))}


@pytest.mark.parametrize("path", ["/admin/", "/admin/login/", "/admin/parcels/parcel/", "/admin/unknown"])
@pytest.mark.parametrize("is_logged_in", [True, False])
def test_every_answer_of_the_admin_has_the_policy(path: str, is_logged_in: bool, db: None) -> None:
    browser = logged_in(is_superuser=True) if is_logged_in else client()
    assert browser.get(path)["Content-Security-Policy"] == policies.ADMIN_POLICY


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/admin/", 200),
        ("/admin/jsi18n/", 200),
        ("/admin/login/", 302),
        ("/admin/account/factors/", 200),
        ("/admin/password_change/", 200),
        ("/admin/shops/accesstoken/add/", 200),
        ("/admin/shops/shop/?unknown=1", 400),
        ("/admin/shops/shop/?q=%00", 400),
        ("/admin/unknown/", 404),
    ],
)
def test_no_answer_of_the_admin_is_stored(path: str, status: int, db: None) -> None:
    answer = logged_in(is_superuser=True).get(path)
    assert (answer.status_code, "no-store" in answer.headers.get("Cache-Control", "")) == (status, True)


def test_what_the_admin_refuses_or_fails_at_is_not_stored(db: None) -> None:
    browser = logged_in()
    browser.raise_request_exception = False
    refused = browser.get("/admin/shops/shop/")
    with patch.object(User, "has_module_perms", side_effect=RuntimeError):
        failed = browser.get("/admin/")
    for answer, status in ((refused, 403), (failed, 500)):
        assert (answer.status_code, answer.headers["Cache-Control"]) == (status, "no-store")


def test_the_policy_allows_scripts_of_the_service_only_and_no_inline_ones() -> None:
    policy = directives(policies.ADMIN_POLICY)
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == ["'self'", "'unsafe-eval'"]
    assert policy["img-src"] == ["'self'", "data:"]
    assert policy["form-action"] == policy["connect-src"] == ["'self'"]
    assert policy["frame-ancestors"] == policy["base-uri"] == ["'none'"]


def test_pictures_of_listed_hosts_and_forms_to_the_issuer_of_the_sign_on_are_allowed(settings: Settings) -> None:
    settings.ADMIN_PICTURE_HOSTS = ["cdn.example.com", "img.example.org"]
    settings.OIDC_ISSUER = "https://sso.example.com/realms/work"
    policy = directives(runpy.run_path(str(policies.__file__))["ADMIN_POLICY"])
    assert policy["img-src"] == ["'self'", "data:", "https://cdn.example.com", "https://img.example.org"]
    assert policy["form-action"] == ["'self'", "https://sso.example.com"]


def test_no_template_has_an_inline_script_or_event_handler() -> None:
    templates = [
        path
        for folder in (django_settings.BASE_DIR / app for app in ("config", "shops", "parcels", "labels"))
        for path in Path(folder).rglob("*.html")
    ]
    assert len(templates) > 10
    for path in templates:
        text = path.read_text()
        assert not re.search(r"<script(?![^>]*\b(src=|type=.application/json))|\son[a-z]+=|javascript:", text), path


@in_one_test("path", [SEARCH, "/docs", "/openapi.json", "/admin/account/login/", "/static/docs/docs.css"])
def test_no_answer_is_for_scripts_of_another_site(path: str, nobody: Nobody, db: None) -> None:
    response = nobody.get(path, headers={"Origin": "https://example.com"})
    response.close()  # a file
    assert not [name for name in response.headers if name.startswith("Access-Control-")]


@in_one_test("path", [SEARCH, "/docs", "/admin/login/"])
@in_one_test("port", ["8443", "1", "443443", "08000"])
def test_a_foreign_port_is_refused(path: str, port: str, nobody: Nobody, db: None) -> None:
    response = nobody.get(path, headers={"Host": f"testserver:{port}"})
    assert response.status_code == 400
    if path == SEARCH:
        assert_error(response, 400, PLAIN_ERRORS["host_unknown"].message)


@pytest.mark.parametrize("host", ["testserver", "testserver:80", "testserver:443", "testserver:8000"])
def test_no_port_and_the_services_own_are_answered(host: str, nobody: Nobody) -> None:
    assert nobody.get("/docs", headers={"Host": host}, SERVER_PORT="8000").status_code == 200


def test_the_public_addresss_port_is_answered(
    nobody: Nobody, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PUBLIC_BASE_URL = "https://testserver:8443/"
    known = runpy.run_path(str(policies.__file__))["KNOWN_PORTS"]
    monkeypatch.setattr(policies, "KNOWN_PORTS", known)
    assert nobody.get("/docs", headers={"Host": "testserver:8443"}).status_code == 200
    assert nobody.get("/docs", headers={"Host": "testserver:8444"}).status_code == 400


def test_an_ipv6_address_is_no_port(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["[::1]"]
    assert Client().get("/docs", headers={"Host": "[::1]"}).status_code == 200
    assert Client().get("/docs", headers={"Host": "[::1]:81"}).status_code == 400
