"""The admin as a whole: whatever is sent to any of its addresses, and where its pages lead."""

import html
import re
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote as quoted
from django.contrib.auth.models import Group, Permission, User
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext

from labels.models import ShippingLabel
from parcels.models import Parcel
from shops.admin.shops import ShopAdmin
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.base import LargeTableAdmin
from tests.labels.factories import ContractFactory, LabelFactory
from tests.support.api import Response, client, logged_in
from tests.support.desk import FRENCH, act, give
from tests.support.factories import AccessTokenFactory, ShopFactory, import_parcel
from tests.support.paths import patterns

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
EVERY_LISTS = {"q", "p", "o", "all", "e", "_popup", "_to_field", "_facets", "unknown"}  # the same code reads them
ODD_VALUES = ["", "-1", "9" * 30, "\u202e'\"><%"]
each_list = pytest.mark.parametrize("model_admin", admin.site._registry.values(), ids=str)
quickly = pytest.mark.usefixtures("no_sidebar", "refusals_read_once")


def filled(route: str, value: str) -> str:
    """Fill the open parts of a route in; a regular expression's is the first of its alternatives, or anything."""
    filled_in = re.sub(r"\(\?P<\w+>(\w*)[^)]*\)|[$^]", lambda part: part[1] or value if part[0][1:] else "", route)
    return re.sub(r"<(\w+:)?\w+>", lambda part: "9" * 30 if part[1] == "int:" else value, filled_in)


def admin_paths(value: str = "x") -> list[str]:
    """An address of each route, with a value for everything that a route leaves open."""
    return sorted({filled(route, value) for route, _ in patterns(admin.site.urls[0], "/admin/")})


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
        if not is_logged_in and path != "/admin/login/":
            continue  # a stranger's form is not read
        assert browser.post(path, {"name": "a\0b"}).status_code == 400, path
        assert browser.post(path, {"a\0b": "c"}).status_code == 400, path
        assert browser.post(path, "name=%00", "application/x-www-form-urlencoded").status_code == 400, path


def test_a_nul_in_a_cookie_is_refused(root: Client) -> None:
    cookie = r'sessionid="\000\000\000\000\000\000\000\000"'
    # As a header: newer Pythons refuse to put it into a jar, but read it in a request, as Django does.
    assert root.get("/admin/", headers={"cookie": cookie}).status_code == 400


@pytest.mark.parametrize(("field", "status"), [("", 200), ("id", 200), ("name", 400), ("é\x85", 400)])
def test_a_page_is_found_by_the_key_and_by_no_other_field(root: Client, field: str, status: int) -> None:
    group = Group.objects.get(name="Support")
    answer = root.get(f"/admin/auth/group/{group.pk}/change/", {"_to_field": field})
    assert answer.status_code == status


@quickly
def test_no_id_fails_a_page(root: Client) -> None:
    whole = set(admin_paths("x")) & set(admin_paths("y"))  # those without an open part
    for value in ("x", "9" * 30, "_00", "_", "..", "a%2Fb", "%FF", "x" * 3000):
        for path in sorted({*admin_paths(value)} - whole) + (sorted(whole) if value == "x" else []):
            assert root.get(path).status_code < 500, path
            assert root.post(path).status_code < 500, path


def parameters(model_admin: admin.ModelAdmin[models.Model]) -> set[str]:
    """The query parameters of a list: the admin's own, the filters', and every field."""
    fields = {field.name for field in model_admin.model._meta.get_fields()}
    ours = {"carrier", "status", "state", "decision", "created_from", "created_to"}
    exact = {"shop__id__exact", "groups__id__exact", "is_active__exact"}
    return fields | {f"{field}__in" for field in fields} | EVERY_LISTS | ours | exact


@quickly
@each_list
def test_no_parameter_fails_a_list(root: Client, model_admin: admin.ModelAdmin[models.Model]) -> None:
    options = model_admin.model._meta
    path = f"/admin/{options.app_label}/{options.model_name}/"
    place = list(admin.site._registry.values()).index(model_admin)
    for rank, name in enumerate(sorted(parameters(model_admin)), place):  # another value in each list
        first = ODD_VALUES[rank % len(ODD_VALUES)]
        is_refused = (status := root.get(path, {name: first}).status_code) == 400
        assert status < 500, (name, first)
        for value in () if is_refused or name in EVERY_LISTS else {*ODD_VALUES} - {first}:
            assert root.get(path, {name: value}).status_code < 500, (name, value)


