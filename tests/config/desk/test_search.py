"""The one search box: what it finds, for whom, where it leads and what is recorded of it."""

import re
from typing import Any

import pytest
from django.test import Client

from labels.models import ShippingLabel
from parcels.models import Parcel
from shops.models import Shop
from shops.personal_data import MASKED
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.audit.recording import customer_digests
from tests.labels.factories import LabelFactory
from tests.labels.orders import RECIPIENT
from tests.support.api import Response, logged_in
from tests.support.cases import in_one_test
from tests.support.desk import FRENCH
from tests.support.factories import DestinationFactory, import_parcel, ms_ago
from tests.support.sql import use_indexes

SEARCH = "/admin/search/"
PARCEL, LABEL = "/admin/parcels/parcel/{}/change/", "/admin/labels/shippinglabel/{}/change/"
WORLD = ("view_parcel", "view_shippinglabel")
PERMISSIONS = (*WORLD, "view_personal_data")
TEXTS_OF_ONE = (
    *("XU123456789FR", "xu123456789fr", " XU 123 456 789 FR ", "XU1234", "xu2", "XU2"),
    *("#A-1000", "a-1000", "A-10", "gid/77", "GID/7", "parcel-1", "PARCEL-"),
    *("le goff", "LE GOFF anais", "Anaïs", "goff", "anais 29200", "Breizh"),
    *("29200", "292", "06 19 72 43 89", "+33 (0)6 19 72 43 89", "0033619724389", "619 72 43", "+336197243"),
    *("anais@mail.example", "ANAIS@MAIL.EXAMPLE", "Anais@ma", "earlier@mail.example"),
)


def find(staff: Client, text: str) -> Response:
    return staff.get(SEARCH, {"q": text})


def found(staff: Client, text: str) -> set[str]:
    """The ids on the page of hits."""
    answer = find(staff, text)
    assert answer.status_code == 200
    return {hit.pk for hit in answer.context["search"].hits}


def somebody(**fields: Any) -> dict[str, Any]:
    return RECIPIENT | {"firstName": "Anaïs", "lastName": "Le Goff", "zip": "29200", "city": "Brest"} | fields


def test_the_first_page_has_one_search_box(staff: Client) -> None:
    assert re.findall(r'<input\b[^>]*\btype="search"[^>]*\bname="(\w+)"', staff.get("/admin/").text) == ["q"]


def test_one_hit_opens_its_page(staff: Client, shop: Shop) -> None:
    to = DestinationFactory(firstName="Anaïs", lastName="Le Goff", name="Anaïs Le Goff", company="Breizh SARL")
    import_parcel(
        shop,
        id="parcel-1",
        orderId="gid/77",
        orderNumber="#A-1000",
        trackingId="XU123456789FR",
        trackingNumbers=["XU123456789FR", "XU2"],
        customerEmail="Anais@Mail.example",
        previousEmails=["earlier@mail.example"],
        destination=to,
    )
    other = {"zip": "75011", "phone": "+33611111111", "firstName": "Bob", "lastName": "Roy", "name": "Bob Roy"}
    import_parcel(shop, id="another", orderNumber="#B", destination=DestinationFactory(**other))
    for text in TEXTS_OF_ONE:
        answer = find(staff, text)
        assert (answer.status_code, answer.get("Location")) == (302, PARCEL.format("parcel-1")), text


def test_a_label_that_is_no_parcel_is_found_too(staff: Client, shop: Shop) -> None:
    to = somebody(phone="+33619724389", email="anais@mail.example")
    label = {"id": "0RCABCDEFGHIJKL", "state": "incomplete", "order_id": "Cmd-7", "tracking_numbers": ["8R0001"]}
    LabelFactory(shop=shop, recipient=to, **label)
    LabelFactory(shop=shop, state="failed", order_id="5", recipient=RECIPIENT | {"zip": "1000", "lastName": "Roy"})
    for text in (
        *("0RCABCDEFGHIJKL", "0rcabcdefghijkl", "0RCAB", "Cmd-7", "Cmd", "8r0", "8R0001"),
        *("le goff", "Anaïs Le Gof", "29200", "anais@m", "0619724389"),
    ):
        assert find(staff, text).get("Location") == LABEL.format("0RCABCDEFGHIJKL"), text


