"""Customers' data is declared by column; what is declared is masked, exported and erased, whatever it is."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import cycle
from typing import Any

import orjson
import pytest
from django.apps import apps
from django.db import models
from django.db.models import F
from django.utils import timezone
from django.utils.html import escape

import labels.admin.search
import parcels.admin.search
from carriers.tracking import TrackingAnswer, TrackingEvent
from labels.lifecycle.parcels import new_parcel
from labels.models import DepositSlip, ShippingLabel
from parcels.models import Parcel, TrackingNumber, UnlistedEventCode
from shops.models import Shop
from shops.personal_data import Kind
from shops.staff.pages import page_of
from tests.labels.factories import LabelFactory
from tests.labels.orders import RECIPIENT
from tests.shops.commands import call
from tests.support.api import Caller, Response
from tests.support.canaries import canary, found_in
from tests.support.cases import in_one_test
from tests.support.desk import UNDRAWN, label_of_somebody, member, parcel_of_somebody, person, rows, slip_of_somebody
from tests.support.factories import EventFactory, import_parcel, ms_ago
from tests.support.personal_columns import COLUMNS, OTHERS, table, values
from tests.support.processes import ROOT
from tests.support.tracking import record

pytestmark = [pytest.mark.django_db, pytest.mark.any_database, pytest.mark.usefixtures("no_sidebar")]
OUR_APPS = {"shops", "parcels", "labels"}
EMAIL = "jane.quibble@mail.example"
TEXTS = (models.CharField, models.TextField, models.JSONField, models.BinaryField, models.GeneratedField)


def text_columns(model: type[models.Model]) -> set[str]:
    """The columns that can hold any text: all but numbers, times, choices and references to other rows."""
    fields: Any = model._meta.concrete_fields
    return {field.name for field in fields if isinstance(field, TEXTS) and not field.choices}


def models_of_ours() -> list[type[models.Model]]:
    return [model for model in apps.get_models() if model._meta.app_label in OUR_APPS]


@in_one_test("model", models_of_ours())
def test_each_column_that_can_hold_text_is_declared(model: type[models.Model]) -> None:
    personal, others = COLUMNS.get(model, {}), OTHERS.get(model, {})
    assert personal or others
    assert {*personal, *others} == text_columns(model)
    assert not personal.keys() & others.keys()


def test_the_columns_and_kinds_are_in_the_documents() -> None:
    assert table() in (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def strings(value: Any) -> Iterator[bytes]:
    yield from found_in(orjson.dumps(value, default=lambda each: bytes(each).decode()))


def test_the_world_of_canaries_has_one_in_each_value_that_is_declared() -> None:
    world = rows()
    rows_of = {type(row): row for row in (*world.values(), TrackingNumber.objects.exclude(events=[]).get())}
    shown = ("city", "pickup_point")  # where the parcel goes, which all staff see
    for model, columns in COLUMNS.items():
        for name, part in columns.items():
            for path, value in values(part, name):
                there = at(getattr(rows_of[model], name), path)
                is_shown = any(each in path for each in shown)
                assert is_shown is not value.is_masked
                is_elsewhere = there is None and value.kind == Kind.DOCUMENT  # a label's PDF is in the storage
                assert is_shown or is_elsewhere or isinstance(there, float) or list(strings(there)), (model, path)


def at(value: Any, path: str) -> Any:
    """Return the value at a path such as `items[].name`, whose first name is the value's own."""
    for name in path.replace("[]", ".0").split(".")[1:]:
        value = value[int(name)] if name == "0" else value[name]
    return bytes(value).decode() if isinstance(value, memoryview | bytes) else value


# --- Masks ---


def test_who_may_not_see_customers_finds_none_in_any_search() -> None:
    """No search looks in a declared column; that no page or file shows it is in tests of the roles."""
    world, browsers = rows(), cycle((member("Operations"), member("Reporting")))
    every = (*world.values(), TrackingNumber.objects.exclude(events=[]).get())
    needles = {needle for row in every for needle in of_row(row)}
    assert len(needles) > 50
    boxes = ("/admin/search/", "/admin/parcels/parcel/", "/admin/labels/shippinglabel/")
    echoes = {box: echoed(next(browsers).get(box, {"q": (nobody := canary())}), nobody) for box in boxes}
    for needle in needles:
        for find in (labels.admin.search.SEARCH.find, parcels.admin.search.SEARCH.find):  # of each box
            assert find(needle, is_personal=False).keys == set(), needle
    for needle, box in zip(sorted(needles)[::3], cycle(boxes), strict=False):
        answer = next(browsers).get(box, {"q": needle})
        assert answer.status_code == 200, needle
        assert {each.lower() for each in found_in(answer.content)} <= {needle.lower().encode()}
        assert not hits(answer), (box, needle)
        assert echoed(answer, needle) == echoes[box], (box, needle)  # what was typed, and nothing else