@quickly
@each_list
def test_a_list_is_narrowed_and_sorted_by_what_it_offers_and_by_nothing_else(
    root: Client, model_admin: admin.ModelAdmin[models.Model]
) -> None:
    options = model_admin.model._meta
    path = f"/admin/{options.app_label}/{options.model_name}/"
    for field in options.get_fields():
        query = {f"{field.name}__startswith": "a"}
        assert root.get(path, query).status_code == 400, query
    if model_admin.sortable_by is not None:
        listed = root.get(path).context["cl"]
        for place, column in enumerate(listed.list_display):
            order = root.get(path, {"o": place}).context["cl"].queryset.query.order_by
            offered = {("-pk",), listed.queryset.query.order_by}
            assert order in offered or column in model_admin.sortable_by, column


def test_a_file_is_not_narrowed_by_what_its_list_does_not_offer(root: Client) -> None:
    answer = root.get("/admin/parcels/parcel/export.csv", {"unknown": "1"})
    assert answer.status_code == 400
    assert "This list has no such filter." in answer.text


def test_no_day_fails_a_list(root: Client) -> None:
    numbers = {"numbers": "XU952350871FR", "column": "weight"}
    for day in ("0001-01-01", "9999-12-31"):
        for path in ("/admin/parcels/parcel/", "/admin/labels/shippinglabel/", "/admin/shops/auditentry/"):
            for name in ("created_from", "created_to"):
                assert root.get(path, {name: day}).status_code == 200, path
        assert root.post("/admin/list/", numbers | {"first": day, "last": day}).status_code == 200
        token = {"shop": ShopFactory().id, "expires_at_0": day, "expires_at_1": "23:59"}
        assert root.post("/admin/shops/accesstoken/add/", token).status_code == 200
        assert root.get("/admin/shops/accesstoken/").status_code == 200


def test_no_parameter_fails_the_choice_of_a_shop(root: Client) -> None:
    asked = {"app_label": "shops", "model_name": "accesstoken", "field_name": "shop", "term": "a"}
    for name in (*asked, "page", "unknown"):
        for value in ODD_VALUES:
            assert root.get("/admin/autocomplete/", asked | {name: value}).status_code < 500, (name, value)


# --- Where pages lead ---

VIEWS = {f"view_{name}" for name in ("shop", "accesstoken", "parcel", "shippinglabel", "carriercontract")}


@pytest.fixture
def shop() -> Shop:
    """A shop with one of everything, whose pages have links to the others."""
    shop = ShopFactory(id="lumiere", name="Maison Lumière")
    token = AccessTokenFactory(shop=shop)
    import_parcel(shop, orderId="5400000001")
    ContractFactory(shop=shop, carrier_code="alpha")
    LabelFactory(shop=shop, state="failed", token_id=token.id)
    return shop


def places() -> list[str]:
    """The page of each row that there is."""
    rows = [Shop.objects.get(), *Shop.objects.get().tokens.all(), Parcel.objects.get()]
    rows += [ShippingLabel.objects.get(), CarrierContract.objects.get()]
    return [f"/admin/{row._meta.app_label}/{row._meta.model_name}/{quoted(row.pk)}/change/" for row in rows]


def links(browser: Client, path: str) -> set[str]:
    return links_of(browser.get(path))


def links_of(page: Response) -> set[str]:
    found = re.findall(r'href="(/admin/[^"#]*)"', page.text)
    return {html.unescape(link) for link in found}


def kind_of(link: str, *, by_parameter: bool) -> str:
    """The link without its parameters or their values: a list that is narrowed or sorted is the same page."""
    path, _, query = link.partition("?")
    return "?".join([path, *(sorted(parse_qs(query)) if by_parameter else [])])


