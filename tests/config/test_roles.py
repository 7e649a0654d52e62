"""The roles of staff: what each may open, what of customers it shows them, and who gives roles."""

import io
import zipfile

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from config.roles import ROLES, make_groups, offered
from labels.figures.counting import recount
from parcels.models import UnlistedEventCode
from shops.staff.audit.models import AuditEntry
from shops.staff.audit.recording import customer_digests
from tests.labels.factories import LabelFactory
from tests.support import pseudo
from tests.support.api import Response
from tests.support.canaries import canary, found_in
from tests.support.desk import FRENCH, member, person, routes, rows

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

# The status of a GET of each route for staff without a role, in each role, and for superusers.
WHO = ("none", "Support", "Operations", "Reporting", "Accounting", "Accounts", "root")
MATRIX = """
app_list                              404  200  200  200  404  200  200
auth_group_add                        403  403  403  403  403  403  200
auth_group_change                     403  403  403  403  403  200  200
auth_group_changelist                 403  403  403  403  403  200  200
auth_group_csv                        403  403  403  403  403  200  200
auth_group_delete                     403  403  403  403  403  403  200
auth_group_history                    403  403  403  403  403  200  200
auth_group_xlsx                       403  403  403  403  403  200  200
auth_user_add                         403  403  403  403  403  200  200
auth_user_change                      403  403  403  403  403  200  200
auth_user_changelist                  403  403  403  403  403  200  200
auth_user_csv                         403  403  403  403  403  200  200
auth_user_delete                      403  403  403  403  403  403  200
auth_user_history                     403  403  403  403  403  200  200
auth_user_password_change             403  403  403  403  403  403  403
auth_user_xlsx                        403  403  403  403  403  200  200
autocomplete                          403  200  200  200  403  403  200
index                                 200  200  200  200  200  200  200
jsi18n                                200  200  200  200  200  200  200
labels_depositslip_add                403  403  403  403  403  403  403
labels_depositslip_change             403  200  200  403  403  403  200
labels_depositslip_changelist         403  200  200  403  403  403  200
labels_depositslip_csv                403  200  200  403  403  403  200
labels_depositslip_delete             403  403  403  403  403  403  403
labels_depositslip_history            403  200  200  403  403  403  200
labels_depositslip_pdf                403  200  403  403  403  403  200
labels_depositslip_xlsx               403  200  200  403  403  403  200
labels_labelfigure_changelist         403  403  403  200  200  403  200
labels_labelfigure_csv                403  403  403  200  200  403  200
labels_labelfigure_xlsx               403  403  403  200  200  403  200
labels_shippinglabel_add              403  403  403  403  403  403  403
labels_shippinglabel_adopt            403  200  200  403  403  403  200
labels_shippinglabel_ask              403  302  302  403  403  403  302
labels_shippinglabel_cancel           403  200  200  403  403  403  200
labels_shippinglabel_cancelled        403  302  302  403  403  403  302
labels_shippinglabel_change           403  200  200  200  403  403  200
labels_shippinglabel_changelist       403  200  200  200  403  403  200
labels_shippinglabel_csv              403  200  200  200  403  403  200
labels_shippinglabel_delete           403  403  403  403  403  403  403
labels_shippinglabel_history          403  200  200  200  403  403  200
labels_shippinglabel_not_made         403  200  200  403  403  403  200
labels_shippinglabel_notice           403  302  302  403  403  403  302
labels_shippinglabel_pdf              403  302  403  403  403  403  302
labels_shippinglabel_xlsx             403  200  200  200  403  403  200
labels_shippinglabel_to_decide        403  200  200  200  403  403  200
login                                 302  302  302  302  302  302  302
logout                                405  405  405  405  405  405  405
parcels_parcel_add                    403  403  403  403  403  403  403
parcels_parcel_ask                    403  302  302  403  403  403  302
parcels_parcel_change                 403  200  200  200  403  403  200
parcels_parcel_changelist             403  200  200  200  403  403  200
parcels_parcel_claim                  403  200  403  403  403  403  200
parcels_parcel_csv                    403  200  200  200  403  403  200
parcels_parcel_delete                 403  403  403  403  403  403  403
parcels_parcel_history                403  200  200  200  403  403  200
parcels_parcel_let-go                 403  302  302  403  403  403  302
parcels_parcel_proof                  403  302  403  403  403  403  302
parcels_parcel_take                   403  302  302  403  403  403  302
parcels_parcel_xlsx                   403  200  200  200  403  403  200
parcels_unlistedeventcode_add         403  403  403  403  403  403  403
parcels_unlistedeventcode_change      403  200  200  200  403  403  200
parcels_unlistedeventcode_changelist  403  200  200  200  403  403  200
parcels_unlistedeventcode_csv         403  200  200  200  403  403  200
parcels_unlistedeventcode_delete      403  403  403  403  403  403  403
parcels_unlistedeventcode_history     403  200  200  200  403  403  200
parcels_unlistedeventcode_xlsx        403  200  200  200  403  403  200
password_change                       200  200  200  200  200  200  200
password_change_done                  200  200  200  200  200  200  200
search                                403  200  200  200  403  403  200
shops_accesstoken_add                 403  403  200  403  403  403  200
shops_accesstoken_change              403  200  200  403  403  403  200
shops_accesstoken_changelist          403  200  200  403  403  403  200
shops_accesstoken_csv                 403  200  200  403  403  403  200
shops_accesstoken_delete              403  403  403  403  403  403  403
shops_accesstoken_history             403  200  200  403  403  403  200
shops_accesstoken_xlsx                403  200  200  403  403  403  200
shops_auditentry_add                  403  403  403  403  403  403  403
shops_auditentry_change               403  403  403  403  403  200  200
shops_auditentry_changelist           403  403  403  403  403  200  200
shops_auditentry_csv                  403  403  403  403  403  200  200
shops_auditentry_delete               403  403  403  403  403  403  403
shops_auditentry_history              403  403  403  403  403  200  200
shops_auditentry_xlsx                 403  403  403  403  403  200  200
shops_carriercontract_add             403  403  200  403  403  403  200
shops_carriercontract_change          403  200  200  403  403  403  200
shops_carriercontract_changelist      403  200  200  403  403  403  200
shops_carriercontract_csv             403  200  200  403  403  403  200
shops_carriercontract_delete          403  403  403  403  403  403  403
shops_carriercontract_history         403  200  200  403  403  403  200
shops_carriercontract_xlsx            403  200  200  403  403  403  200
shops_shop_add                        403  403  200  403  403  403  200
shops_shop_change                     403  200  200  200  403  403  200
shops_shop_changelist                 403  200  200  200  403  403  200
shops_shop_csv                        403  200  200  200  403  403  200
shops_shop_delete                     403  403  403  403  403  403  403
shops_shop_history                    403  200  200  200  403  403  200
shops_shop_xlsx                       403  200  200  200  403  403  200
shops_webhookdelivery_add             403  403  403  403  403  403  403
shops_webhookdelivery_change          403  200  200  403  403  403  200
shops_webhookdelivery_changelist      403  200  200  403  403  403  200
shops_webhookdelivery_csv             403  200  200  403  403  403  200
shops_webhookdelivery_delete          403  403  403  403  403  403  403
shops_webhookdelivery_history         403  200  200  403  403  403  200
shops_webhookdelivery_xlsx            403  200  200  403  403  403  200
shops_webhookendpoint_add             403  403  200  403  403  403  200
shops_webhookendpoint_change          403  200  200  403  403  403  200
shops_webhookendpoint_changelist      403  200  200  403  403  403  200
shops_webhookendpoint_csv             403  200  200  403  403  403  200
shops_webhookendpoint_delete          403  403  403  403  403  403  403
shops_webhookendpoint_history         403  200  200  403  403  403  200
shops_webhookendpoint_xlsx            403  200  200  403  403  403  200
view_on_site                          404  404  404  404  404  404  404
"""
SEE_PERSONAL_DATA = ("Support", "root")
SUPERUSERS = "auth_group_delete"  # Django's own page of what a group's removal takes along: it has no French
# Pages beside those of the routes, which are read in French too.
FURTHER = (
    *("/admin/customer/", "/admin/list/", "/admin/account/login/", "/admin/account/factors/"),
    *("/admin/nothing/", "/admin/search/?q=nobody"),
)
USERS = "/admin/auth/user/"