def test_a_label_and_its_parcel_are_one_hit_with_the_parcels_page(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, id="0RCABCDEFGHIJKL", recipient=somebody(), tracking_numbers=["8R1"])
    to = DestinationFactory(firstName="Anaïs", lastName="Le Goff", name="Anaïs Le Goff")
    import_parcel(shop, id=label.id, trackingId="8R1", orderId=label.order_id, destination=to)
    for text in ("Le Goff", "8R1", label.order_id):
        assert find(staff, text)["Location"] == PARCEL.format(label.id), text
    assert find(staff, label.id.lower())["Location"] == LABEL.format(label.id)


def test_a_label_and_the_shops_own_parcel_with_its_number_are_one_hit(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, recipient=somebody(), tracking_numbers=["8R1"])
    to = DestinationFactory(firstName="Anaïs", lastName="Le Goff", name="Anaïs Le Goff")
    import_parcel(shop, id="own", trackingId="8R1", destination=to, createdAt=ms_ago())
    assert find(staff, "Le Goff")["Location"] == PARCEL.format("own")


def test_a_label_whose_number_another_parcel_has_by_now_is_a_hit_of_its_own(staff: Client, shop: Shop) -> None:
    """beta.md: numbers are reused after about 13 months; by then its own parcel may be removed by its age."""
    old = LabelFactory(shop=shop, tracking_numbers=["6A00000000009"], days_ago=400)
    import_parcel(shop, id="new", trackingId="6A00000000009", createdAt=ms_ago(1))
    assert found(staff, "6A00000000009") == {old.id, "new"}


