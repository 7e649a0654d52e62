"""The page of a label: its whole story, for those who may see it, and nothing as markup."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils.html import escape

from labels.lifecycle.states import TRANSITIONS, Event
from parcels.tracking.events import milliseconds
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.staff.pages import page_of as page_address
from tests.labels.admin.pages import CONTRACTS, LABELS, NOON, page_of
from tests.labels.factories import PDF, ContractFactory, LabelFactory
from tests.labels.orders import RECIPIENT
from tests.support.api import logged_in
from tests.support.desk import FRENCH
from tests.support.factories import AccessTokenFactory, ShopFactory, import_parcel

PERMISSIONS = ("change_shippinglabel", "view_carriercontract", "view_personal_data")
HOSTILE = """"><script>alert(1)</script><img src=x onerror='alert(2)'>{{7*7}}"""


@pytest.mark.parametrize(
    ("event", "facts", "next_step"),
    [
        (Event.SETTLED, {"state": "failed"}, "Nothing more, by itself."),
        (Event.VOIDED, {"state": "failed", "ask_again_at": NOON}, "It is looked for once more at"),
        (Event.STORED, {"surplus_numbers": ["N2"], "ask_again_at": NOON}, "What was made beyond it is cancelled at"),
        (Event.BOUGHT, {"state": "received", "pdf": PDF}, "Its PDF is merged and stored with the next run"),
    ],
)
def test_the_page_says_what_happened_last_and_what_happens_next(
    event: Event, facts: dict[str, Any], next_step: str, staff: Client
) -> None:
    page = page_of(staff, LabelFactory(last_event=event, **facts))
    last = escape(TRANSITIONS[event].says)
    assert f"<strong>Last:</strong> {last} <strong>Next:</strong> {next_step}" in page


def test_the_parcel_that_a_number_was_given_to_again_is_another_one(shop: Shop) -> None:
    """beta.md: numbers are reused after about 13 months, so a number alone is no permanent key."""
    old = LabelFactory(shop=shop, tracking_numbers=["6A1111"], days_ago=400)
    new = LabelFactory(shop=shop, tracking_numbers=["6A1111"])
    parcels = {old: "last-year", new: "this-year"}
    for label, name in parcels.items():
        import_parcel(shop, id=name, trackingId="6A1111", createdAt=milliseconds(label.created_at))
    browser = logged_in("view_shippinglabel", "view_parcel")
    for label, name in parcels.items():
        assert re.findall("this-year|last-year", page_of(browser, label)) == [name]


def test_a_day_is_no_time_of_day_in_french(staff: Client) -> None:
    label = LabelFactory(state="failed", ask_again_at=NOON)
    assert "à <time" not in staff.get(f"{LABELS}{label.pk}/change/", headers=FRENCH).text


def test_the_page_tells_the_whole_story(staff: Client, shop: Shop) -> None:
    token = AccessTokenFactory(shop=shop, name="checkout")
    contract = ContractFactory(shop=shop, carrier_code="beta")
    label = LabelFactory(
        shop=shop,
        state="incomplete",
        product_code="beta_point_retrait_france",
        token_id=token.id,
        weights_kg=["1.5", "0.25"],
        tracking_numbers=["6A1111"],
        pickup_point_code="006431",
        reference="R-77",
        idempotency_key="key-1",
        error_code="BETA_ADDRESS_REJECTED",
        error_message="The carrier refused the address.",
        error_status=400,
        created_at=NOON,
        finished_at=NOON + timedelta(minutes=1),
        decided_by="grace",
        decided_at=NOON + timedelta(minutes=2),
    )
    page = page_of(staff, label)
    for text in (
        label.id,
        "Incomplete",
        "Pickup point, France",
        "1.5 kg",
        "0.25 kg",
        "1.75 kg",
        "6A1111",
        "006431",
        "R-77",
        "key-1",
        "BETA_ADDRESS_REJECTED",
        "The carrier refused the address.",
        "answered to the shop with 400",
        "23 Sep 2026, 14:00",
        "23 Sep 2026, 14:01",
        "23 Sep 2026, 14:02",
        "by grace",
        "Søren Grünwald",
        "Zoé Lefèvre",
        "75011 Villeneuve",
        "soren@mail.example",
        "checkout",
        page_address(contract),
        "voided with the carrier",
    ):
        assert text in page
    assert ">None<" not in page


def test_a_key_that_was_released_is_not_shown_as_none_at_all(staff: Client, shop: Shop) -> None:
    assert "released" in page_of(staff, LabelFactory(shop=shop, state="failed", body_digest="ab"))
    assert "released" not in page_of(staff, LabelFactory(shop=shop, state="failed"))


def test_a_label_cannot_be_made_changed_or_deleted_even_by_a_superuser(shop: Shop) -> None:
    root = logged_in(is_superuser=True)
    label = LabelFactory(shop=shop, state="unknown")
    for path in ("add/", f"{label.pk}/change/", f"{label.pk}/delete/"):
        assert root.post(LABELS + path, {"state": "failed", "order_id": "9", "post": "yes"}).status_code == 403
    root.post(LABELS, {"action": "delete_selected", "_selected_action": label.pk, "post": "yes"})
    page = root.get(f"{LABELS}{label.pk}/change/").text
    assert 'name="_save"' not in page
    assert "/delete/" not in page
    label.refresh_from_db()
    assert (label.state, label.order_id) == ("unknown", "5400000001")


