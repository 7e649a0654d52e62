"""The roles of staff: what each may open, what of customers it shows them, and who gives roles."""

import csv
import io
import re
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.utils import timezone
from django.utils.html import escape

from config.roles import ROLES, in_words, make_groups, offered
from labels.figures.counting import recount
from parcels.models import UnlistedEventCode
from shops.staff.audit.models import AuditEntry
from shops.staff.audit.recording import customer_digests
from tests.labels.factories import LabelFactory
from tests.support import pseudo
from tests.support.api import Response
from tests.support.canaries import canary, found_in
from tests.support.desk import FRENCH, give, member, person, routes, rows
from tests.support.markup import parsed

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

# The status of a GET of each route for staff without a role, in each role, and for superusers.
with Path(__file__).with_name("admin_routes.csv").open(encoding="utf-8") as file:
    (_, *WHO), *ROWS = csv.reader(file)
MATRIX = {who: {name: int(statuses[place]) for name, *statuses in ROWS} for place, who in enumerate(WHO)}
SEE_PERSONAL_DATA = ("Support", "root")
SUPERUSERS = "auth_group_delete"  # Django's own page of what a group's removal takes along: it has no French
# Pages beside those of the routes, which are read in French too.
FURTHER = (
    *("/admin/customer/", "/admin/list/", "/admin/account/login/", "/admin/account/factors/"),
    *("/admin/nothing/", "/admin/search/?q=nobody"),
)
USERS = "/admin/auth/user/"
# In a French page none of these is a word.
PYTHON = re.compile(r"\b(None|True|False|Decimal|datetime|OrderedDict|UUID)\b|<\w+[ :]|[{\[]'")


def assert_page_has_one_search_box_and_shows_no_python(text: str, address: str) -> None:
    page = parsed(text)
    texts = page.xpath("//text()[not(ancestor::script or ancestor::style or ancestor::code)]")
    assert [text.strip() for text in texts if PYTHON.search(text)] == [], address
    assert len(page.xpath("//form[@role='search']")) <= 1, address


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
        if who == "root" and answer.headers.get("Content-Type", "").startswith("text/html"):
            assert_page_has_one_search_box_and_shows_no_python(answer.getvalue().decode(), address)
        if found_in(unpacked(answer.getvalue()) + str(answer.headers).encode()):
            shown.add(name)
        if name != SUPERUSERS and answer.headers.get("Content-Type", "").startswith("text/html"):
            pages[address] = answer.getvalue().decode()
    assert {name: status for name, status in seen.items() if name not in FURTHER} == MATRIX[who]
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
        assert (answer.status_code, answer.json()["results"]) == (200, [])


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
        assert choices(root.get(path), field) == set(map(in_words, offered()))
    assert offered().count() < Permission.objects.count() / 2
    assert not offered().exclude(content_type__app_label__in=["auth", "shops", "parcels", "labels"]).exists()


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