def echoed(answer: Response, text: str) -> int:
    """Count a text in a page, but for addresses of its files and its own, which repeat it in another spelling."""
    return re.sub(r'href="export[^"]*"|name="next" value="[^"]*"', "", answer.text).count(str(escape(text)))


def of_row(row: models.Model) -> set[str]:
    names = COLUMNS.get(type(row), {})
    return {found.decode() for name in names for found in strings(getattr(row, name))}


def hits(answer: Any) -> list[Any]:
    context = answer.context or {}
    return [
        *(context["search"].hits if "search" in context else ()),
        *(context["cl"].result_list if "cl" in context else ()),
    ]


def test_a_carriers_standard_text_is_worded_by_its_code_for_everybody(own: Caller) -> None:
    events = [
        EventFactory(carrierStatusCode="D", status="DELIVERED", label=f"Livre a {canary()}"),
        EventFactory(carrierStatusCode="D", status="EXCEPTION", label=canary()),
        EventFactory(carrierStatusCode="XX", status="IN_TRANSIT", label=canary()),
    ]
    import_parcel(own.shop, id="P1", events=events, carrierCode="alpha")
    label = LabelFactory(shop=own.shop, error_code="ALPHA_ADDRESS_REJECTED", error_message=f"Refused: {canary()}")
    browser = member("Operations")
    page = browser.get("/admin/parcels/parcel/P1/change/").text
    assert page.count("<p>Delivered</p>") == 1
    assert page.count("<p>•••</p>") == 2
    assert (
        "<p>Livraison effectuée</p>"
        in browser.get("/admin/parcels/parcel/P1/change/", headers={"Accept-Language": "fr"}).text
    )
    shown = browser.get(page_of(label)).text
    assert "alpha refuses" in shown or "The carrier refused" in shown or "address" in shown.lower()
    assert found_in((page + shown).encode()) == []


# --- Erasure ---


def run(*arguments: str) -> str:
    return call(*arguments)[0]


def left() -> list[bytes]:
    """Canaries in any table."""
    every = [list(model._base_manager.values()) for model in apps.get_models() if model._meta.managed]
    return found_in(repr(every).encode())


def customer_of(shop: Shop) -> None:
    """Rows with canaries in all that is declared, found by one e-mail."""
    parcel = parcel_of_somebody(shop)
    Parcel.objects.update(customer_email=EMAIL)
    times = {"first_seen_at": timezone.now(), "last_seen_at": timezone.now()}
    row = TrackingNumber.objects.exclude(events=[]).get()
    event = row.events[0] | {"is_listed": False}
    TrackingNumber.objects.filter(pk=row.pk).update(events=[event])
    UnlistedEventCode.objects.create(carrier_code="beta", code=event["code"], text=event["text"], **times)
    label = label_of_somebody(shop, recipient=person() | {"email": EMAIL}, order_id=parcel.order_id)
    slip = slip_of_somebody(shop)
    slip.label_ids = [label.id]
    slip.save()


def test_after_an_erasure_and_a_day_no_table_has_anything_that_is_declared(own: Caller) -> None:
    customer_of(own.shop)
    support = member("Support")
    with UNDRAWN:
        for text in {found.decode() for found in left()}:
            support.get("/admin/search/", {"q": text})
    assert left()
    run("erase_customer", "own", f" {EMAIL.upper()} ")
    erased_at = F("addresses_removed_at") - timedelta(hours=2)
    ShippingLabel.objects.update(finished_at=timezone.now() - timedelta(hours=25), addresses_removed_at=erased_at)
    run("apply_retention")
    assert left() == []
    assert EMAIL not in repr([list(model._base_manager.values()) for model in models_of_ours()]).lower()
    assert DepositSlip.objects.get().refusal == "Refused: the carrier's text is erased."


