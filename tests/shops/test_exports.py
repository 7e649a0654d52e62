"""Exports of lists: their rows and columns, formulas, masks, sizes, and the audit log."""

import csv
import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from shops.models import Shop
from shops.staff import exports, spreadsheets
from shops.staff.audit.models import Action, AuditEntry, Channel
from shops.staff.audit.recording import Actor, acting
from shops.staff.days import STAFF_TIME_ZONE
from tests.labels.factories import LabelFactory
from tests.support.api import logged_in
from tests.support.desk import csv_rows, sent
from tests.support.factories import AccessTokenFactory, ShopFactory, import_parcel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_sidebar")]
VIEWS = ("view_shippinglabel", "view_parcel", "view_accesstoken", "view_shop", "view_auditentry")
PERMISSIONS = (*VIEWS, "view_personal_data")
LABELS = "/admin/labels/shippinglabel/"
ENGLISH = spreadsheets.Reader(ZoneInfo("Europe/Paris"), ".")
FRENCH = ENGLISH._replace(decimal=",")
WHEN = datetime(2026, 3, 29, 22, 30, tzinfo=UTC)  # 00:30 of the next day in Paris
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def sheets(file: bytes) -> list[list[list[tuple[str, str]]]]:
    """The cells of each sheet, as their kind and their text."""
    with zipfile.ZipFile(io.BytesIO(file)) as book:
        names = sorted(name for name in book.namelist() if name.startswith("xl/worksheets/sheet"))
        return [list(sheet_rows(book.read(name))) for name in names]


def sheet_rows(sheet: bytes) -> Iterator[list[tuple[str, str]]]:
    for row in ET.fromstring(sheet).iter(f"{SHEET}row"):
        assert not list(row.iter(f"{SHEET}f")), "a formula"
        yield [(cell.get("t", "n"), "".join(cell.itertext())) for cell in row]


def test_labels_are_exported_with_what_an_accountant_needs(staff: Client, shop: Shop) -> None:
    label = LabelFactory(
        shop=shop, order_id="5400000007", weights_kg=["1.25", "0.1"], tracking_numbers=["6A1", "6A2"], token_id="tok_1"
    )
    response = staff.get(f"{LABELS}export.csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Cache-Control"] == "private, no-store"
    assert response["Content-Disposition"].startswith('attachment; filename="shippinglabel-')
    (row,) = csv_rows(response)
    expected = {
        "Label": label.id,
        "Shop id": "lumiere",
        "Shop": "Maison Lumière",
        "Order": "5400000007",
        "Carrier": "beta",
        "Product": label.product_code,
        "State": "label_generated",
        "Tracking numbers": "6A1 6A2",
        "Parcels": "2",
        "Weight (kg)": "1.35",
        "Ordered": f"{label.created_at.astimezone(STAFF_TIME_ZONE):%Y-%m-%d %H:%M:%S}",
        "Recipient": f"{label.recipient['firstName']} {label.recipient['lastName']}",
    }
    assert {name: row[name] for name in expected} == expected


def test_an_export_has_the_rows_of_the_list_as_it_is_filtered(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, state="failed", error_code="BETA_UNAVAILABLE")
    LabelFactory(shop=shop)
    LabelFactory(shop=shop, carrier_code="alpha")
    found = csv_rows(staff.get(f"{LABELS}export.csv?state=label_generated&carrier=beta"))
    assert [(row["State"], row["Carrier"]) for row in found] == [("label_generated", "beta")]
    assert len(csv_rows(staff.get(f"{LABELS}export.csv"))) == 3


def test_a_filter_that_the_list_lacks_is_refused(staff: Client) -> None:
    assert staff.get(f"{LABELS}export.csv?recipient__contains=a").status_code == 400
    assert staff.post(f"{LABELS}export.csv").status_code == 405


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_an_export_needs_the_permission_to_view_the_list(kind: str, shop: Shop) -> None:
    browser = logged_in("view_parcel")
    assert browser.get(f"{LABELS}export.{kind}").status_code == 403
    assert not AuditEntry.objects.filter(action=Action.EXPORTED).exists()
    sent(browser.get(f"/admin/parcels/parcel/export.{kind}"))