# A token's and a contract's page have Django's own link to the shop: all who see those see shops.
@pytest.mark.parametrize(
    "permissions",
    [
        VIEWS,
        *(VIEWS - {view} for view in sorted(VIEWS - {"view_shop"})),
        {"view_shop"},
        {"view_parcel", "view_shippinglabel"},
        {"view_parcel"},
        {"view_shippinglabel"},
        {"change_shippinglabel"},
        {"view_shop", "change_shop"},
        {"view_shop", "view_accesstoken", "add_accesstoken", "change_accesstoken"},
        {"view_user", "change_user"},
        set(),
    ],
    ids=lambda permissions: ",".join(sorted(permissions)) or "none",
)
def test_no_link_leads_where_its_reader_may_not_go(shop: Shop, permissions: set[str]) -> None:
    browser = logged_in(*permissions)
    met = {"/admin/", "/admin/logout/"}
    pages = {place: page for place in ["/admin/", *places()] if (page := browser.get(place)).status_code == 200}
    while pages:
        path, page = pages.popitem()
        for link in sorted(links_of(page)):
            kind = kind_of(link, by_parameter=permissions == VIEWS)  # whoever reads a list narrows it as well
            if kind not in met:
                met.add(kind)
                pages[link] = browser.get(link)
                assert pages[link].status_code == 200, f"{path} -> {link}"


def test_a_shops_pages_lead_to_all_it_has(root: Client, shop: Shop) -> None:
    for path in ("/admin/shops/shop/", f"/admin/shops/shop/{shop.id}/change/"):
        for page in ("parcels/parcel", "labels/shippinglabel", "shops/carriercontract", "shops/accesstoken"):
            assert f"/admin/{page}/?shop__id__exact={shop.id}" in links(root, path)
        assert f"/admin/shops/accesstoken/add/?shop={shop.id}" in links(root, path)


def test_a_parcel_leads_to_the_labels_of_its_order(root: Client, shop: Shop) -> None:
    (link,) = [link for link in links(root, places()[2]) if "shippinglabel/?q=" in link]
    assert [label.order_id for label in root.get(link).context["cl"].result_list] == ["5400000001"]


# --- What every page shares ---


def test_staff_are_refused_in_the_look_of_the_other_pages(shop: Shop) -> None:
    viewer = logged_in("view_shop")
    refused, missing = viewer.get("/admin/shops/shop/add/"), viewer.get("/admin/nope/")
    wrong = viewer.get("/admin/shops/shop/", {"sender_address__city": "x"})
    assert (refused.status_code, missing.status_code, wrong.status_code) == (403, 404, 400)
    assert "This list has no such filter." in wrong.text
    assert "Your account lacks the permission" in refused.text
    assert "There is nothing here" in missing.text
    for answer in (refused, missing, wrong):
        assert "/static/unfold/css/styles.css" in answer.text
        assert 'href="/admin/shops/shop/"' in answer.text


def test_a_form_that_stayed_open_over_a_log_in_is_refused_in_words() -> None:
    staff, stranger = (Client(enforce_csrf_checks=True, raise_request_exception=False) for _ in range(2))
    staff.cookies = logged_in(is_superuser=True).cookies
    for browser, address in ((staff, "/admin/list/"), (stranger, "/admin/account/login/")):
        answer = browser.post(address, {"csrfmiddlewaretoken": "c" * 32})
        assert answer.status_code == 403
        page = answer.content.decode()
        assert "The page is out of date" in page
        assert "Back to the log-in" in page
        assert "CSRF" not in page


def test_a_failure_is_a_page_in_the_readers_language_with_its_id_and_a_way_on(monkeypatch: pytest.MonkeyPatch) -> None:
    staff = logged_in("view_shop")
    staff.raise_request_exception = False
    monkeypatch.setattr(ShopAdmin, "get_queryset", property())
    answer = staff.get("/admin/shops/shop/", headers=FRENCH)
    assert answer.status_code == 500
    page = answer.content.decode()
    for part in ("Une erreur est survenue", answer.headers["X-Request-Id"], 'href="/admin/"', "Retour à l"):
        assert part in page, part