@pytest.mark.parametrize(
    "later", [{"is_listed": True}, {"text": "to Mrs Quibble next door"}, {"carrier_code": "other"}], ids=str
)
def test_the_text_of_an_unlisted_code_goes_whatever_the_carrier_and_the_shop_told_later(
    later: dict[str, Any], own: Caller
) -> None:
    fields = {"id": "P1", "trackingId": "N1", "trackingNumbers": ["N1"], "customerEmail": EMAIL, "events": []}
    import_parcel(own.shop, carrierCode="beta", **fields)
    tell: dict[str, Any] = {"is_listed": False, "text": "to Mrs Quibble"}
    now = timezone.now()
    for told in (tell, tell | later):
        if carrier_code := told.pop("carrier_code", ""):
            import_parcel(own.shop, carrierCode=carrier_code, **fields)
        event = TrackingEvent("N1", "ZZ", now, place="", status=None, **told)
        record("P1", [TrackingAnswer("N1", is_known=True, events=(event,))], now=now)
    assert UnlistedEventCode.objects.get().text == "to Mrs Quibble"
    run("erase_customer", "own", EMAIL)
    assert UnlistedEventCode.objects.get().text == ""


def test_an_export_has_all_that_an_erasure_removes(own: Caller) -> None:
    customer_of(own.shop)
    held = json.loads(run("export_customer", "own", EMAIL))
    declared = {(Parcel, "parcels"), (TrackingNumber, "trackingNumbers"), (ShippingLabel, "labels")}
    for model, name in declared:
        held_needles = {found.decode() for found in found_in(json.dumps(held[name]).encode())}
        missing = set().union(*map(of_row, model._base_manager.all())) - held_needles
        assert missing == set(), name


def test_a_customer_is_found_from_the_label_by_number_and_order(own: Caller, other: Caller) -> None:
    label = LabelFactory(shop=own.shop, tracking_numbers=["N1"], order_id="O1", recipient=RECIPIENT | {"email": EMAIL})
    import_parcel(
        own.shop,
        id="by-number",
        orderId="O2",
        trackingId="N1",
        customerEmail=None,
        previousEmails=[],
        createdAt=ms_ago(),
    )
    import_parcel(own.shop, id="by-order", orderId="O1", trackingId="N2", customerEmail=None, previousEmails=[])
    import_parcel(own.shop, id="by-its-order", orderId="O2", trackingId="N3", customerEmail=None, previousEmails=[])
    import_parcel(own.shop, id="another", orderId="O3", trackingId="N4", customerEmail=None, previousEmails=[])
    import_parcel(other.shop, id="foreign", orderId="O1", trackingId="N1", customerEmail=None, previousEmails=[])
    assert run("erase_customer", "own", EMAIL, "--dry-run").splitlines() == ["3 parcels", "1 label", "1 PDF"]
    run("erase_customer", "own", EMAIL)
    names = {parcel.id: parcel.destination["lastName"] for parcel in Parcel.objects.all()}
    assert {name for name, last_name in names.items() if last_name} == {"another", "foreign"}
    label.refresh_from_db()
    assert label.recipient["lastName"] == ""


def test_whoever_had_a_number_before_it_was_given_out_again_is_another_customer(own: Caller) -> None:
    """beta.md: numbers are reused after about 13 months, so a number alone is no permanent key."""
    for name, email, days in (("before", EMAIL, 420), ("same", None, 415), ("after", "else@mail.example", 5)):
        facts = {"orderId": name, "customerEmail": email, "createdAt": ms_ago(days), "updatedAt": ms_ago(days)}
        import_parcel(own.shop, id=name, trackingId="N1", previousEmails=[], **facts)
    again = RECIPIENT | {"email": "else@mail.example"}
    LabelFactory(shop=own.shop, tracking_numbers=["N1"], order_id="again", recipient=again)
    held = json.loads(run("export_customer", "own", EMAIL))
    assert [each["id"] for each in held["parcels"]] == ["before", "same"]
    assert held["labels"] == []
    assert run("erase_customer", "own", EMAIL).splitlines() == ["2 parcels", "0 labels", "0 PDFs"]
    assert run("erase_customer", "own", "else@mail.example").splitlines()[:2] == ["1 parcel", "1 label"]


def test_who_sent_something_back_is_a_customer_too(own: Caller) -> None:
    LabelFactory(
        shop=own.shop, sender=RECIPIENT | {"email": EMAIL}, recipient=RECIPIENT | {"email": "shop@mail.example"}
    )
    assert run("erase_customer", "own", EMAIL).splitlines()[1] == "1 label"


def test_a_labels_reference_is_no_order_number(own: Caller) -> None:
    """It is free text, and a parcel's order number is in the API, lists and webhooks."""
    label = LabelFactory(shop=own.shop, reference="Cadeau Jane Quibble", tracking_numbers=["N1"])
    assert new_parcel(label, {}).order_number == ""
