"""Lists of numbers: read in the forms people have them in, looked up, and checked as a carrier's invoice."""

from datetime import timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from config.desk.pasted import decoded, is_list, lines
from labels.lifecycle.parcels import release_numbers
from labels.models import ShippingLabel
from parcels.models import Parcel
from shops.models import Shop
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.days import today
from shops.staff.pages import address_of
from tests.labels.factories import LabelFactory, publish
from tests.support.api import logged_in
from tests.support.desk import FRENCH, member
from tests.support.factories import DestinationFactory, import_parcel

PERMISSIONS = ("view_parcel", "view_shippinglabel", "view_shop", "view_personal_data")
LIST = "/admin/list/"
A, B = "XU123456789FR", "6A12345678901"
NUMBERS: dict[str, list[str]] = {
    f"{A}\n{B}": [A, B],
    f"Bonjour, voici les colis : {A}, {B}. Merci": [A, B],
    f"{A} {B}": [A, B],
    f"{A},{B};{A}|{B}": [A, B, A, B],
    f'="{A}"\r\n"{B}"\n\'{A}': [A, B, A],
    "XU 123 456 789 FR\n6A 123 456 789 01": [A, B],
    "12345678\v87654321\u202812348765": ["12345678", "87654321", "12348765"],  # Word's line breaks
    "xu123456789fr": [A],
    "Anaïs Le Goff 29200 Brest, 06 19 72 43": [],
    "": [],
}
AMOUNTS = {
    f"{A};0,450": Decimal("0.450"),
    f"{A}\t1.5": Decimal("1.5"),
    f'"{A}","12,50 €"': Decimal("12.50"),
    f"{A},12.5": Decimal("12.5"),
    f"{A};1 234,50 €": Decimal("1234.50"),
    f'"{A}","12\u202f345,6"': Decimal("12345.6"),
    f"{A};1;234,50": Decimal(1),
    f"{A} 234,50": Decimal("234.50"),
    f"2;{A}": Decimal(2),
    A: None,
    f"{A};{B};3": None,
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_read_in_the_forms_that_people_have(text: str) -> None:
    assert [line.number for line in lines(text)] == NUMBERS[text]


@pytest.mark.parametrize("text", AMOUNTS)
def test_an_amount_is_that_of_the_one_number_of_its_line(text: str) -> None:
    found = list(lines(text))
    assert found[0].number == A
    assert found[0].amount == AMOUNTS[text]


def test_files_are_read_as_excel_writes_them_and_typed_lists_are_told_from_names() -> None:
    text = f"Numéro;Poids\n{A};1,5"
    for content in (text.encode(), b"\xef\xbb\xbf" + text.encode(), text.encode("cp1252"), text.encode("utf-16")):
        assert decoded(content) == text
    assert is_list(f"{A} {B}")
    assert not any(map(is_list, (A, "le goff brest", "anais 29200", "06 19 72 43 89", "33619724389", "")))


def bought(shop: Shop, *numbers: str, **facts: Any) -> ShippingLabel:
    own: dict[str, Any] = {"tracking_numbers": list(numbers), "weights_kg": ["1.5"] * len(numbers)}
    label: ShippingLabel = LabelFactory(shop=shop, **own | facts)
    publish(label)
    return label


def groups(staff: Client, text: str, **form: Any) -> dict[str, list[Any]]:
    answer = staff.post(LIST, {"numbers": text, **form})
    assert answer.status_code == 200
    return {group.outcome: group.rows for group in answer.context["groups"]}


def test_a_list_says_of_each_number_what_is_known(staff: Client, shop: Shop) -> None:
    label = bought(shop, A)
    Parcel.objects.update(handed_in_at=1_790_000_000_000)
    lost = LabelFactory(shop=shop, state="unknown", tracking_numbers=[B])
    found = groups(staff, f"{A} {B} 6A00000000000 {lost.id}")
    assert [row.number for row in found["Not found"]] == ["6A00000000000"]
    first, second, third = found["Found"]
    assert (first.label, first.shop, first.bought_at) == (label.id, "Maison Lumière", label.finished_at)
    assert first.handed_in_at is not None
    assert (second.label, second.status, third.label) == (lost.id, "unknown", lost.id)
    entry = AuditEntry.objects.filter(action=Action.SEARCHED).latest("id")
    assert (entry.details["kind"], entry.details["hits"]) == ("list", 3)
    assert staff.get("/admin/search/", {"q": f"{A} {B}"}).context["groups"][0].count == 2


def test_a_result_leads_to_the_page_that_its_reader_may_open(shop: Shop) -> None:
    label, lost = bought(shop, A), LabelFactory(shop=shop, state="unknown", tracking_numbers=[B])
    of_parcel, of_label = (address_of("parcels.parcel", label.id), address_of("labels.shippinglabel", lost.id))
    for role, links in (("Support", [of_parcel, of_label]), ("Accounting", [])):
        page = member(role).post(LIST, {"numbers": f"{A} {B}"}).text
        assert [link for link in (of_parcel, of_label) if link in page] == links, role


def test_a_list_has_an_end(staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.desk.lists.MAX_LINES", 2)
    assert "At most 2 numbers at a time." in staff.post(LIST, {"numbers": f"{A}\n{B}\n{A}"}).text


def test_who_sees_no_parcels_finds_none_by_a_list(shop: Shop) -> None:
    bought(shop, A)
    import_parcel(shop, trackingId=B, orderNumber="A-1000")
    reader = logged_in("view_shippinglabel")
    assert reader.post(LIST, {"numbers": f"{A} {B}"}).status_code == 403
    assert "desk-pasted" not in reader.get("/admin/").text
    assert "A-1000" not in reader.get("/admin/search/", {"q": f"{A} {B}"}).text


def test_what_is_not_ours_is_its_number_and_what_is_late_is_marked(staff: Client, shop: Shop) -> None:
    import_parcel(shop, trackingId=A)
    Parcel.objects.update(estimated_delivery_date_window={"minimumDeliveryDate": 1, "maximumDeliveryDate": 2})
    numbers = {"numbers": f"{A} 6A00000000000 6A00000000001"}
    text = staff.post(LIST, numbers, headers={"Accept-Language": "fr"}).text
    assert "Introuvable\u00a0: 2" in text
    assert "<p>6A00000000000, 6A00000000001</p>" in text
    assert text.count("<table>") == 1
    assert "En retard" in text


def test_an_invoice_is_checked_against_what_was_bought_and_handed_in(staff: Client, shop: Shop) -> None:
    right, heavy, gone, forgotten = (bought(shop, f"XU{number}23456789FR", carrier_code="alpha") for number in range(4))
    old = bought(shop, "XU923456789FR", carrier_code="alpha")
    at = timezone.now() - timedelta(minutes=1)
    Parcel.objects.exclude(id=old.id).update(handed_in_at=round(at.timestamp() * 1000))
    Parcel.objects.filter(id=old.id).update(handed_in_at=1)
    ShippingLabel.objects.filter(id=gone.id).update(state="cancelled", cancel_requested_at=at)
    release_numbers(gone, gone.tracking_numbers)
    first, second, third = (label.tracking_number for label in (right, heavy, gone))
    bill = f"Colis;Poids\n{first};1,5\n{second};3,2\n{third};1,5\n{first};1,5\n6A99999999999;2"
    days = {"first": today() - timedelta(days=1), "last": today()}
    found = groups(staff, bill, column="weight", **days)
    assert {outcome: [row.number for row in rows] for outcome, rows in found.items()} == {
        "Billed rightly": [first],
        "Another weight": [second],
        "Cancelled, yet billed": [third],
        "Billed twice": [first],
        "Billed and not ours": ["6A99999999999"],
        "Ours and not billed": [forgotten.tracking_number],
    }
    assert member("Accounting").get(LIST).status_code == 200
    assert member("Accounts").get(LIST).status_code == 403


def test_a_file_comes_back_as_a_sheet(staff: Client, shop: Shop) -> None:
    bought(shop, A)
    file = SimpleUploadedFile("colis.csv", f"{A};1,5\n{B};2".encode("cp1252"))
    answer = staff.post(LIST, {"file": file, "as": "csv"})
    rows = answer.getvalue().decode("utf-8-sig").splitlines()
    assert len(rows) == 3
    assert A in rows[1]
    assert "Maison Lumière" in rows[1]
    assert "Not found" in rows[2]
    assert "Save the workbook" in staff.post(LIST, {"file": BytesIO(b"PK\x03\x04")}).text
    assert "no number" in staff.post(LIST, {"numbers": "bonjour"}).text


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_sheet_says_its_results_in_the_language_of_who_asked(staff: Client, shop: Shop, kind: str) -> None:
    bought(shop, A)
    answer = staff.post(LIST, {"numbers": f"{A} {B}", "as": kind}, headers=FRENCH)
    content = answer.getvalue()
    if kind == "xlsx":
        content = ZipFile(BytesIO(content)).read("xl/worksheets/sheet1.xml")
    assert "Trouvé" in content.decode()
    assert "Introuvable" in content.decode()
    assert "ound" not in content.decode()


def test_the_box_finds_a_name_with_its_town_a_shop_an_error_code_and_a_request(staff: Client, shop: Shop) -> None:
    to = DestinationFactory(firstName="Anaïs", lastName="Le Goff", name="Anaïs Le Goff", city="Brest")
    parcel = import_parcel(shop, destination=to)
    import_parcel(shop, destination=DestinationFactory(lastName="Le Goff", city="Paris"))
    ordered = LabelFactory(shop=shop, request_id="f" * 32, state="failed", error_code="ALPHA_ADDRESS_REJECTED")
    for text, page in (
        ("le goff brest", f"/parcels/parcel/{parcel['id']}/"),
        ("Maison Lum", "/shops/shop/lumiere/"),
        ("alpha_address_rejected", "/labels/shippinglabel/?mode=live&reason=ALPHA_ADDRESS_REJECTED"),
        ("F" * 32, f"/labels/shippinglabel/{ordered.id}/"),
    ):
        answer = staff.get("/admin/search/", {"q": text})
        assert answer.status_code == 302, text
        assert answer.headers["Location"].startswith(f"/admin{page}"), text
    assert staff.get("/admin/search/", {"q": "le goff lyon"}).context["search"].hits == []