def test_no_value_of_a_label_or_a_contract_becomes_markup(staff: Client) -> None:
    shop = ShopFactory(name=HOSTILE)
    token = AccessTokenFactory(shop=shop, name=HOSTILE)
    address = dict.fromkeys(RECIPIENT, HOSTILE)
    label = LabelFactory(
        shop=shop,
        state="unknown",
        order_id=HOSTILE,
        product_code=HOSTILE[:64],
        reference=HOSTILE[:35],
        pickup_point_code=HOSTILE[:16],
        sender=address,
        recipient=address,
        weights_kg=[HOSTILE[:20]],
        tracking_numbers=[HOSTILE],
        idempotency_key=HOSTILE,
        error_code=HOSTILE[:64],
        error_message=HOSTILE,
        token_id=token.id,
        decided_by=HOSTILE,
        decided_at=NOON,
    )
    contract = ContractFactory(
        shop=shop,
        carrier_code="beta",
        account_number=HOSTILE[:64],
        commercial_name=HOSTILE[:35],
        customs_description=HOSTILE[:64],
    )
    CarrierContract.objects.update(products={HOSTILE: {"carrier_code": HOSTILE, "service": HOSTILE}})
    paths = [LABELS, f"{LABELS}?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", CONTRACTS]
    paths += [f"{LABELS}{label.id}/{view}/" for view in ("change", "adopt", "not-made", "history")]
    for page in [staff.get(path) for path in [*paths, f"{CONTRACTS}{contract.id}/change/"]]:
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert not re.search(r"&gt;49\b", page.text)
    assert "&lt;script&gt;alert(1)" in page_of(staff, label)


def test_no_page_loads_anything_from_elsewhere(staff: Client, shop: Shop) -> None:
    label, contract = LabelFactory(shop=shop, state="unknown"), ContractFactory(shop=shop, carrier_code="beta")
    paths = [LABELS, CONTRACTS, f"{CONTRACTS}{contract.id}/change/"]
    for path in paths + [f"{LABELS}{label.id}/{view}/" for view in ("change", "adopt", "not-made")]:
        page = staff.get(path).text
        sources = re.findall(r'<(?:script|img|iframe|link)\b[^>]*?(?:src|href)="([^"]*)"', page)
        assert f"/static/{path.split('/')[2]}/admin.css" in sources
        for source in sources:
            assert source == "/admin/jsi18n/" or finders.find(source.removeprefix("/static/")), source


@pytest.mark.parametrize(
    "lookup", ["idempotency_key__startswith", "pdf__isnull", "shop__contracts__encrypted_credentials"]
)
def test_the_list_cannot_be_filtered_by_a_secret(staff: Client, shop: Shop, lookup: str) -> None:
    LabelFactory(shop=shop)
    assert staff.get(LABELS, {lookup: "a"}).status_code == 400


FORM_MISSING = (
    "The customs form did not come with the label, and can't be fetched again. Get it from the carrier or fill it in"
    " by hand: without it the parcel is stopped at customs."
)


def test_a_notice_and_the_warnings_are_in_the_readers_language_and_the_carriers_own_as_it_said_them(
    staff: Client, shop: Shop
) -> None:
    left_out = "Not made: parcel 2 (1.5 kg), parcel 3 (3 kg). The label is for the other parcels."
    warnings = ["The address was cut.", FORM_MISSING, left_out]
    label = LabelFactory(shop=shop, staff_notice=FORM_MISSING, warnings=warnings)
    page = page_of(staff, label)
    assert page.count(escape(FORM_MISSING)) == 2
    assert "The address was cut." in page
    assert left_out in page
    french = staff.get(f"{LABELS}{label.id}/change/", headers=FRENCH).text
    assert "The address was cut." in french
    assert french.count("La déclaration douanière ") == 2
    assert "Non créés\u00a0: colis 2 (1,5 kg), colis 3 (3 kg). " in french
    for text in ("customs form", "Not made"):
        assert text not in french
    for path in (LABELS, f"{LABELS}to-decide/"):
        listed = staff.get(path, headers=FRENCH).text
        assert "La déclaration douanière" in listed
        assert "customs form" not in listed


@pytest.mark.parametrize("message", ["destinationAddress.zip: is none of FR.", ""])
def test_a_failure_is_explained_in_the_readers_language_beside_the_answer_as_the_shop_had_it(
    message: str, staff: Client, shop: Shop
) -> None:
    label = LabelFactory(shop=shop, state="failed", error_code="ALPHA_ADDRESS_REJECTED", error_message=message)
    path = f"{LABELS}{label.id}/change/"
    french, english = staff.get(path, headers=FRENCH).text, staff.get(path).text
    assert "alpha ne peut imprimer ou ne dessert pas" in french
    assert "An address is one that alpha can&#x27;t print" in english
    assert (message in french, message in english) == (True, True)
    masked = logged_in("view_shippinglabel", name="bob").get(path, headers=FRENCH).text
    assert masked.count("alpha ne peut imprimer ou ne dessert pas") == 1


def test_values_of_goods_are_written_as_the_reader_does(staff: Client, shop: Shop) -> None:
    goods = [{"description": "Savon", "quantity": 2, "unitValue": value} for value in ("24.9", "1250")]
    label = LabelFactory(shop=shop, customs={"items": goods})
    shown = r" Savon, (.+?) EUR"
    assert re.findall(shown, page_of(staff, label)) == ["24.9", "1,250"]
    french = staff.get(f"{LABELS}{label.id}/change/", headers=FRENCH).text
    assert re.findall(shown, french) == ["24,9", "1\xa0250"]


def test_a_labels_warnings_are_dots_for_those_who_may_not_see_customers(shop: Shop) -> None:
    label = LabelFactory(shop=shop, warnings=["Rue Hunter coupée"])
    page = page_of(logged_in("view_shippinglabel"), label)
    assert "Hunter" not in page
    assert "<li>•••</li>" in page
