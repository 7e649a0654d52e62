"""The staff's pages for labels and contracts, through a browser's eyes."""

import io
import random
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
import requests
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, TextStringObject

from carriers.products import PRODUCTS
from carriers.sandbox.server import SandboxServer
from labels import decisions, storage
from labels.admin import states
from labels.ids import new_label_id
from labels.models import LabelState, ShippingLabel, lease
from labels.reconciling import reconcile
from shops.admin import base
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from shops.models import Shop
from tests.labels.conftest import nothing_finished
from tests.support.api import Caller, Response, client, logged_in
from tests.support.factories import AccessTokenFactory, ShopFactory
from tests.support.paths import SHIPMENTS
from tests.support.waiting import WAIT_TIMEOUT_S

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024
LABELS = "/admin/labels/shippinglabel/"
CONTRACTS = "/admin/shops/carriercontract/"
HOSTILE = """"><script>alert(1)</script><img src=x onerror='alert(2)'>{{7*7}}"""
NOON = datetime(2026, 9, 23, 12, tzinfo=UTC)
ADDRESS = {
    "firstName": "Zoé",
    "lastName": "Œuvrard",
    "address1": "18 impasse des Œillets",
    "zip": "29200",
    "city": "Brest",
    "countryCode": "FR",
    "phone": "+33619724389",
    "email": "zoe@example.com",
}
SENDER = ADDRESS | {"firstName": "Lucie", "lastName": "Lumière", "city": "Paris", "zip": "75002"}
CREDENTIALS = {"alpha": ("19869502", "975310"), "beta": ("987654", "tournesol")}


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    """Where PDFs are kept."""
    storages = {**settings.STORAGES}
    storages["labels"] = {"BACKEND": "labels.storage.LabelFolder", "OPTIONS": {"location": str(tmp_path / "labels")}}
    settings.STORAGES = storages
    return tmp_path / "labels"


@pytest.fixture(scope="module")
def running() -> Iterator[SandboxServer]:
    with SandboxServer() as server:
        yield server


@pytest.fixture
def carriers(running: SandboxServer, settings: Any, transactional_db: None) -> Iterator[SandboxServer]:
    """The carriers' sandbox; a call closes the database connection, so the test can't live in one transaction."""
    requests.post(f"{running.control_url}/reset", timeout=WAIT_TIMEOUT_S).raise_for_status()
    settings.CARRIER_ENDPOINTS = {
        "alpha": {"url": running.alpha_url, "tracking_url": running.alpha_tracking_url},
        "beta": {"url": running.beta_url},
    }
    clients.client.cache_clear()
    yield running
    clients.client.cache_clear()


@pytest.fixture
def staff(db: None) -> Client:
    return logged_in("view_shippinglabel", "change_shippinglabel", "view_carriercontract", "view_shop")


@pytest.fixture
def shop(db: None) -> Shop:
    return ShopFactory(id="lumiere", name="Maison Lumière")


def make_label(shop: Shop, state: str = "label_generated", **fields: Any) -> ShippingLabel:
    """A label as a purchase that is over leaves it."""
    values = {
        "leased_until": timezone.now() - timedelta(minutes=1),
        "order_id": "5400001",
        "carrier_code": "beta",
        "product_code": "beta",
        "sender": SENDER,
        "recipient": ADDRESS,
        "weights_kg": ["1.5"],
        "pdf": a_pdf() if state == "received" else None,
    }
    made: ShippingLabel = ShippingLabel.objects.create(shop=shop, state=state, **values | fields)
    return made


def make_contract(shop: Shop, carrier_code: str, **fields: Any) -> CarrierContract:
    account_number, password = CREDENTIALS[carrier_code]
    products = dict.fromkeys(code for code, product in PRODUCTS.items() if product.carrier == carrier_code)
    contract = CarrierContract(shop=shop, carrier_code=carrier_code, account_number=account_number, products=products)
    for name, value in fields.items():
        setattr(contract, name, value)
    contract.set_secret(password=password)
    contract.save()
    return contract


def a_pdf(pages: int = 1, drawing: bytes = b"") -> bytes:
    """A PDF whose pages hold this drawing, and a script that nobody wants to run."""
    writer, content = PdfWriter(), DecodedStreamObject()
    content.set_data(drawing)
    for _ in range(pages):
        writer.add_blank_page(283, 425)[NameObject("/Contents")] = content
    script = {NameObject("/S"): NameObject("/JavaScript"), NameObject("/JS"): TextStringObject("app.alert(1)")}
    writer.root_object[NameObject("/OpenAction")] = DictionaryObject(script)
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