def test_others_get_a_bare_page(root: Client) -> None:
    for browser, path in ((client(), "/nope"), (root, "/nope"), (logged_in(name="bob"), "/docs/nope")):
        answer = browser.get(path)
        assert answer.status_code == 404
        assert "unfold" not in answer.text
    assert client().get("/admin/nope/").status_code == 302  # to the log-in, as for any page of the admin


def test_an_empty_list_says_so_and_offers_to_add_only_to_those_who_may() -> None:
    may_add = logged_in("view_shop", "add_shop", name="ada")
    viewer = logged_in("view_shop", "view_parcel", name="bob")
    assert "There are no shops yet." in may_add.get("/admin/shops/shop/").text
    assert "Add shop" in may_add.get("/admin/shops/shop/").text
    for path, text in (
        ("shops/shop/", "There are no shops yet."),
        ("parcels/parcel/", "There are no parcels yet."),
        ("parcels/parcel/?q=x", "No parcel matches."),
        ("parcels/parcel/?carrier=alpha", "No parcel matches."),
    ):
        page = viewer.get(f"/admin/{path}").text
        assert text in page
        assert ("Show all" in page) is ("?" in path)
        assert not re.search(r"Create a new item|Add (shop|parcel)", page)


LARGE = [own for own in admin.site._registry.values() if isinstance(own, LargeTableAdmin)]


@pytest.mark.parametrize("model_admin", LARGE, ids=str)
def test_in_a_large_list_what_is_not_there_is_looked_for_once(root: Client, model_admin: Any) -> None:
    options = model_admin.model._meta
    table = options.db_table
    with CaptureQueriesContext(connection) as captured:
        root.get(f"/admin/{options.app_label}/{options.model_name}/", {"q": "nothing-like-it"})
    looked = [each["sql"] for each in captured if "nothing-like-it" in each["sql"] and f'FROM "{table}"' in each["sql"]]
    assert len(looked) == 1


def test_a_pages_title_is_the_rows_name_as_it_is_written(root: Client) -> None:
    token = AccessTokenFactory(name="checkout")
    page = root.get(f"/admin/shops/accesstoken/{quoted(token.id)}/change/").text
    assert re.search(rf">\s*{token.id} checkout\s*</a>", page)
    assert re.search(r">\s*Access tokens\s*</a>", page)


def test_a_colleague_who_is_deleted_is_on_record(root: Client) -> None:
    bob, carol = (User.objects.create_user(name, is_staff=True) for name in ("bob", "carol"))
    root.post(f"/admin/auth/user/{bob.pk}/delete/", {"post": "yes"})
    act(root, "delete_selected", carol, post="yes")
    removed = AuditEntry.objects.filter(action=Action.REMOVED, object_type="auth.user").order_by("id")
    assert [entry.details["name"] for entry in removed] == ["bob", "carol"]
    assert not User.objects.filter(username__in=["bob", "carol"]).exists()


def test_who_may_change_users_becomes_no_superuser_and_resets_none(root: Client) -> None:
    boss = User.objects.get(is_superuser=True)
    clerk = logged_in("change_user", "add_user", "view_group", "change_group", "delete_group", name="clerk")
    own = User.objects.get(is_superuser=False)
    group = Group.objects.create(name="all")
    assert boss.username not in clerk.get("/admin/auth/user/").content.decode().replace(own.username, "")
    for path in (f"{boss.pk}/change/", f"{boss.pk}/password/", f"{boss.pk}/delete/"):
        assert clerk.get(f"/admin/auth/user/{path}").status_code in {302, 403, 404}
    before = set(own.user_permissions.all())
    permission = Permission.objects.get(codename="view_parcel")
    assert give(clerk, own, "Support", user_permissions=str(permission.pk)).status_code == 302
    own.refresh_from_db()
    assert (own.is_superuser, set(own.groups.all()), set(own.user_permissions.all())) == (False, set(), before)
    assert clerk.get("/admin/auth/group/add/").status_code == 403
    assert clerk.post(f"/admin/auth/group/{group.pk}/delete/", {"post": "yes"}).status_code == 403
    assert root.get(f"/admin/auth/user/{boss.pk}/change/").status_code == 200
