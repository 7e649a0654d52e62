"""The staff's pages in a browser: axe finds no fault, nothing scrolls sideways, no list is endless on a phone."""

from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User

from labels.figures.counting import recount
from shops.models import Shop
from shops.staff.audit.models import Action, AuditEntry, Channel
from shops.staff.audit.recording import Actor, acting, record
from shops.staff.pages import page_of
from shops.webhooks import endpoints, signing
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.labels.admin.pages import LABELS, TO_DECIDE
from tests.labels.factories import ContractFactory, LabelFactory
from tests.support.api import logged_in
from tests.support.browser import needs_browser, shown
from tests.support.factories import ShopFactory, import_parcel

PARCELS = "/admin/parcels/parcel/"
SEARCHES = ["/admin/search/?q=5400", "/admin/search/?q=nobody"]
LISTS = ["shops/accesstoken/", "shops/carriercontract/", "shops/auditentry/", "labels/depositslip/", "auth/user/"]
FORMS = ["shops/shop/add/", "shops/accesstoken/add/", "shops/carriercontract/add/", "shops/webhookendpoint/add/"]
FACTORS = ["account/factors/", "account/factors/app/add/", "account/factors/passkeys/"]
OTHERS = ["", "labels/labelfigure/", "shops/shop/", *LISTS, *FORMS, *FACTORS]
PAGES = [LABELS, PARCELS, TO_DECIDE, *SEARCHES, *(f"/admin/{path}" for path in OTHERS)]
PHONE, LAPTOP, DESK = 390, 1280, 1440
SCROLLING = 'return [...page.querySelectorAll(".figures-scroll")].map((each) => each.scrollWidth > each.clientWidth);'
HIDDEN_IN_PRINT = """
const rules = [...page.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
const prints = rules.filter((rule) => rule.media?.mediaText === "print").flatMap((media) => [...media.cssRules]);
const hiding = prints.filter((rule) => rule.style.display === "none");
const parts = ["header", ".parcel-head", ".parcel-actions", ".parcel section form"];
return parts.filter((part) => hiding.some((rule) => page.querySelector(part).matches(rule.selectorText)));
"""
# Frames come seldom in a browser's virtual time: of a hidden page Alpine shows what it opens with a timer.
KEYS = """
Object.defineProperty(page, "visibilityState", { value: "hidden" });
const open = async (text, shown) => {
  const each = [...page.querySelectorAll("[role=button]")].find((one) => one.textContent.includes(text));
  each.focus();
  each.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Enter", cancelable: true }));
  await until(() => page.querySelector(shown).checkVisibility());
};
await open("unfold_more", "#logout-form");
const theme = [...page.querySelectorAll("nav a")].find((each) => each.textContent.includes("computer"));
const fits = theme.getBoundingClientRect().right <= theme.parentElement.getBoundingClientRect().right;
await open("filter_list", "#changelist-filter");
const names = [...page.querySelectorAll("[aria-label]")].map((each) => each.ariaLabel);
return fits && names.includes("Colis | Parcel service") && !names.includes("scrollable content")
  && Boolean(await until(() => page.activeElement.closest("#changelist-filter")));
"""
OVERFLOW = """
const list = page.querySelector("#result_list");
return list.offsetWidth > list.closest("form").clientWidth;
"""
SCREEN = 844
ROWS = 50

pytestmark = [pytest.mark.any_database, pytest.mark.django_db(transaction=True)]


def made() -> list[str]:
    """Make rows of each kind; return the pages of a shop, a label, a parcel and a contract."""
    shop = ShopFactory(name="Maison Lumière")
    contract = ContractFactory(shop=shop, carrier_code="alpha")
    refusal = {"error_code": "ALPHA_ADDRESS_REJECTED", "error_message": "No such postal code in this country."}
    failed = {"state": "failed", "carrier_code": "alpha"} | refusal
    for number in range(ROWS):
        parcel = import_parcel(shop, orderId=f"5400{number:02}")
        LabelFactory(shop=shop, order_id=f"5400{number:02}", **({} if number % 5 else failed))
    LabelFactory(shop=shop, state="unknown", carrier_code="alpha", id="0" * 15)
    LabelFactory(shop=shop, state="incomplete", id="1" * 15, staff_notice="The customs form did not come.")
    rows = (f"/admin/shops/shop/{shop.pk}", f"{LABELS}{'0' * 15}", f"{PARCELS}{parcel['id']}")
    return [*(f"{row}/change/" for row in rows), page_of(contract)]


@needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (DESK, "dark")])
def test_a_browser_finds_no_fault_in_any_page(tmp_path: Path, width: int, scheme: str) -> None:
    checks = [(path, width, scheme) for path in [*PAGES, *made()]]
    staff = logged_in(is_superuser=True)
    passkey = {"user": User.objects.get(), "type": Authenticator.Type.WEBAUTHN}
    Authenticator.objects.create(**passkey, data={"name": "x" * 100, "credential": {}})
    results = shown(checks, tmp_path, staff)
    assert [result for result in results if result.get("failed") or result["found"]] == []
    assert [result for result in results if result["scrollWidth"] > result["width"]] == []
    heights = {result["path"]: result["scrollHeight"] for result in results}
    assert width == DESK or max(heights[LABELS], heights[PARCELS]) <= 12 * SCREEN, heights


@needs_browser
def test_filters_and_the_accounts_menu_open_by_the_keyboard(tmp_path: Path) -> None:
    made()
    (result,) = shown([(PARCELS, DESK, "light", KEYS)], tmp_path, logged_in(is_superuser=True), "fr")
    assert result["told"] is True  # the first of the filters has the focus, the menu's words fit, the list is named
    assert "aria-input-field-name" not in [fault for fault, *_ in result["found"]]


@needs_browser
def test_the_figures_for_finance_fit_a_laptop_in_french(tmp_path: Path) -> None:
    shop = ShopFactory(name="Maison Lumière de Provence")
    for number, product_code in enumerate(["beta_point_retrait_france", "alpha_domicile_sans_signature"]):
        LabelFactory(shop=shop, product_code=product_code, weights_kg=[1234.567], order_id=f"{number}")
    recount()
    check = ("/admin/labels/labelfigure/", LAPTOP, "light", SCROLLING)
    (result,) = shown([check], tmp_path, logged_in(is_superuser=True), "fr")
    assert result["told"] == [False, False]  # labels bought; handed in and delivered


@needs_browser
@pytest.mark.parametrize("language", ["fr", "en-gb"])
def test_the_lists_of_parcels_and_labels_fit_a_laptop(tmp_path: Path, language: str) -> None:
    shop, message = ShopFactory(name="Atelier Nord"), "destinationAddress.provinceCode: is required for US."
    parcel = {"lastStatus": "OUT_FOR_DELIVERY", "trackingNumbers": ["XU957710695FR", "XU957710700FR"]}
    import_parcel(shop, trackingId="XU957710695FR", orderNumber="#1001", carrierDisplayName="Alpha Express", **parcel)
    refusal = {"state": "failed", "error_code": "BETA_REQUEST_REJECTED", "error_message": message}
    LabelFactory(shop=shop, product_code="beta_domicile_sans_signature_outre_mer", **refusal)
    checks = [(path, LAPTOP, "light", OVERFLOW) for path in (PARCELS, LABELS)]
    results = shown(checks, tmp_path, logged_in(is_superuser=True), language)
    assert [result["told"] for result in results] == [False, False]


@needs_browser
def test_long_ids_and_names_leave_the_other_columns_and_a_phone_their_place(tmp_path: Path) -> None:
    shop = ShopFactory()
    deliver_about("x" * 255, shop)
    User.objects.create_user("x" * 150)
    staff = logged_in(is_superuser=True)
    with acting(Actor("x" * 150, Channel.COMMAND)):
        entry = record(Action.VIEWED, shop, customer_email="zoe@example.com")
    AuditEntry.objects.update(object_id="x" * 255)
    lists = ("shops/auditentry/", "shops/webhookdelivery/", "auth/user/")
    checks: list[Any] = [(f"/admin/{path}", LAPTOP, "light", OVERFLOW) for path in lists]
    checks.append((f"/admin/shops/auditentry/{entry.pk}/change/", PHONE, "light"))
    *of_lists, of_entry = shown(checks, tmp_path, staff)
    assert {result["path"]: result["told"] for result in of_lists} == {f"/admin/{path}": False for path in lists}
    assert of_entry["scrollWidth"] <= PHONE


def deliver_about(subject: str, shop: Shop) -> None:
    endpoint = WebhookEndpoint(shop=shop, url="https://shop.example/hook")
    endpoint.set_secret(signing.new_secret())
    endpoint.save()
    endpoints.send_test(endpoint)
    WebhookDelivery.objects.update(subject=subject)


@needs_browser
def test_a_parcel_is_printed_with_its_number_and_status_and_without_buttons(tmp_path: Path) -> None:
    parcel = import_parcel(ShopFactory(), customerEmail="zoe@example.com")
    check = (f"{PARCELS}{parcel['id']}/change/", DESK, "light", HIDDEN_IN_PRINT)
    (result,) = shown([check], tmp_path, logged_in(is_superuser=True))
    assert result["told"] == ["header", ".parcel-actions", ".parcel section form"]