def upload(data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("label.pdf", data, "application/pdf")


def page_of(staff: Client, label: ShippingLabel, view: str = "change") -> str:
    answer = staff.get(f"{LABELS}{label.id}/{view}/")
    assert answer.status_code == 200
    return answer.text


def listed(staff: Client, **query: Any) -> list[str]:
    """The order ids of the labels on the list's first page, in its order."""
    answer = staff.get(LABELS, query)
    assert answer.status_code == 200
    return [label.order_id for label in answer.context["cl"].result_list]


def decide(staff: Client, label: ShippingLabel, decision: str, **data: Any) -> Response:
    return staff.post(f"{LABELS}{label.id}/{decision}/", data, follow=True)


def buy(caller: Caller, carrier_code: str, key: str = "key-1", parcels: int = 1, **fields: Any) -> Response:
    body = {
        "orderId": "5400001",
        "carrierCode": carrier_code,
        "productCode": {"alpha": "alpha-18", "beta": "beta"}[carrier_code],
        "originAddress": {name: value for name, value in SENDER.items() if name != "email"},
        "destinationAddress": ADDRESS,
        "parcels": [{"weight": 1.5}] * parcels,
    }
    headers = {"Idempotency-Key": key}
    return caller.request(
        "POST", SHIPMENTS, data=orjson.dumps(body | fields), content_type="application/json", headers=headers
    )


def bought_unknown(caller: Caller, carrier_code: str, fault: str = "FAULT RESETMADE", **options: Any) -> ShippingLabel:
    """Buy a label whose outcome stays unknown, and let the lease of its purchase end."""
    make_contract(caller.shop, carrier_code)
    assert buy(caller, carrier_code, reference=fault, **options).status_code == 502
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    label: ShippingLabel = ShippingLabel.objects.get(state=LabelState.UNKNOWN)
    return label


def made(server: SandboxServer, label: ShippingLabel) -> list[str]:
    """The numbers that the carrier gave out for a label."""
    return [parcel.tracking_number for parcel in server.state.ledger.find(reference=label.id)]


# --- The list ---


def test_the_list_shows_every_attempt_the_newest_first(staff: Client, shop: Shop) -> None:
    token = AccessTokenFactory(shop=shop, name="checkout")
    make_label(shop, "failed", order_id="1", id="0" * 15)
    make_label(
        shop,
        order_id="2",
        id="0" * 14 + "1",
        tracking_numbers=["6A1", "6A2"],
        token_id=token.id,
        created_at=NOON,
        carrier_code="alpha",
        product_code="alpha-18",
    )
    assert listed(staff) == ["2", "1"]
    page = staff.get(LABELS).text
    for text in ("0" * 14 + "1", "Maison Lumière", "alpha · alpha-18", "6A1 +1", "checkout", "23 Sep 2026, 12:00 UTC"):
        assert text in page
    assert token.id in page


def test_a_state_has_a_colour_and_says_what_it_means(staff: Client, shop: Shop) -> None:
    for state in LabelState:
        make_label(shop, state, order_id=state)
    page = staff.get(LABELS).text
    found = re.findall(r'<span class="[^"]*text-(\w+)-700[^"]*"\s+title="([^"]+)">\s*([\w ]+?)\s*</span>', page)
    assert {name: colour for colour, _, name in found} == {
        "Interrupted": "blue",
        "Received": "primary",
        "Label generated": "green",
        "Failed": "red",
        "Incomplete": "orange",
        "Unknown": "orange",
    }
    for label in ShippingLabel.objects.all():
        assert states.state_meaning(label) in page_of(staff, label).replace("&#x27;", "'")


def test_a_purchase_is_interrupted_when_its_lease_has_ended(shop: Shop) -> None:
    label = make_label(shop, "purchasing")
    assert states.state_name(label) == "Interrupted"
    label.leased_until = lease()
    assert states.state_name(label) == "Purchasing"


@pytest.mark.parametrize(
    "text", ["0RCABCDEFGHIJKL", "0rcabcdefghijkl", "6A1111", "6a2222", " 6A 22 22\t", "cmd-7", "CMD-7", "Cmd-7"]
)
def test_one_box_finds_by_id_tracking_number_and_order(staff: Client, shop: Shop, text: str) -> None:
    make_label(shop, id="0RCABCDEFGHIJKL", order_id="Cmd-7", tracking_numbers=["6A1111", "6A2222"])
    make_label(ShopFactory(), order_id="cmd-70", tracking_numbers=["6A11112"])
    exact: dict[str, list[str]] = {
        "cmd-7": [],
        "CMD-7": [],
    }  # the case of an order id is the shop's own, when it is mixed
    assert listed(staff, q=text) == exact.get(text, ["Cmd-7"])


@pytest.mark.parametrize("text", ["100%", "_", "'; --", "x" * 60_000, "\u202e", "🦉", '"', "\\", "[]", '["6A1111"]'])
def test_any_text_can_be_searched_for(staff: Client, shop: Shop, text: str) -> None:
    make_label(shop, tracking_numbers=["6A1111"])
    assert listed(staff, q=text) == []


def test_a_tracking_number_is_found_along_the_index(shop: Shop) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("only PostgreSQL has an index into a list")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = ShippingLabel.objects.order_by().with_tracking_number("6A1111", "6a1111").explain()
    assert plan.count("label_tracking_numbers") == 2


def test_a_search_compares_exactly(staff: Client, shop: Shop) -> None:
    make_label(shop, order_id="5400001")
    with CaptureQueriesContext(connection) as captured:
        listed(staff, q="5400001")
    searches = [query["sql"] for query in captured if "UNION ALL" in query["sql"]]
    assert len(searches) == 2  # the page and its count
    assert not [sql for sql in searches if "UPPER(" in sql or "OUTER JOIN" in sql]


def test_the_list_is_filtered_by_shop_carrier_state_day_and_decision(staff: Client, shop: Shop) -> None:
    make_label(shop, order_id="1", carrier_code="alpha", created_at=NOON)
    make_label(shop, "unknown", order_id="2", created_at=NOON + timedelta(days=1))
    make_label(ShopFactory(), "incomplete", order_id="3", created_at=NOON + timedelta(days=2))
    make_label(shop, "failed", order_id="4", created_at=NOON + timedelta(days=3), decided_at=NOON)
    assert sorted(listed(staff, shop__id__exact=shop.id)) == ["1", "2", "4"]
    assert listed(staff, carrier="alpha") == ["1"]
    assert listed(staff, carrier="gamma") == []
    assert sorted(listed(staff, state=["failed", "unknown"])) == ["2", "4"]
    assert sorted(listed(staff, decision="needed")) == ["2", "3"]
    assert listed(staff, decision="made") == ["4"]
    assert sorted(listed(staff, created_from="2026-09-24", created_to="2026-09-25")) == ["2", "3"]
    assert listed(staff, created_to="2026-09-23") == ["1"]
    assert len(listed(staff, created_to="9999-12-31")) == 4
    assert listed(staff, created_from="yesterday") == []


def test_what_needs_a_decision_is_counted_on_every_page_and_one_click_away(staff: Client, shop: Shop) -> None:
    assert "Labels to decide" not in staff.get("/admin/").text
    assert "need a decision" not in staff.get(LABELS).text
    make_label(shop, "unknown")
    make_label(shop, "incomplete")
    make_label(shop, "failed")
    for path in ("/admin/", LABELS, CONTRACTS):
        page = staff.get(path).text
        assert f'href="{LABELS}?decision=needed"' in page
        assert re.search(r"Labels to decide</span>\s*<span[^>]*>\s*2\s*</span>", page)
    assert "2 labels need a decision" in staff.get(LABELS).text
    assert "labels need a decision" not in staff.get(LABELS, {"decision": "needed"}).text


def test_the_list_and_the_page_cost_the_same_for_one_label_and_for_fifty(staff: Client, shop: Shop) -> None:
    label = make_label(shop, "unknown", order_id="7", tracking_numbers=["6A0"])
    paths = (LABELS, f"{LABELS}?q=7", f"{LABELS}{label.id}/change/", CONTRACTS)
    make_contract(shop, "beta")
    for path in paths:
        staff.get(path)  # what is remembered for longer than a request
    costs = [queries(staff, path) for path in paths]
    for number in range(1, 50):
        other = ShopFactory()
        make_contract(other, "alpha")
        token = AccessTokenFactory(shop=other, name="checkout")
        make_label(other, "received", order_id="7", token_id=token.id, tracking_numbers=[f"6A{number}"])
    assert len(listed(staff, q="7")) == 50
    assert [queries(staff, path) for path in paths] == costs
    assert max(costs) <= 10


def test_the_list_reads_neither_pdfs_nor_addresses(staff: Client, shop: Shop) -> None:
    make_label(shop, "received")
    with CaptureQueriesContext(connection) as captured:
        listed(staff)
    for name in ("pdf", "sender", "recipient", "pdf_secret", "error_message"):
        assert not [query for query in captured if f'"{name}"' in query["sql"]]


def test_a_page_reads_no_pdf(staff: Client, shop: Shop) -> None:
    label = make_label(shop, "received")
    with CaptureQueriesContext(connection) as captured:
        page_of(staff, label)
    assert not [query for query in captured if '"pdf"' in query["sql"]]


def test_the_list_counts_no_further_than_it_pages(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "LISTED_AT_MOST", 3)
    for _ in range(5):
        make_label(shop)
    with CaptureQueriesContext(connection) as captured:
        answer = staff.get(LABELS)
    counts = [query["sql"] for query in captured if "COUNT(" in query["sql"]]
    assert counts
    assert all("LIMIT" in sql for sql in counts)
    assert "there are more" in answer.text


# --- The page ---


def test_the_page_tells_the_whole_story(staff: Client, shop: Shop) -> None:
    token = AccessTokenFactory(shop=shop, name="checkout")
    contract = make_contract(shop, "beta")
    label = make_label(
        shop,
        "incomplete",
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
        "23 Sep 2026, 12:00 UTC",
        "23 Sep 2026, 12:01 UTC",
        "23 Sep 2026, 12:02 UTC",
        "by grace",
        "Zoé Œuvrard",
        "Lucie Lumière",
        "29200 Brest",
        "zoe@example.com",
        "checkout",
        f"{CONTRACTS}{contract.id}/change/",
        "voided with the carrier",
    ):
        assert text in page
    assert ">None<" not in page


def test_a_key_that_was_released_is_not_shown_as_none_at_all(staff: Client, shop: Shop) -> None:
    assert "released" in page_of(staff, make_label(shop, "failed", body_digest="ab"))
    assert "released" not in page_of(staff, make_label(shop, "failed"))


def test_a_label_cannot_be_made_changed_or_deleted_even_by_a_superuser(shop: Shop) -> None:
    root = logged_in(is_superuser=True)
    label, contract = make_label(shop, "unknown"), make_contract(shop, "beta")
    for pages, row in ((LABELS, label), (CONTRACTS, contract)):
        for path in ("add/", f"{row.pk}/change/", f"{row.pk}/delete/"):
            assert root.post(pages + path, {"state": "failed", "order_id": "9", "post": "yes"}).status_code == 403
        root.post(pages, {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})
        page = root.get(f"{pages}{row.pk}/change/").text
        assert 'name="_save"' not in page
        assert "/delete/" not in page
    label.refresh_from_db()
    assert (label.state, label.order_id) == ("unknown", "5400001")


def test_labels_are_for_those_who_may_see_them(shop: Shop) -> None:
    label, contract = make_label(shop, "unknown"), make_contract(shop, "beta")
    paths = [LABELS, CONTRACTS, f"{CONTRACTS}{contract.id}/change/"]
    paths += [f"{LABELS}{label.id}/{view}/" for view in ("change", "pdf", "adopt", "not-made", "history")]
    other = logged_in("view_shop", "view_parcel")
    for path in paths:
        assert other.get(path).status_code == 403
        assert client().get(path).headers["Location"].startswith("/admin/login/")
    assert "Labels to decide" not in other.get("/admin/").text


def test_who_may_only_look_cannot_decide(shop: Shop) -> None:
    viewer = logged_in("view_shippinglabel")
    label = make_label(shop, "unknown")
    page = page_of(viewer, label)
    assert "/adopt/" not in page
    assert "/not-made/" not in page
    for decision in ("adopt", "not-made"):
        assert viewer.get(f"{LABELS}{label.id}/{decision}/").status_code == 403
        assert decide(viewer, label, decision, number_1="6A1111").status_code == 403
    label.refresh_from_db()
    assert label.state == "unknown"


def test_no_value_of_a_label_or_a_contract_becomes_markup(staff: Client) -> None:
    shop = ShopFactory(name=HOSTILE)
    token = AccessTokenFactory(shop=shop, name=HOSTILE)
    address = dict.fromkeys(ADDRESS, HOSTILE)
    label = make_label(
        shop,
        "unknown",
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
    contract = make_contract(
        shop, "beta", account_number=HOSTILE[:64], commercial_name=HOSTILE[:35], customs_description=HOSTILE[:64]
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
    label, contract = make_label(shop, "unknown"), make_contract(shop, "beta")
    paths = [LABELS, CONTRACTS, f"{CONTRACTS}{contract.id}/change/"]
    for path in paths + [f"{LABELS}{label.id}/{view}/" for view in ("change", "adopt", "not-made")]:
        page = staff.get(path).text
        sources = re.findall(r'<(?:script|img|iframe|link)\b[^>]*?(?:src|href)="([^"]*)"', page)
        assert f"/static/{path.split('/')[2]}/admin.css" in sources
        for source in sources:
            assert source == "/admin/jsi18n/" or finders.find(source.removeprefix("/static/")), source


@pytest.mark.parametrize("lookup", ["pdf_secret__startswith", "pdf__isnull", "shop__contracts__encrypted_credentials"])
def test_the_list_cannot_be_filtered_by_a_secret(staff: Client, shop: Shop, lookup: str) -> None:
    make_label(shop)
    assert staff.get(LABELS, {lookup: "a"}).status_code == 400


# --- The PDF ---


def test_the_pdf_opens_by_a_url_signed_on_the_click(staff: Client, shop: Shop) -> None:
    label = make_label(shop, tracking_numbers=["6A1111"])
    storage.store(label, a_pdf())
    page = page_of(staff, label)
    assert f'href="{LABELS}{label.id}/pdf/"' in page
    assert label.pdf_secret not in page
    answer = staff.get(f"{LABELS}{label.id}/pdf/")
    assert answer.status_code == 302
    assert answer.headers["Cache-Control"] == "private, no-store"
    opened = client().get(urlsplit(answer.headers["Location"]).path)
    assert opened.content == a_pdf()
    assert_private_pdf(opened, label)


def test_a_pdf_that_was_removed_is_not_offered_and_the_page_says_since_when(staff: Client, shop: Shop) -> None:
    label = make_label(shop, pdf_removed_at=timezone.now(), addresses_removed_at=timezone.now())
    page = page_of(staff, label)
    assert "/pdf/" not in page
    assert ("PDF removed" in page, "Addresses removed" in page) == (True, True)
    assert staff.get(f"{LABELS}{label.id}/pdf/").status_code == 404
    assert "removed" not in page_of(staff, make_label(shop))


def test_a_pdf_that_waits_for_the_storage_opens_too(staff: Client, shop: Shop) -> None:
    label = make_label(shop, "received", pdf=a_pdf())
    answer = staff.get(f"{LABELS}{label.id}/pdf/")
    assert answer.content == a_pdf()
    assert_private_pdf(answer, label)


def assert_private_pdf(answer: Response, label: ShippingLabel) -> None:
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Content-Disposition"] == f'inline; filename="label-{label.id}.pdf"'
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("state", ["purchasing", "failed", "incomplete", "unknown"])
def test_a_label_without_a_pdf_offers_none(staff: Client, shop: Shop, state: str) -> None:
    label = make_label(shop, state)
    assert "/pdf/" not in page_of(staff, label)
    assert staff.get(f"{LABELS}{label.id}/pdf/").status_code == 404
    assert staff.get(f"{LABELS}{new_label_id()}/pdf/").status_code == 404


def test_a_storage_that_is_down_is_told_on_the_page(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage.LabelFolder, "url", out_of_reach)
    answer = staff.get(f"{LABELS}{make_label(shop).id}/pdf/", follow=True)
    assert "The storage can&#x27;t be reached now" in answer.text


def out_of_reach(*args: Any) -> None:
    raise OSError


# --- Decisions ---


def test_parcels_that_were_made_are_adopted_with_the_pdf_from_the_carrier(
    carriers: SandboxServer, staff: Client, own: Caller
) -> None:
    label = bought_unknown(own, "alpha", parcels=2)
    numbers = made(carriers, label)
    assert len(numbers) == 2
    typed = {"number_1": f" {numbers[0][:4]} {numbers[0][4:].lower()}", "number_2": numbers[1]}
    assert "Adopted. The shop can retrieve the label now." in decide(staff, label, "adopt", **typed).text
    label.refresh_from_db()
    assert (label.state, label.tracking_numbers, label.pdf) == ("label_generated", numbers, None)
    assert (label.decided_by, label.error_code, label.error_message) == ("ada", "", "")
    assert label.decided_at
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.user.get_username()) == (label.id, "ada")
    assert entry.change_message == f"Adopted {numbers[0]}, {numbers[1]}; it was unknown."
    assert numbers[0] in staff.get(f"{LABELS}{label.id}/history/").text
    body = own.get(f"{SHIPMENTS}/{label.id}").json()
    assert body["trackingNumber"] == numbers[0]
    assert len(PdfReader(io.BytesIO(download(body["labelUrl"]))).pages) == 2
    replayed = buy(own, "alpha", reference="FAULT RESETMADE", parcels=2)
    assert (replayed.status_code, replayed.json()["id"]) == (201, label.id)
    assert made(carriers, label) == numbers


def download(url: str) -> bytes:
    return client().get(urlsplit(url).path).content


def test_numbers_that_the_carrier_does_not_know_are_not_adopted(
    carriers: SandboxServer, staff: Client, own: Caller
) -> None:
    label = bought_unknown(own, "alpha", "FAULT RESET")
    answer = decide(staff, label, "adopt", number_1="XU000000000FR")
    assert "alpha gave no PDF." in answer.text
    assert "Upload it instead" in answer.text
    label.refresh_from_db()
    assert (label.state, label.tracking_numbers, label.decided_by) == ("unknown", [], "")
    assert not label.is_leased
    assert "Adopted." in decide(staff, label, "adopt", number_1="XU000000000FR", pdf=upload(a_pdf())).text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda contracts: contracts.all().delete(), "The shop has no alpha contract any more"),
        (lambda contracts: contracts.update(encrypted_credentials="x"), "see CREDENTIALS_KEYS"),
    ],
    ids=["gone", "locked"],
)
def test_on_a_contract_that_is_gone_or_locked_the_carrier_is_not_asked(
    change: Callable[[Any], Any], said: str, carriers: SandboxServer, staff: Client, own: Caller
) -> None:
    label = bought_unknown(own, "alpha")
    (number,) = made(carriers, label)
    change(CarrierContract.objects)
    assert said in decide(staff, label, "adopt", number_1=number).text
    label.refresh_from_db()
    assert (label.state, label.decided_by, label.is_leased) == ("unknown", "", False)