def expected() -> dict[str, list[int]]:
    lines = [line.split() for line in MATRIX.strip().splitlines()]
    return {name: [int(status) for status in statuses] for name, *statuses in lines}


def unpacked(content: bytes) -> bytes:
    """The files of a workbook; anything else as it is."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        return b"".join(map(book.read, book.namelist()))


@pytest.mark.parametrize("who", WHO)
def test_every_route_of_the_admin_has_its_status_is_in_french_and_shows_customers_to_some(
    who: str, refusals_read_once: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if who != "root":  # who sees all links of the sidebar
        request.getfixturevalue("no_sidebar")
    world, browser = rows(), member(who)
    pseudo.install(monkeypatch)
    seen: dict[str, int] = {}
    shown: set[str] = set()
    pages: dict[str, str] = {}
    for name, address in [*routes(world), *zip(FURTHER, FURTHER, strict=True)]:
        answer = browser.get(address, headers=FRENCH)
        seen[name] = answer.status_code
        if found_in(unpacked(answer.getvalue()) + str(answer.headers).encode()):
            shown.add(name)
        if name != SUPERUSERS and answer.headers.get("Content-Type", "").startswith("text/html"):
            pages[address] = answer.getvalue().decode()
    assert {name: status for name, status in seen.items() if name not in FURTHER} == {
        name: statuses[WHO.index(who)] for name, statuses in expected().items()
    }
    known = pseudo.data_words()
    found = {address: sorted(set(pseudo.untranslated(page, known))) for address, page in pages.items()}
    assert {address: texts for address, texts in found.items() if texts} == {}
    assert bool(shown) == (who in SEE_PERSONAL_DATA)
    assert who != "Support" or shown >= {"parcels_parcel_change", "parcels_parcel_xlsx", "labels_shippinglabel_xlsx"}


# --- Personal data ---


def test_no_list_is_sorted_by_what_it_masks() -> None:
    facts = {"carrier_code": "beta", "first_seen_at": timezone.now(), "last_seen_at": timezone.now()}
    for count, text in enumerate(("Jane", "Anna", "Zoe")):
        UnlistedEventCode.objects.create(code=text[0], text=text, count=count, **facts)
    for who, order in (("Support", ["A", "J", "Z"]), ("Reporting", ["Z", "A", "J"])):
        answer = member(who).get("/admin/parcels/unlistedeventcode/", {"o": "2"})
        assert [row.code for row in answer.context["cl"].result_list] == order


def test_no_choice_of_a_row_searches_for_a_customer() -> None:
    world = rows()
    parcel = world["parcels.parcel"]
    asked = {"app_label": "parcels", "model_name": "trackingnumber", "field_name": "parcel"}
    for who in ("Support", "Reporting"):
        answer = member(who).get("/admin/autocomplete/", asked | {"term": parcel.customer_email})  # type: ignore[attr-defined]  # a parcel
        assert b"P1" not in answer.content


def test_who_decides_sees_that_one_label_on_record_and_no_other() -> None:
    world = rows()
    shop = world["shops.shop"]
    waiting = LabelFactory(shop=shop, state="unknown", recipient=(to := person()), error_message=canary())
    over = LabelFactory(shop=shop, recipient=person(), error_message=canary())
    browser, place = member("Operations"), "/admin/labels/shippinglabel/"
    for path in ("change/", "adopt/", "not-made/"):
        page = browser.get(f"{place}{waiting.id}/{path}").text
        assert str(escape(to["lastName"])) in page
        entry = AuditEntry.objects.filter(action="viewed").latest("id")
        assert (entry.actor, entry.object_id) == ("operations", waiting.id)
        assert entry.customer in customer_digests(to["email"])
    assert waiting.error_message in browser.get(f"{place}{waiting.id}/change/").text
    for path in (f"{place}to-decide/", place, f"{place}{over.id}/change/", f"{place}{over.id}/cancel/"):
        assert found_in(browser.get(path).content) == [], path
    assert browser.get(f"{place}{waiting.id}/pdf/").status_code == 403
    assert found_in(member("Reporting").get(f"{place}{waiting.id}/change/").content) == []
    assert found_in(browser.post(f"{place}{waiting.id}/not-made/", follow=True).content) == []
    waiting.refresh_from_db()
    assert (waiting.state, waiting.recipient) == ("failed", to)


def test_accounting_has_the_figures_for_finance_and_nothing_else() -> None:
    label = LabelFactory()
    recount()
    browser = member("Accounting")
    assert "Figures for finance" in browser.get("/admin/").text
    page = browser.get("/admin/labels/labelfigure/").text
    assert label.product_code in page
    assert "/admin/labels/shippinglabel/" not in page
    assert "/admin/labels/shippinglabel/" in member("root").get("/admin/labels/labelfigure/").text


# --- Roles and permissions ---


def test_the_roles_are_groups() -> None:
    make_groups()
    for role, names in ROLES.items():
        held = Group.objects.get(name=role).permissions.select_related("content_type")
        assert {f"{each.content_type.app_label}.{each.codename}" for each in held} == set(names)


def choices(answer: Response, field: str) -> set[str]:
    return {str(label) for _, label in answer.context["adminform"].form.fields[field].choices}


def test_no_permission_that_leads_nowhere_is_offered() -> None:
    root, colleague = member("root"), User.objects.create_user("bob", is_staff=True)
    group = Group.objects.get(name="Support")
    for path, field in (
        (f"{USERS}{colleague.pk}/change/", "user_permissions"),
        (f"/admin/auth/group/{group.pk}/change/", "permissions"),
    ):
        assert choices(root.get(path), field) == {str(each) for each in offered()}
    assert offered().count() < Permission.objects.count() / 2
    assert not offered().exclude(content_type__app_label__in=["auth", "shops", "parcels", "labels"]).exists()


def give(browser: Client, user: User, *roles: str) -> Response:
    """Tick these roles, and no others, on a user's page."""
    groups = [Group.objects.get(name=role).pk for role in roles]
    data = {
        "username": user.username,
        "is_staff": "on",
        "is_active": "on",
        "groups": groups,
        "date_joined_0": "2026-01-01",
    }
    return browser.post(f"{USERS}{user.pk}/change/", data | {"date_joined_1": "10:00:00", "is_superuser": "on"})