def test_several_hits_are_listed_with_who_what_where_and_when(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", orderNumber="#7", lastStatus="DELIVERED")
    LabelFactory(shop=shop, order_id="7", state="failed", error_code="ALPHA_ADDRESS_REJECTED", recipient=somebody())
    page = find(staff, "7").text
    for text in (
        *("Delivered", "Zoé Œuvrard", "29200 Brest", "#7", "Maison Lumière"),
        *("Anaïs Le Goff", "Address rejected"),
    ):
        assert text in page
    assert page.count("</time>") == 2


def test_a_whole_number_is_preferred_to_the_beginnings_of_others(staff: Client, shop: Shop) -> None:
    for number in ("1000", "10001", "10002"):
        import_parcel(shop, id=f"P{number}", orderNumber=f"#{number}")
    assert find(staff, "1000")["Location"] == PARCEL.format("P1000")
    assert found(staff, "#100") == {"P1000", "P10001", "P10002"}


def test_all_of_several_words_have_to_fit(staff: Client, shop: Shop) -> None:
    for parcel_id, postal_code in (("P1", "75011"), ("P2", "75012"), ("P3", "29200")):
        import_parcel(shop, id=parcel_id, destination=DestinationFactory(zip=postal_code))
    assert found(staff, "œuvrard") == {"P1", "P2", "P3"}
    assert found(staff, "oeuv 750") == {"P1", "P2"}
    assert find(staff, "zoe 75012")["Location"] == PARCEL.format("P2")
    assert found(staff, "zoe 13000") == set()


@pytest.mark.parametrize("column", ["id", "orderId", "orderNumber"])
def test_the_beginning_of_a_key_in_capital_and_small_letters_is_found_in_any_case(
    column: str, staff: Client, shop: Shop
) -> None:
    keys = {import_parcel(shop, **{column: f"gid://Shopify/Order/{number}"})["id"] for number in (4711, 4712)}
    import_parcel(shop, **{column: "web://Shopify/Order/4711"})
    for text in ("gid://Sh", "gid://sh", "GID://SH", "gId://shopify/order/47"):
        assert found(staff, text) == keys, text


def test_so_is_the_one_of_a_label_s_order(staff: Client, shop: Shop) -> None:
    labels = {LabelFactory(shop=shop, order_id=f"Web_7{letter}").id for letter in "aB"}
    for text in ("Web_7", "web_7", "WEB_7"):
        assert found(staff, text) == labels, text


@pytest.mark.parametrize("sign", ["", "#"])
@pytest.mark.parametrize("column", ["id", "orderId", "orderNumber", "trackingId"])
def test_the_beginning_of_a_key_that_has_a_space_is_found(column: str, sign: str, staff: Client, shop: Shop) -> None:
    keys = {import_parcel(shop, **{column: f"{sign}CMD {number}"})["id"] for number in (4711, 4712)}
    import_parcel(shop, **{column: f"{sign}WEB 4711"})
    for text in ("#CMD 47",) if sign else ("CMD 47", "cmd 47", "CMD 4"):
        assert found(staff, text) == keys, text


def test_a_beginning_in_the_middle_of_a_word_finds_nothing(staff: Client, shop: Shop) -> None:
    import_parcel(shop, trackingId="XU123456789FR")
    for text in ("uvrard", "9200", "456789", "zo"):
        assert found(staff, text) == set(), text


def test_what_was_searched_is_said_when_nothing_is_found(staff: Client, shop: Shop) -> None:
    page = find(staff, "nobody").text
    assert "Nothing found for “nobody”" in page
    for kind in ("tracking numbers", "order numbers and ids", "label ids", "names", "e-mail addresses"):
        assert kind in page
    assert "phone numbers" not in page
    assert "noms des destinataires" in staff.get("/admin/search/", {"q": "nobody"}, headers=FRENCH).text
    assert "three characters" in find(staff, "zz").text


def test_without_personal_data_only_numbers_are_looked_at(shop: Shop) -> None:
    reporting = logged_in(*WORLD)
    import_parcel(shop, id="P1", orderNumber="#7", customerEmail="zoe@example.com")
    import_parcel(shop, id="P2", orderNumber="#7")
    LabelFactory(shop=shop, recipient=somebody())
    for text in ("zoe", "Œuvrard", "29200", "zoe@example.com", "+33619724389", "Le Goff"):
        answer = find(reporting, text)
        assert not answer.context["search"].hits
        assert "Only numbers, orders and ids are searched" in answer.text
    page = find(reporting, "#7").text
    assert page.count(f"{MASKED}, {MASKED} Brest") == 2
    assert "Œuvrard" not in page


def test_each_may_search_what_they_may_see(shop: Shop) -> None:
    import_parcel(shop, id="P1", orderNumber="77")
    LabelFactory(shop=shop, order_id="77")
    assert find(logged_in("view_parcel"), "77")["Location"] == PARCEL.format("P1")
    label = ShippingLabel.objects.get()
    assert find(logged_in("view_shippinglabel", name="bob"), "77")["Location"] == LABEL.format(label.id)
    nobody = logged_in("view_shop", name="eve")
    assert find(nobody, "77").status_code == 403
    assert "desk-search" not in nobody.get("/admin/").text


@in_one_test("text", ["100%", "_", "'; --", "x" * 10_000, "\u202e", "🦉", '"', "\\", "':*", "a & b | !c", "@"])
def test_any_text_can_be_searched_for(staff: Client, shop: Shop, text: str) -> None:
    import_parcel(shop)
    LabelFactory(shop=shop)
    assert found(staff, text) == set()


def test_a_search_is_recorded_without_personal_data(staff: Client, shop: Shop) -> None:
    import_parcel(shop, trackingId="XU123456789FR", customerEmail="zoe@example.com")
    for text in ("XU123456789FR", "Œuvrard", "zoe@example.com", "+33619724389", "ZZ9"):
        find(staff, text)
    entries = list(AuditEntry.objects.filter(action=Action.SEARCHED).order_by("id"))
    number, recipient = {"kind": "text", "by": ["number"]}, {"kind": "text", "by": ["recipient"]}
    found_it = {"hits": 1, "shown": [Parcel.objects.get().id]}
    assert [entry.details for entry in entries] == [
        number | found_it,
        recipient | found_it,
        recipient | found_it | {"kind": "e-mail"},
        recipient | found_it,
        {"kind": "text", "by": [], "hits": 0},
    ]
    assert [entry.customer for entry in entries if entry.customer] == customer_digests("zoe@example.com")


def test_looking_at_the_empty_page_is_no_search(staff: Client) -> None:
    assert "Type a number" in find(staff, " ").text
    assert not AuditEntry.objects.filter(action=Action.SEARCHED).exists()


def test_an_import_and_an_erasure_change_what_is_found(staff: Client, shop: Shop) -> None:
    import_parcel(shop, id="P1", orderNumber="#1")
    to = DestinationFactory(firstName="Ida", lastName="Moreau", name="Ida Moreau")
    import_parcel(shop, id="P1", orderNumber="#1", destination=to)
    assert found(staff, "Œuvrard") == set()
    assert find(staff, "moreau").status_code == 302


@pytest.mark.real_services
def test_recipients_are_found_along_an_index(shop: Shop) -> None:
    use_indexes()
    for rows, index in (
        (Parcel.objects.all(), "parcel_search_words"),
        (ShippingLabel.objects.all(), "label_search_words"),
    ):
        assert index in rows.filter(search_words__begins="nmart").order_by().explain()
        assert index in rows.filter(search_words__has="nli").order_by().explain()