def test_parcels_of_a_carrier_that_cannot_be_asked_are_adopted_with_an_uploaded_pdf(
    carriers: SandboxServer, staff: Client, own: Caller
) -> None:
    label = bought_unknown(own, "beta", "FAULT 2 NOLABEL", parcels=2)
    numbers = made(carriers, label)
    page = page_of(staff, label, "adopt")
    assert f'value="{numbers[0]}"' in page
    missing = decide(staff, label, "adopt", number_1=numbers[0], number_2=numbers[1])
    assert "This field is required." in missing.text
    files = [upload(a_pdf()), upload(a_pdf(2))]
    decide(staff, label, "adopt", number_1=numbers[0], number_2=numbers[1], pdf=files)
    body = own.get(f"{SHIPMENTS}/{label.id}").json()
    assert body["status"] == "label_generated"
    pdf = download(body["labelUrl"])
    assert len(PdfReader(io.BytesIO(pdf)).pages) == 3
    assert b"app.alert" not in pdf


def test_what_was_bought_in_part_is_adopted_when_the_rest_was_made_by_hand(
    carriers: SandboxServer, staff: Client, own: Caller
) -> None:
    make_contract(own.shop, "beta")
    assert buy(own, "beta", reference="FAULT 2 30204", parcels=2).status_code == 400
    label = ShippingLabel.objects.get()
    assert label.state == "incomplete"
    decide(staff, label, "adopt", number_1=label.tracking_number, number_2="6A00000000009", pdf=upload(a_pdf(2)))
    assert own.get(f"{SHIPMENTS}/{label.id}").status_code == 200


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"number_1": "6A 1111", "number_2": "6a1111"}, "Each parcel has a tracking number of its own."),
        ({"number_1": "6A1111"}, "This field is required."),
        ({"number_1": "6A1111", "number_2": " "}, "This field is required."),
        ({"number_1": "6A1111", "number_2": "6A-2222"}, "5 to 35 letters and digits"),
        ({"number_1": "6A1111", "number_2": "6A9"}, "5 to 35 letters and digits"),
        ({"number_1": "6A1111", "number_2": "6A9999"}, "6A9999 is a parcel of the label 0RCOTHERLABEL00."),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": None}, "This field is required."),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": b""}, "The submitted file is empty."),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": b"<html>%PDF-1.4"}, "This is no PDF."),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": b"%PDF-1.4 and no more"}, "can&#x27;t be read"),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": b"%PDF-" + b"x" * 10 * MIB}, "more than 10 MiB"),
    ],
)
def test_what_cannot_be_right_is_not_adopted(staff: Client, shop: Shop, data: dict[str, Any], error: str) -> None:
    make_label(shop, id="0RCOTHERLABEL00", tracking_numbers=["6A8888", "6A9999"])
    label = make_label(shop, "unknown", weights_kg=["1", "2"])
    pdf = data.get("pdf", a_pdf())
    files = {} if pdf is None else {"pdf": upload(pdf)}
    answer = decide(staff, label, "adopt", **{**data, "pdf": ""} | files)
    assert error in answer.text
    label.refresh_from_db()
    assert (label.state, label.decided_by) == ("unknown", "")