def test_a_list_larger_than_a_page_is_exported_whole_in_its_order_and_each_row_once(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGE_SIZE", 3)
    for number in range(8):
        import_parcel(shop, id=f"P{number}", createdAt=1_790_000_000_000 + number // 4)  # four of equal times
    found = [row["Parcel"] for row in csv_rows(staff.get("/admin/parcels/parcel/export.csv"))]
    assert found == [f"P{number}" for number in reversed(range(8))]
    AccessTokenFactory.create_batch(7, shop=shop)
    assert len({row["Token"] for row in csv_rows(staff.get("/admin/shops/accesstoken/export.csv"))}) == 7


def test_the_rows_of_an_export_are_counted_and_the_one_who_asked_is_named(staff: Client, shop: Shop) -> None:
    LabelFactory.create_batch(2, shop=shop)
    with acting(Actor("ada", Channel.ADMIN, "192.0.2.7")):
        response = staff.get(f"{LABELS}export.xlsx?carrier=beta&q=")
    begun = AuditEntry.objects.filter(action=Action.EXPORTED).latest("id")
    filters = {"carrier": ["beta"], "q": [""]}
    assert begun.details == {"list": "labels.shippinglabel", "format": "xlsx", "filters": filters}
    sent(response)
    ended = AuditEntry.objects.filter(action=Action.EXPORTED).latest("id")
    facts = {"rows": 2, "is_complete": True, "begun": begun.id}
    assert ended.details == {"list": "labels.shippinglabel", "format": "xlsx"} | facts
    assert (ended.actor, ended.channel, ended.address) == (begun.actor, begun.channel, begun.address)


def test_an_export_that_is_broken_off_is_on_record_as_such(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreadsheets, "ROWS_A_CHUNK", 1)
    LabelFactory.create_batch(3, shop=shop)
    response: Any = staff.get(f"{LABELS}export.csv")
    chunks = iter(response.streaming_content)
    next(chunks)
    next(chunks)
    response._iterator.close()  # as the server does
    ended = AuditEntry.objects.latest("id").details
    assert (ended["rows"], ended["is_complete"]) == (1, False)


def test_the_words_of_a_search_are_not_on_record(staff: Client, shop: Shop) -> None:
    sent(staff.get("/admin/parcels/parcel/export.csv?q=zoe@example.com"))
    assert "zoe@example.com" not in str([entry.details for entry in AuditEntry.objects.all()])
    assert AuditEntry.objects.filter(action=Action.EXPORTED).first().details  # type: ignore[union-attr]


@pytest.mark.parametrize("query", ["", "?q=zoe@example.com"])
def test_whose_data_a_file_shows_is_on_record_by_ids_and_is_found_by_e_mail(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(exports, "PAGE_SIZE", 2)
    parcels = [import_parcel(shop, id=f"P{place}", customerEmail="zoe@example.com") for place in range(3)]
    with acting(Actor("ada", Channel.ADMIN, "192.0.2.7")):
        response = staff.get(f"/admin/parcels/parcel/export.csv{query}")
    sent(response)
    listed = AuditEntry.objects.filter(action=Action.LISTED)
    assert {each for entry in listed for each in entry.details["shown"]} == {parcel["id"] for parcel in parcels}
    assert len({entry.actor for entry in listed} - {"work"}) == 1
    found = staff.get("/admin/shops/auditentry/?q=zoe@example.com").context["cl"].result_list
    assert set(listed) <= set(found)


def test_a_file_without_customers_data_names_no_rows(shop: Shop) -> None:
    import_parcel(shop)
    sent(logged_in("view_parcel").get("/admin/parcels/parcel/export.csv"))
    assert not AuditEntry.objects.filter(action=Action.LISTED).exists()


def test_without_the_permission_no_customers_data_leaves(shop: Shop) -> None:
    recipient = {
        **dict.fromkeys(("address1", "phone", "email"), "x-canary"),
        "firstName": "x-canary",
        "lastName": "x-canary",
        "zip": "x-canary",
        "city": "Lyon",
        "countryCode": "FR",
    }
    LabelFactory(shop=shop, recipient=recipient)
    import_parcel(shop, customerEmail="x-canary@example.com")
    browser = logged_in("view_shippinglabel", "view_parcel")
    (label,) = csv_rows(browser.get(f"{LABELS}export.csv"))
    assert (label["Recipient"], label["Postal code"], label["City"]) == ("••• •••", "•••", "Lyon")
    for path in (LABELS, "/admin/parcels/parcel/"):
        assert b"x-canary" not in sent(browser.get(f"{path}export.csv"))
        for sheet in sheets(sent(browser.get(f"{path}export.xlsx"))):
            assert "x-canary" not in str(sheet)
    seeing = logged_in("view_shippinglabel", "view_personal_data", name="seeing")
    assert csv_rows(seeing.get(f"{LABELS}export.csv"))[0]["Recipient"] == "x-canary x-canary"


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", "\t1", "\r1", "\uff1d1", "\uff0b1", "\uff0d1"),
        *("\uff20A", '=HYPERLINK("https://x.example")'),
    ],
)
def test_no_text_of_an_order_is_a_formula(staff: Client, shop: Shop, text: str) -> None:
    LabelFactory(shop=shop, order_id=text, reference="https://x.example/")
    (row,) = csv_rows(staff.get(f"{LABELS}export.csv"))
    assert row["Order"] == f"'{text}"
    ((titles, cells),) = sheets(sent(staff.get(f"{LABELS}export.xlsx")))
    cell = dict(zip((title for _, title in titles), cells, strict=False))["Order"]
    assert cell[0] in {"s", "inlineStr"}  # a string


@pytest.mark.parametrize("reader", [ENGLISH, FRENCH])
@pytest.mark.parametrize("begins", [",", ";", "\t", "\r", "\n", "\r\n", ';"'])
def test_nor_is_it_one_in_a_spreadsheet_of_other_separators(reader: spreadsheets.Reader, begins: str) -> None:
    """A French Excel takes a semicolon in an English file for the end of a cell."""
    made = b"".join(spreadsheets.as_csv(["id", "text"], [["1", f"x{begins}=1+1"]], reader)).decode("utf-8-sig")
    for separator in (",", ";", "\t"):
        for row in csv.reader(io.StringIO(made, newline=""), delimiter=separator):
            assert not any(cell.startswith("=") for cell in row)


def test_numbers_are_numbers_and_text_of_digits_is_text_in_a_workbook() -> None:
    rows: list[list[Any]] = [["0012", 12, 1.5, None, True]]
    ((titles, cells),) = sheets(b"".join(spreadsheets.as_xlsx(["a", "b", "c", "d", "e"], rows, ENGLISH)))
    assert [text for _, text in titles] == ["a", "b", "c", "d", "e"]
    assert cells == [("inlineStr", "0012"), ("n", "12"), ("n", "1.5"), ("inlineStr", "True")]


def test_days_and_times_are_real_ones_of_paris_and_columns_are_as_wide_as_they_need() -> None:
    file = b"".join(spreadsheets.as_xlsx(["at", "name"], [[WHEN, "Maison Lumière"], [date(2026, 3, 1), "x"]], FRENCH))
    ((_, first, second),) = sheets(file)
    assert first[0] == ("n", "46111.02083333")
    assert second[0] == ("n", "46082")
    with zipfile.ZipFile(io.BytesIO(file)) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert 's="2"><v>46111' in sheet
    assert 's="3"><v>46082' in sheet
    assert [col.split('"')[0] for col in sheet.split('width="')[1:]] == ["19", "16"]


@pytest.mark.parametrize(
    ("reader", "line"), [(ENGLISH, "2026-03-30 00:30:00,-19.000,'-x"), (FRENCH, "2026-03-30 00:30:00;-19,000;'-x")]
)
def test_a_csv_has_the_signs_of_its_reader(reader: spreadsheets.Reader, line: str) -> None:
    made = b"".join(spreadsheets.as_csv(["at", "kg", "text"], [[WHEN, Decimal("-19.000"), "-x"]], reader))
    assert made.decode("utf-8-sig").splitlines()[1] == line


def test_a_french_page_gives_french_sheets(staff: Client, shop: Shop) -> None:
    LabelFactory(shop=shop, weights_kg=["1.25"])
    made = sent(staff.get(f"{LABELS}export.csv", headers={"Accept-Language": "fr"})).decode("utf-8-sig")
    titles, row = made.splitlines()
    assert titles.startswith("Étiquette;Identifiant de la boutique;")
    assert ";1,25;" in row


def test_more_rows_than_a_sheet_holds_go_on_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheets, "MAX_SHEET_ROWS", 3)
    file = b"".join(spreadsheets.as_xlsx(["n"], ([number] for number in range(5)), ENGLISH))
    found = [[text for ((_, text),) in sheet] for sheet in sheets(file)]
    assert found == [["n", "0", "1"], ["n", "2", "3"], ["n", "4"]]
    assert [len(sheet) for sheet in sheets(b"".join(spreadsheets.as_xlsx(["n"], [], ENGLISH)))] == [1]


