"""Whatever is sent to the admin, at any of its addresses: refused or answered, and never a failure."""

import re
from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.db import models
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.conftest import client, logged_in

pytestmark = pytest.mark.django_db
ODD_VALUES = ["", "-1", "9" * 30, "\u202e'\"><%"]


def paths(resolver: URLResolver, value: str, start: str = "") -> Iterator[str]:
    """An address of each route, with a value for everything that a route leaves open."""
    for entry in resolver.url_patterns:
        path = start + filled(str(entry.pattern), value)
        if isinstance(entry, URLPattern):
            yield path
        else:
            yield from paths(entry, value, path)


def filled(route: str, value: str) -> str:
    """Fill the open parts of a route in; a regular expression's is the first of its alternatives, or anything."""
    filled_in = re.sub(r"\(\?P<\w+>(\w*)[^)]*\)", lambda part: part[1] or value, route)
    return re.sub(r"<(\w+:)?\w+>", lambda part: "9" * 30 if part[1] == "int:" else value, filled_in).strip("^$")


def admin_paths(value: str = "x") -> list[str]:
    (resolver,) = [entry for entry in get_resolver().url_patterns if getattr(entry, "namespace", "") == "admin"]
    return sorted(set(paths(resolver, value, "/admin/")))  # type: ignore[arg-type]  # a namespace is a resolver's


@pytest.fixture
def root() -> Client:
    return logged_in(is_superuser=True)


def test_every_page_is_found_in_the_url_configuration() -> None:
    found = admin_paths()
    for path in ("", "x", "login/", "autocomplete/", "auth/", "shops/shop/", "labels/shippinglabel/x/adopt/"):
        assert f"/admin/{path}" in found
    assert not [path for path in found if set(path) & set("<>()?^$")]


@pytest.mark.parametrize("is_logged_in", [True, False])
def test_a_nul_is_refused_at_every_address_and_wherever_it_stands(is_logged_in: bool) -> None:
    browser = logged_in(is_superuser=True) if is_logged_in else client()
    in_a_path = [path for path in admin_paths("%00") if "%00" in path]
    assert len(in_a_path) > 20
    for path in in_a_path:
        assert browser.get(path).status_code == 400, path
        assert browser.post(path).status_code == 400, path
    for path in admin_paths():
        assert browser.get(f"{path}?q=%00").status_code == 400, path
        assert browser.get(f"{path}?q=a&q=b%00c").status_code == 400, path
        assert browser.get(f"{path}?%00=1").status_code == 400, path
        assert browser.post(path, {"name": "a\0b"}).status_code == 400, path
        assert browser.post(path, {"a\0b": "c"}).status_code == 400, path
        assert browser.post(path, "name=%00", "application/x-www-form-urlencoded").status_code == 400, path


def test_a_nul_in_a_cookie_is_refused(root: Client) -> None:
    root.cookies.load(r'sessionid="\000\000\000\000\000\000\000\000"')
    assert root.get("/admin/").status_code == 400


def test_no_id_fails_a_page(root: Client) -> None:
    for value in ("x", "9" * 30, "_00", "_", "..", "a%2Fb", "%FF", "x" * 3000):
        for path in admin_paths(value):
            assert root.get(path).status_code < 500, path
            assert root.post(path).status_code < 500, path


def parameters(model_admin: admin.ModelAdmin[models.Model]) -> set[str]:
    """What a list's address may hold: the admin's own, the filters', and every field."""
    fields = {field.name for field in model_admin.model._meta.get_fields()}
    own = {"q", "p", "o", "all", "e", "_popup", "_to_field", "_facets", "carrier", "status", "state", "decision"}
    ours = {"created_from", "created_to", "shop__id__exact", "groups__id__exact", "is_active__exact", "unknown"}
    return fields | {f"{field}__in" for field in fields} | own | ours


@pytest.mark.parametrize("model_admin", admin.site._registry.values(), ids=str)
def test_no_parameter_fails_a_list(root: Client, model_admin: admin.ModelAdmin[models.Model]) -> None:
    options = model_admin.model._meta
    path = f"/admin/{options.app_label}/{options.model_name}/"
    for name in sorted(parameters(model_admin)):
        for value in ODD_VALUES:
            assert root.get(path, {name: value}).status_code < 500, (name, value)


@pytest.mark.parametrize("model_admin", admin.site._registry.values(), ids=str)
def test_a_list_is_narrowed_by_what_it_offers_and_by_nothing_else(
    root: Client, model_admin: admin.ModelAdmin[models.Model]
) -> None:
    options = model_admin.model._meta
    for field in options.get_fields():
        query = {f"{field.name}__startswith": "a"}
        assert root.get(f"/admin/{options.app_label}/{options.model_name}/", query).status_code == 400, query


def test_no_parameter_fails_the_choice_of_a_shop(root: Client) -> None:
    asked = {"app_label": "shops", "model_name": "accesstoken", "field_name": "shop", "term": "a"}
    for name in (*asked, "page", "unknown"):
        for value in ODD_VALUES:
            assert root.get("/admin/autocomplete/", asked | {name: value}).status_code < 500, (name, value)