def test_a_pdf_without_pages_or_behind_a_password_is_refused(staff: Client, shop: Shop) -> None:
    label = make_label(shop, "unknown")
    locked, output = PdfWriter(), io.BytesIO()
    locked.add_blank_page(283, 425)
    locked.encrypt("secret", algorithm="RC4-128")
    locked.write(output)
    for pdf in (a_pdf(0), output.getvalue()):
        assert "can&#x27;t be read" in decide(staff, label, "adopt", number_1="6A1111", pdf=upload(pdf)).text


def test_a_pdf_of_several_megabytes_is_adopted(staff: Client, own: Caller) -> None:
    label = make_label(own.shop, "unknown")
    drawing = random.Random(1).randbytes(5 * MIB)
    assert "Adopted." in decide(staff, label, "adopt", number_1="6A1111", pdf=upload(a_pdf(1, drawing))).text
    (page,) = PdfReader(io.BytesIO(download(own.get(f"{SHIPMENTS}/{label.id}").json()["labelUrl"]))).pages
    contents = page.get_contents()
    assert contents is not None
    assert contents.get_data() == drawing


def test_an_adopted_pdf_waits_when_the_storage_is_down(staff: Client, own: Caller, folder: Path) -> None:
    label = make_label(own.shop, "unknown", idempotency_key="key-1")
    folder.write_text("in the way")
    answer = decide(staff, label, "adopt", number_1="6A1111", pdf=upload(a_pdf()))
    assert "waits for the storage" in answer.text
    assert own.get(f"{SHIPMENTS}/{label.id}").status_code == 404
    assert staff.get(f"{LABELS}{label.id}/pdf/").content.startswith(b"%PDF-")
    folder.unlink()
    assert reconcile() == {"label_generated": 1}
    assert own.get(f"{SHIPMENTS}/{label.id}").json()["trackingNumber"] == "6A1111"