def test_any_text_comes_back_as_it_was_but_for_what_xml_can_not_hold() -> None:
    texts = ["<&>\"'", " a ", "\r\n\t", "_x0041_", "\x01b\x0b", "é😀", "x" * 32_767, "x" * 32_768]
    ((_, *found),) = sheets(b"".join(spreadsheets.as_xlsx(["t"], [[text] for text in texts], ENGLISH)))
    read = [text.replace("_x005F_", "_") for ((_, text),) in found]
    assert read == ["<&>\"'", " a ", "\r\n\t", "_x0041_", "b", "é😀", "x" * 32_767, "x" * 32_766 + "…"]
    assert [spreadsheets.column_name(number) for number in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


def test_a_large_csv_is_sent_as_it_is_read() -> None:
    taken = 0

    def rows() -> Iterator[list[int]]:
        nonlocal taken
        for number in range(10_000):
            taken += 1
            yield [number]

    chunks = spreadsheets.as_csv(["n"], rows(), ENGLISH)
    assert next(chunks) == b"\xef\xbb\xbfn\r\n"
    assert taken == 0
    assert next(chunks).startswith(b"0\r\n1\r\n")
    assert taken == spreadsheets.ROWS_A_CHUNK


def test_every_list_offers_its_files_as_it_is_filtered(shop: Shop) -> None:
    root = logged_in(is_superuser=True)
    for path in ("shops/shop", "shops/carriercontract", "shops/webhookendpoint", "shops/webhookdelivery", "auth/user"):
        page = root.get(f"/admin/{path}/?q=x")
        assert 'href="export.csv?q=x"' in page.text
        assert sent(root.get(f"/admin/{path}/export.csv?q=x")).count(b"\r\n") >= 1
    LabelFactory(shop=shop)
    assert 'href="export.xlsx?carrier=beta"' in root.get(f"{LABELS}?carrier=beta").text


def test_a_list_without_columns_of_its_own_exports_the_fields_that_it_shows() -> None:
    root = logged_in(is_superuser=True)
    (row,) = csv_rows(root.get("/admin/auth/user/export.csv"))
    assert list(row) == ["Id", "Username", "Email address", "First name", "Last name", "Staff status"]
    assert (row["Username"], row["Staff status"]) == ("ada", "yes")
    text = sent(root.get("/admin/auth/user/export.csv", headers={"Accept-Language": "fr"})).decode("utf-8-sig")
    assert text.splitlines()[1].endswith(";oui")
    (shop_row,) = csv_rows(root.get(f"/admin/shops/shop/export.csv?q={ShopFactory(id='x', name='Y').id}"))
    assert (shop_row["Id"], shop_row["Name"]) == ("x", "Y")