def roles_of(user: User) -> set[str]:
    user.refresh_from_db()
    assert not user.is_superuser
    return set(user.groups.values_list("name", flat=True))


def test_accounts_gives_a_role_to_others_on_record_and_none_to_itself() -> None:
    clerk, bob = member("Accounts"), User.objects.create_user("bob", is_staff=True)
    own = User.objects.get(username="accounts")
    assert give(clerk, bob, "Support").status_code == 302
    assert roles_of(bob) == {"Support"}
    entry = AuditEntry.objects.filter(action="changed").get()
    assert (entry.actor, entry.object_id, entry.changes["groups"]) == ("accounts", str(bob.pk), [[], ["Support"]])
    give(clerk, own, "Accounts", "Support", "Operations")
    assert roles_of(own) == {"Accounts"}
    give(clerk, bob, "Accounts")
    assert roles_of(bob) == {"Support"}
    assert choices(clerk.get(f"{USERS}{bob.pk}/change/"), "groups") == {
        "Support",
        "Operations",
        "Reporting",
        "Accounting",
    }


def test_accounts_keeps_no_account_that_may_more_than_it_gives() -> None:
    clerk, boss, bob = member("Accounts"), User.objects.create_user("boss"), User.objects.create_user("bob")
    boss.groups.add(Group.objects.get(name="Accounts"))
    bob.user_permissions.add(Permission.objects.get(codename="delete_user"))
    for user in (boss, bob):
        assert give(clerk, user, "Support").status_code == 403
        assert clerk.post(f"{USERS}{user.pk}/password/", {"password1": "x"}).status_code == 403
        reset = {"action": "reset_second_factor", "_selected_action": [user.pk]}
        assert clerk.post(USERS, reset).status_code == 403
    Group.objects.get(name="Accounts").permissions.add(Permission.objects.get(codename="delete_user"))
    assert [clerk.get(f"{USERS}{user.pk}/delete/").status_code for user in (boss, bob)] == [403, 403]