def test_an_adopted_label_may_be_finished_by_a_retry_at_once(
    carriers: SandboxServer, staff: Client, own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought_unknown(own, "beta")

    def keep_and_retry(*args: Any) -> None:
        keep(*args)
        assert buy(own, "beta", reference="FAULT RESETMADE").status_code == 201

    keep = decisions.keep
    monkeypatch.setattr(decisions, "keep", keep_and_retry)
    assert "The shop can retrieve" in decide(staff, label, "adopt", number_1="6A1111", pdf=upload(a_pdf())).text
    label.refresh_from_db()
    assert (label.state, label.tracking_numbers) == ("label_generated", ["6A1111"])


def test_an_adopted_pdf_waits_when_the_database_fails_in_the_end(
    transactional_db: None, staff: Client, own: Caller
) -> None:
    label = make_label(own.shop, "unknown")
    with nothing_finished():
        said = decide(staff, label, "adopt", number_1="6A1111", pdf=upload(a_pdf())).text
    assert "The PDF waits" in said
    assert "can retrieve the label now" not in said
    label.refresh_from_db()
    assert label.state == "received"


def test_marked_as_not_made_the_same_key_buys_again(carriers: SandboxServer, staff: Client, own: Caller) -> None:
    label = bought_unknown(own, "beta", "FAULT HTML502")
    assert buy(own, "beta", reference="FAULT HTML502").json()["code"] == "BETA_OUTCOME_UNKNOWN"
    assert "Marked as not made" in decide(staff, label, "not-made").text
    label.refresh_from_db()
    assert (label.state, label.idempotency_key, label.decided_by) == ("failed", None, "ada")
    assert label.decided_at
    assert label.finished_at
    assert label.finished_at < label.decided_at
    assert LogEntry.objects.get().change_message == "Marked as not made; it was unknown."
    again = buy(own, "beta")
    assert again.status_code == 201
    assert again.json()["id"] != label.id
    assert own.get(f"{SHIPMENTS}/{label.id}").status_code == 404


def test_an_interrupted_purchase_is_decided_when_its_lease_has_ended(staff: Client, shop: Shop) -> None:
    label = make_label(shop, "purchasing", leased_until=lease())
    assert "A process is working on it" in page_of(staff, label)
    assert "Nothing was changed" in decide(staff, label, "not-made").text
    ShippingLabel.objects.update(leased_until=timezone.now())
    assert "Marked as not made" in decide(staff, label, "not-made").text
    label.refresh_from_db()
    assert (label.state, label.finished_at) == ("failed", label.decided_at)


@pytest.mark.parametrize("state", ["received", "label_generated", "failed"])
def test_what_is_over_is_not_decided(staff: Client, shop: Shop, state: str) -> None:
    label = make_label(shop, state, idempotency_key="key-1", tracking_numbers=["6A1111"])
    assert "To decide" not in page_of(staff, label)
    for decision, data in {"not-made": {}, "adopt": {"number_1": "6A2222", "pdf": upload(a_pdf())}}.items():
        assert "nothing left to decide" in page_of(staff, label, decision)
        assert "Nothing was changed" in decide(staff, label, decision, **data).text
    label.refresh_from_db()
    assert (label.state, label.idempotency_key, label.tracking_numbers) == (state, "key-1", ["6A1111"])
    assert not LogEntry.objects.exists()


def test_looking_at_a_question_decides_nothing(staff: Client, shop: Shop) -> None:
    label = make_label(shop, "unknown")
    for method in (staff.get, staff.head):
        for decision in ("adopt", "not-made"):
            assert method(f"{LABELS}{label.id}/{decision}/?number_1=6A1111").status_code == 200
    label.refresh_from_db()
    assert label.state == "unknown"


def test_a_decision_from_another_site_is_refused(staff: Client, shop: Shop) -> None:
    label = make_label(shop, "unknown")
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    browser.cookies = staff.cookies
    for decision in ("adopt", "not-made"):
        assert browser.post(f"{LABELS}{label.id}/{decision}/", {"number_1": "6A1111"}).status_code == 403
    label.refresh_from_db()
    assert label.state == "unknown"


def test_the_second_of_two_decisions_changes_nothing(shop: Shop) -> None:
    label = make_label(shop, "unknown")
    first, second = (User.objects.create_user(name) for name in ("ada", "grace"))
    decisions.mark_as_not_made(label=label, decided_by=first)  # both have read it as unknown
    with pytest.raises(decisions.NotOpenError):
        decisions.adopt(label=label, tracking_numbers=["6A1111"], pdf=a_pdf(), decided_by=second)
    with pytest.raises(decisions.NotOpenError):
        decisions.mark_as_not_made(label=label, decided_by=second)
    label.refresh_from_db()
    assert (label.state, label.decided_by) == ("failed", "ada")
    assert LogEntry.objects.count() == 1


def test_of_two_at_the_same_moment_one_decides(transactional_db: None) -> None:
    shop = ShopFactory()
    users = [User.objects.create_user(name) for name in ("ada", "grace", "joan", "mary")]
    for _ in range(5):
        label = make_label(shop, "unknown")
        acts: list[Callable[[], Any]] = [
            partial(decisions.mark_as_not_made, label=label, decided_by=user) for user in users[:2]
        ]
        adopt = partial(decisions.adopt, label=label, tracking_numbers=[f"6A{label.id}"], pdf=a_pdf())
        acts += [partial(adopt, decided_by=user) for user in users[2:]]
        assert sorted(at_once(acts)) == ["", "NotOpenError", "NotOpenError", "NotOpenError"]
        entry = LogEntry.objects.get(object_id=label.id)
        label.refresh_from_db()
        assert label.decided_by == entry.user.get_username()


def at_once(acts: list[Callable[[], Any]]) -> list[str]:
    """Run these at one moment in threads; tell what each raised."""
    barrier, results = threading.Barrier(len(acts)), [""] * len(acts)

    def run(rank: int) -> None:
        barrier.wait(WAIT_TIMEOUT_S)
        try:
            acts[rank]()
        except Exception as error:  # noqa: BLE001 - it is told
            results[rank] = type(error).__name__
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_TIMEOUT_S)
    return results


def test_nobody_else_decides_or_reconciles_while_the_carrier_is_asked_for_the_pdf(
    carriers: SandboxServer, staff: Client, own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought_unknown(own, "alpha")
    (number,) = made(carriers, label)
    user = User.objects.create_user("grace")
    alpha = clients.client("alpha")
    asked, fetch_label = [], alpha.fetch_label

    def meanwhile(*args: Any) -> bytes:
        with pytest.raises(decisions.NotOpenError):
            decisions.mark_as_not_made(label=label, decided_by=user)
        asked.append(reconcile())
        return fetch_label(*args)

    monkeypatch.setattr(alpha, "fetch_label", meanwhile)
    assert "Adopted." in decide(staff, label, "adopt", number_1=number).text
    assert asked == [{}]


def test_nobody_decides_while_the_reconciliation_asks(staff: Client, shop: Shop) -> None:
    label = make_label(shop, "unknown", carrier_code="alpha", product_code="alpha-18", leased_until=lease())
    page = page_of(staff, label)
    assert "A process is working on it" in page
    assert "/adopt/" not in page
    assert "A process is working on it" in page_of(staff, label, "not-made")
    assert "Nothing was changed" in decide(staff, label, "not-made").text
    label.refresh_from_db()
    assert label.state == "unknown"


@pytest.mark.parametrize(
    ("state", "carrier_code", "leased_for_s"),
    [("unknown", "alpha", 300), ("unknown", "beta", 20), ("incomplete", "beta", 20), ("incomplete", "alpha", 20)],
)
def test_a_decision_need_not_wait_where_nobody_is_at_work(
    staff: Client, shop: Shop, state: str, carrier_code: str, leased_for_s: int
) -> None:
    until = timezone.now() + timedelta(seconds=leased_for_s)
    label = make_label(shop, state, carrier_code=carrier_code, leased_until=until)
    assert "/not-made/" in page_of(staff, label)
    assert "Marked as not made" in decide(staff, label, "not-made").text


# --- Contracts ---


def test_a_contract_is_shown_with_its_products_and_without_its_secret(staff: Client, shop: Shop) -> None:
    contract = make_contract(
        shop,
        "beta",
        products={"beta": None, "beta_point_retrait_france": {"carrier_code": "HD", "service": "1"}},
        commercial_name="Lumière",
    )
    lists, page = staff.get(CONTRACTS).text, staff.get(f"{CONTRACTS}{contract.id}/change/").text
    for text in ("Maison Lumière", "beta", "987654"):
        assert text in lists
        assert text in page
    assert re.search(r"field-product_count[^>]*>\s*2\s*<", lists)
    for text in (
        "Customs value (EUR)",
        "Customs HS code",
        "Pickup point, France",
        "carrier&#x27;s code HD 1",
        "Lumière",
        "configure_carrier lumiere beta",
    ):
        assert text in page
    for secret in ("tournesol", contract.encrypted_credentials, contract.encrypted_credentials[:20]):
        assert secret not in lists + page


def test_contracts_are_found_and_filtered(staff: Client, shop: Shop) -> None:
    make_contract(shop, "alpha")
    beta = make_contract(ShopFactory(name="Nordlicht"), "beta")

    def found(**query: str) -> list[str]:
        return [contract.carrier_code for contract in staff.get(CONTRACTS, query).context["cl"].result_list]

    assert sorted(found()) == ["alpha", "beta"]
    for query in ({"carrier": "beta"}, {"q": "987654"}, {"q": "nordl"}, {"shop__id__exact": beta.shop_id}):
        assert found(**query) == ["beta"]


def test_credentials_are_read_by_no_page_and_filter_no_list(staff: Client, shop: Shop) -> None:
    contract = make_contract(shop, "beta")
    label = make_label(shop, "unknown")
    with CaptureQueriesContext(connection) as captured:
        for path in (CONTRACTS, f"{CONTRACTS}{contract.id}/change/", f"{LABELS}{label.id}/change/"):
            assert staff.get(path).status_code == 200
    assert not [query for query in captured if "encrypted_credentials" in query["sql"]]
    assert staff.get(CONTRACTS, {"encrypted_credentials__startswith": "g"}).status_code == 400


def queries(staff: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert staff.get(path).status_code == 200
    return len(captured)
