"""A customer is erased on request: nothing of the person is left, and the record of the purchase stays."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any
from unittest.mock import Mock

import orjson
import pytest
from django.apps import apps
from django.core.management import CommandError
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from labels.lifecycle import cancelling, decisions, parcels
from labels.lifecycle.reconciling import reconcile
from labels.models import OVER, LabelState, ShippingLabel
from labels.pdfs import receipts, storage
from labels.personal_data import erasure as label_erasure
from parcels.models import Parcel
from parcels.personal_data import erasure
from parcels.serializers import ImportedParcelSerializer
from shops.models import Shop
from tests.labels.buckets import Bucket, keep_in
from tests.labels.conftest import Sandbox
from tests.labels.factories import LabelFactory
from tests.labels.gates import DEADLINE_S, during
from tests.labels.orders import RECIPIENT, SENDER, order, post
from tests.shops.commands import call, refused, run_here
from tests.support.api import Caller
from tests.support.cases import in_one_test
from tests.support.factories import DestinationFactory, EventFactory, LineItemFactory, import_parcel
from tests.support.paths import SHIPMENTS
from tests.support.sql import execute, use_indexes
from tests.support.threads import STEP_ASIDE_S, Elsewhere

EMAIL = "Canary.Person@example.com"
NOT_OVER = [state for state in LabelState if state not in OVER]
NOTHING = ["0 parcels", "0 labels", "0 PDFs"]
# The person, wherever a shop or a carrier may write of them.
PERSON = {
    **{name: f"canary {name}" for name in ("firstName", "lastName", "name", "company", "address1", "address2")},
    **{name: f"canary {name}" for name in ("city", "zip")},
    "phone": "+33600000001",
    "latitude": 48.111111,
    "longitude": -4.222222,
}
TRACES = ["canary", "33600000001", "48.111111", "4.222222"]


def run(*arguments: str) -> list[str]:
    out, err = call("erase_customer", *arguments)
    assert err == ""
    return out.splitlines()


def parcel_of_the_person(shop: Shop, **fields: Any) -> dict[str, Any]:
    picture = "https://cdn.example.com/canary.jpg"
    article = {"name": "Mug for canary", "imageUrl": picture, "metadata": {"engraving": "canary"}}
    canary = {
        "customerEmail": EMAIL,
        "customerLocale": "canary-FR",
        "previousEmails": ["canary@example.org"],
        "giftConfig": {"message": "canary"},
        "crossSellRecommendations": ["canary"],
        "destination": DestinationFactory(**PERSON),
        "lineItems": [LineItemFactory(**article)],
        "events": [EventFactory(label="Handed to canary", notifications=[{"to": "canary"}])],
        "carrierLastStatus": {"code": "B10", "description": "Handed to canary", "date": 1_790_000_000_000},
    }
    return import_parcel(shop, **canary | fields)


def label_of_the_person(shop: Shop, **fields: Any) -> ShippingLabel:
    person = {name: PERSON.get(name, "") for name in RECIPIENT} | {"countryCode": "FR", "email": EMAIL}
    item = {"description": "canary", "quantity": 1, "unitValue": "9.5", "weight": "0.1"}
    customs = {"items": [item], **dict.fromkeys(("invoiceNumber", "eori", "comments"), "canary")}
    notes = {"reference": "for canary", "error_message": "canary?", "pickup_point_code": "CANAR", "customs": customs}
    return LabelFactory(shop=shop, **{"recipient": person, **notes} | fields)


def everything() -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables."""
    models = [model for model in apps.get_models() if model._meta.managed]
    return {model._meta.label: list(model._base_manager.order_by("pk").values()) for model in models}


def found_words() -> dict[str, str]:
    """The words that each parcel and label is found by."""
    rows = [*Parcel.objects.values_list("id", "search_words"), *ShippingLabel.objects.values_list("id", "search_words")]
    return dict(rows)


def data() -> dict[str, list[dict[str, Any]]]:
    """All rows but those of the audit log, which grow with each command."""
    return {name: rows for name, rows in everything().items() if name != "shops.AuditEntry"}


def traces() -> list[str]:
    text = str(everything()).lower()
    return [trace for trace in TRACES if trace in text]


def test_nothing_of_the_person_is_left_and_the_rest_is(kept: str, own: Caller, other: Caller) -> None:
    parcel = parcel_of_the_person(own.shop)
    label = label_of_the_person(own.shop, tracking_numbers=["N1"])
    failed = label_of_the_person(own.shop, state="failed")
    bystander, bystanders_label = import_parcel(own.shop), LabelFactory(shop=own.shop, order_id="another")
    assert traces() == TRACES
    before = data()
    assert run("own", EMAIL, "--dry-run") == ["1 parcel", "2 labels", "1 PDF"]
    assert data() == before
    assert storage.is_stored(label.pdf_key)

    assert all(found_words().values())
    assert run("own", EMAIL) == ["1 parcel", "2 labels", "1 PDF"]
    assert traces() == []
    assert {key for key, words in found_words().items() if words} == {bystander["id"], bystanders_label.id}
    assert not storage.is_stored(label.pdf_key)
    assert own.look_up(bystander["trackingId"]).json() == bystander
    assert storage.is_stored(bystanders_label.pdf_key)
    answer = own.look_up(parcel["trackingId"]).json()
    nobody = dict.fromkeys(PERSON, "") | {"address2": None, "latitude": None, "longitude": None}
    assert answer == parcel | {
        "destination": parcel["destination"] | nobody,
        "lineItems": [parcel["lineItems"][0] | {"name": "", "imageUrl": "https://cdn.example.com/", "metadata": None}],
        "events": [parcel["events"][0] | {"label": "", "notifications": []}],
        "carrierLastStatus": parcel["carrierLastStatus"] | {"description": ""},
        "updatedAt": answer["updatedAt"],
    }
    assert answer["updatedAt"] > parcel["updatedAt"]
    assert own.search(email=EMAIL).json() == []
    retrieved = own.get(f"{SHIPMENTS}/{label.id}").json()
    assert (retrieved["trackingNumber"], retrieved["weight"]) == ("N1", 1.25)
    assert ShippingLabel.objects.get(id=failed.id).recipient["countryCode"] == "FR"
    assert ShippingLabel.objects.filter(id=label.id, customs__items__0__unitValue="9.5").exists()
    assert run("own", EMAIL) == NOTHING
    assert other.look_up(parcel["trackingId"]).status_code == 404


def test_the_public_shape_of_an_erased_parcel_is_one_that_could_be_imported(own: Caller) -> None:
    parcel = parcel_of_the_person(own.shop)
    run("own", EMAIL)
    answer = own.look_up(parcel["trackingId"]).json()
    ImportedParcelSerializer().run_validation(answer)
    assert list(answer) == list(parcel)
    assert list(answer["destination"]) == list(parcel["destination"])


@pytest.mark.parametrize("spelling", [EMAIL, EMAIL.lower(), EMAIL.upper()])
def test_upper_and_lower_case_make_no_difference(spelling: str, own: Caller) -> None:
    parcel_of_the_person(own.shop)
    parcel_of_the_person(own.shop, customerEmail=None, previousEmails=["x@example.com", EMAIL.swapcase()])
    label_of_the_person(own.shop)
    assert run("own", spelling) == ["2 parcels", "1 label", "1 PDF"]
    assert traces() == []


@pytest.mark.parametrize("address", ["aéb@example.com", "AÉB@example.com", "ß@example.com", "ﬁ@example.com"])
def test_an_address_with_other_letters_is_found_as_it_is(address: str, own: Caller) -> None:
    import_parcel(own.shop, customerEmail=address)
    assert run("own", address)[0] == "1 parcel"


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\u00a0"])
def test_an_address_that_was_imported_with_blanks_around_it_is_found(blank: str, own: Caller) -> None:
    parcel_of_the_person(own.shop, customerEmail=f"{EMAIL}{blank}")
    parcel_of_the_person(own.shop, customerEmail=f"{blank}{EMAIL}", previousEmails=[])
    parcel_of_the_person(own.shop, customerEmail=None, previousEmails=["x@example.com", f"{blank}{EMAIL}{blank}"])
    assert run("own", EMAIL)[0] == "3 parcels"
    assert traces() == []


@in_one_test(
    "another",
    ["xcanary.person@example.com", "canary.person@example.com.br", "canary_person@example.com", "canary%", "", None],
)
def test_a_similar_address_is_another_customers(another: str | None, own: Caller) -> None:
    import_parcel(own.shop, customerEmail=another, previousEmails=[another or ""])
    LabelFactory(shop=own.shop, order_id="another", recipient=RECIPIENT | {"email": another or ""})
    before = data()
    assert run("own", EMAIL) == run("own", "canary.perso_@example.com") == run("own", "%") == NOTHING
    assert data() == before


@pytest.mark.parametrize(
    "earlier", ['a"b@example.com', "a\\b@example.com", "é@example.com", "a_b@example.com", "a%b@x.y"]
)
def test_an_earlier_address_of_any_characters_is_found(earlier: str, own: Caller) -> None:
    import_parcel(own.shop, customerEmail="now@example.com", previousEmails=["x", earlier])
    import_parcel(own.shop, customerEmail="else@example.com", previousEmails=[earlier.replace("_", "-") + "x"])
    assert run("own", earlier) == ["1 parcel", "0 labels", "0 PDFs"]
    assert Parcel.objects.filter(customer_email="now@example.com").count() == 0
    assert Parcel.objects.filter(customer_email="else@example.com").count() == 1


def test_another_shops_customer_of_the_same_address_stays(own: Caller, other: Caller) -> None:
    parcel, label = parcel_of_the_person(other.shop), label_of_the_person(other.shop)
    before = data()
    assert run("own", EMAIL) == NOTHING
    assert data() == before
    assert storage.is_stored(label.pdf_key)
    assert [found["id"] for found in other.search(email=EMAIL).json()] == [parcel["id"]]


def test_a_label_for_the_customers_order_is_theirs_without_an_address_too(own: Caller, other: Caller) -> None:
    parcel = parcel_of_the_person(own.shop)
    theirs = label_of_the_person(own.shop, order_id=parcel["orderId"], recipient=RECIPIENT | {"email": ""})
    back = LabelFactory(shop=own.shop, order_id=parcel["orderId"], sender=SENDER, recipient=RECIPIENT)
    foreign = LabelFactory(shop=other.shop, order_id=parcel["orderId"])
    assert run("own", EMAIL) == ["1 parcel", "2 labels", "2 PDFs"]
    for label in (theirs, back):
        label.refresh_from_db()
        assert {*label.recipient.values(), *label.sender.values()} == {"", "FR"}
    foreign.refresh_from_db()
    assert (foreign.recipient, foreign.addresses_removed_at) == (RECIPIENT, None)


def test_a_cancelled_label_is_erased_with_its_pdf(own: Caller) -> None:
    label = label_of_the_person(own.shop)
    ShippingLabel.objects.update(state=LabelState.CANCELLED)
    assert run("own", EMAIL) == ["0 parcels", "1 label", "1 PDF"]
    assert traces() == []
    assert not storage.is_stored(label.pdf_key)


@pytest.mark.parametrize("state", NOT_OVER)
def test_a_label_that_is_not_over_leaves_everything_as_it_is(state: LabelState, own: Caller) -> None:
    parcel = parcel_of_the_person(own.shop)
    over = label_of_the_person(own.shop)
    waiting = label_of_the_person(own.shop, state=state, order_id=parcel["orderId"])
    before = everything()
    for arguments in (["own", EMAIL], ["own", EMAIL, "--dry-run"]):
        said = f"nothing was changed: settle or decide these labels first: {waiting.id}"
        assert refused("erase_customer", *arguments) == said
    assert everything() == before
    assert storage.is_stored(over.pdf_key)


def test_a_key_younger_than_a_day_still_never_buys_again(buyer: Caller, sandbox: Sandbox) -> None:
    created = post(buyer, order(), key="k").json()
    email = order()["destinationAddress"]["email"]
    assert run("own", email) == ["1 parcel", "1 label", "1 PDF"]
    replayed = post(buyer, order(), key="k")
    assert (replayed.status_code, replayed.json()["id"], len(sandbox.made())) == (201, created["id"], 1)
    ShippingLabel.objects.update(finished_at=timezone.now() - timedelta(hours=25), recipient=RECIPIENT)
    run("own", email)
    label = ShippingLabel.objects.get()
    assert (label.idempotency_key, label.body_digest) == (None, "")


def test_a_storage_that_is_down_leaves_every_row_as_it_is(
    own: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel_of_the_person(own.shop)
    label_of_the_person(own.shop)
    kept_before, before = settings.STORAGES, everything()
    keep_in(settings, Bucket("http://127.0.0.1:9", "labels").environment, monkeypatch)
    with pytest.raises(
        CommandError, match=r"the storage can't be reached \(EndpointConnectionError\): .* run it again"
    ):
        run("own", EMAIL)
    assert everything() == before
    settings.STORAGES = kept_before
    assert run("own", EMAIL) == ["1 parcel", "1 label", "1 PDF"]
    assert traces() == []


def test_a_storage_that_goes_down_meanwhile_leaves_every_row_as_it_is(
    own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel_of_the_person(own.shop)
    label_of_the_person(own.shop)
    before = everything()
    with monkeypatch.context() as patch:
        patch.setattr(storage, "delete", Mock(side_effect=storage.StorageError("EIO")))
        with pytest.raises(CommandError, match=r"can't be reached \(EIO\): only some PDFs were removed; run it again"):
            run("own", EMAIL)
    assert everything() == before
    assert run("own", EMAIL) == ["1 parcel", "1 label", "1 PDF"]


def test_a_run_broken_off_after_the_pdfs_is_finished_by_the_next(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    parcel_of_the_person(own.shop)
    label_of_the_person(own.shop, recipient=RECIPIENT, order_id=parcel_of_the_person(own.shop)["orderId"])

    with monkeypatch.context() as patch:
        patch.setattr("labels.personal_data.erasure.remainder", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run("own", EMAIL)
    assert Parcel.objects.filter(customer_email=EMAIL).count() == 2  # parcels come with the labels, or not at all
    assert run("own", EMAIL) == ["2 parcels", "1 label", "0 PDFs"]
    assert traces() == []


def test_an_erasure_that_can_not_be_put_on_record_is_not_made(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    parcel_of_the_person(own.shop)
    with monkeypatch.context() as patch:
        patch.setattr("config.customers.record", Mock(side_effect=OperationalError("the database is away")))
        with pytest.raises(OperationalError):
            run("own", EMAIL)
    assert len(own.search(email=EMAIL).json()) == 1
    assert run("own", EMAIL) == ["1 parcel", "0 labels", "0 PDFs"]


def test_a_later_import_brings_the_customer_back_until_they_are_erased_again(own: Caller) -> None:
    parcel = parcel_of_the_person(own.shop)
    run("own", EMAIL)
    parcel_of_the_person(own.shop, id=parcel["id"])
    assert len(own.search(email=EMAIL).json()) == 1
    assert run("own", EMAIL) == ["1 parcel", "0 labels", "0 PDFs"]


@pytest.mark.real_services
def test_an_erasure_behind_an_import_erases_what_that_brings(transactional_db: None, own: Caller) -> None:
    label_of_the_person(own.shop)
    erasing = Elsewhere(lambda: run("own", EMAIL))
    with transaction.atomic():
        parcel_of_the_person(own.shop)
        erasing.begin()
    erasing.join()
    assert traces() == []


def buy(buyer: Caller) -> None:
    post(buyer, order(destination={"email": EMAIL}))


def decide(buyer: Caller) -> None:
    label = label_of_the_person(buyer.shop, state=LabelState.UNKNOWN, days_ago=1)
    decisions.mark_as_not_made(label=label)


def settle(buyer: Caller) -> None:
    label_of_the_person(buyer.shop, state=LabelState.UNKNOWN, days_ago=1)
    reconcile()


@pytest.mark.parametrize("end", [buy, decide, settle])
def test_a_receipt_that_the_end_of_a_purchase_still_writes_keeps_nobody(
    end: Callable[[Caller], None], transactional_db: None, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, write = Event(), receipts.write

    def slowly(label: ShippingLabel, **how: bool) -> None:
        if label.state in OVER and not label.addresses_removed_at:
            is_over.set()
            sleep(1)
        write(label, **how)

    monkeypatch.setattr(receipts, "write", slowly)
    ending = Elsewhere(lambda: end(buyer))
    ending.begin()
    assert is_over.wait(DEADLINE_S)
    assert run("own", EMAIL)[1] == "1 label"
    ending.join()
    label = ShippingLabel.objects.get()
    receipt = receipts.read(label.id)
    assert receipt
    assert (receipt.state, receipt.recipient["email"]) == (label.state, "")
    assert len((storage.read(receipts.name(label.id)) or b"").split()) == 1


def test_a_pdf_that_a_purchase_still_stores_keeps_nobody(
    transactional_db: None, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same order, repeated meanwhile, has stored it and was answered."""
    body, is_waiting = order(destination={"email": EMAIL}), Event()
    erasing = Elsewhere(lambda: run("own", EMAIL))
    during(monkeypatch, label_erasure, "await_receipts", before=lambda _: is_waiting.set())

    def repeat_and_erase(*_: Any) -> None:
        assert post(buyer, body, key="k").status_code == 201
        erasing.begin()
        assert is_waiting.wait(DEADLINE_S)

    during(monkeypatch, storage, "store", before=repeat_and_erase)
    assert post(buyer, body, key="k").status_code == 201
    erasing.join()
    label = ShippingLabel.objects.get()
    assert label.pdf_removed_at
    assert not storage.is_stored(label.pdf_key)


@pytest.mark.real_services
def test_the_receipt_of_a_label_that_is_cancelled_before_its_row_is_erased_keeps_nobody(
    transactional_db: None, own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = label_of_the_person(own.shop)
    cancel = Elsewhere(lambda: cancelling.cancel(label))

    def cancel_first(_: object) -> None:
        cancel.begin()
        cancel.join()

    during(monkeypatch, label_erasure, "erase", before=cancel_first)
    assert run("own", EMAIL)[1] == "1 label"
    receipt = receipts.read(label.id)
    assert receipt
    assert (receipt.state, receipt.recipient["email"]) == (LabelState.CANCELLED, "")


@pytest.mark.real_services
def test_an_erasure_does_not_deadlock_with_the_cancellation_of_a_surplus_parcel_that_two_imports_name(
    transactional_db: None, own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = label_of_the_person(own.shop, surplus_numbers=["N9"], pdf_removed_at=timezone.now())
    now_ms = round(label.created_at.timestamp() * 1000)
    for parcel_id in ("P1", "P2"):
        import_parcel(own.shop, id=parcel_id, trackingId="N9", trackingNumbers=["N9"], createdAt=now_ms)
    is_erasing = Event()
    erasing = Elsewhere(lambda: run("own", EMAIL))
    during(monkeypatch, label_erasure, "erase", before=lambda _: is_erasing.set())

    def begin(*_: object) -> None:
        erasing.begin()
        assert is_erasing.wait(DEADLINE_S)
        sleep(STEP_ASIDE_S)  # the erasure waits for the label's row, which this one has

    during(monkeypatch, parcels, "are_held", before=begin)
    cancelling.record_cancelled(label, "N9")
    erasing.join()
    assert ShippingLabel.objects.get().cancelled_numbers == ["N9"]
    assert traces() == []


@pytest.mark.parametrize("link", ["customerEmail", "orderId", "trackingId"])
def test_an_erasure_erases_what_is_imported_while_pdfs_are_removed(
    link: str, own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = label_of_the_person(own.shop, tracking_numbers=["N1"])
    known = parcel_of_the_person(own.shop, orderId=label.order_id) | {"customerEmail": EMAIL}
    later = {"customerEmail": "other@example.com", "previousEmails": [], "id": "later", link: known[link]}
    during(monkeypatch, label_erasure, "await_receipts", before=lambda _: parcel_of_the_person(own.shop, **later))
    assert run("own", EMAIL)[0] == "2 parcels"
    assert traces() == []


def test_an_erasure_erases_a_label_that_is_bought_of_the_same_order_meanwhile(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the customer's fields from the order's parcel, whoever it is sent to."""
    order_id = parcel_of_the_person(buyer.shop)["orderId"]
    during(monkeypatch, label_erasure, "await_receipts", before=lambda _: post(buyer, order(orderId=order_id)))
    assert run("own", EMAIL) == ["2 parcels", "1 label", "1 PDF"]
    assert traces() == []


def test_a_label_that_the_shop_begins_to_cancel_meanwhile_leaves_every_row_as_it_is(
    own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = label_of_the_person(own.shop)
    parcel_of_the_person(own.shop, orderId=label.order_id)
    monkeypatch.setattr("labels.personal_data.erasure.await_receipts", lambda _: cancelling.begin(label))
    said = f"only some PDFs were removed: settle or decide these labels first: {label.id}"
    assert refused("erase_customer", "own", EMAIL) == said
    assert not storage.is_stored(label.pdf_key)
    assert ShippingLabel.objects.get().recipient["email"] == Parcel.objects.get().customer_email == EMAIL


def test_more_than_a_batch_of_parcels_and_labels_is_erased(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shops.db.bulk.BATCH_SIZE", 4)
    for number in range(10):
        import_parcel(own.shop, customerEmail=EMAIL, orderId=f"order-{number}")
        LabelFactory(shop=own.shop, order_id=f"order-{number}", state="failed")
    assert run("own", EMAIL) == ["10 parcels", "10 labels", "0 PDFs"]
    assert not Parcel.objects.exclude(customer_email=None).exists()
    assert not ShippingLabel.objects.filter(addresses_removed_at=None).exists()


@pytest.mark.parametrize("arguments", [("absent", EMAIL), ("", EMAIL), ("own", ""), ("own", " ")])
def test_bad_input_is_one_line_and_changes_nothing(arguments: tuple[str, str], own: Caller) -> None:
    parcel_of_the_person(own.shop)
    before = everything()
    assert EMAIL not in refused("erase_customer", *arguments)
    assert everything() == before


@pytest.mark.any_database
def test_the_command_tells_counts_and_never_the_customer(own: Caller, transactional_db: None, folder: Path) -> None:
    parcel_of_the_person(own.shop)
    code, out, err = run_here("erase_customer", "own", EMAIL)
    assert (code, out, err) == (0, "1 parcel\n0 labels\n0 PDFs\n", "")


def test_an_export_holds_all_that_an_erasure_removes_and_nothing_of_others(
    own: Caller, other: Caller, folder: Path
) -> None:
    mine = parcel_of_the_person(own.shop)
    import_parcel(own.shop, customerEmail="somebody@example.com", orderId="another")
    parcel_of_the_person(other.shop)
    label = LabelFactory(shop=own.shop, recipient=RECIPIENT | {"email": EMAIL})
    held = orjson.loads(call("export_customer", "own", EMAIL.lower())[0])
    assert [parcel["id"] for parcel in held["parcels"]] == [mine["id"]]
    assert [(found["id"], "pdf" in found) for found in held["labels"]] == [(label.id, False)]
    assert held["pdfs"] == [label.pdf_key]
    assert held["parcels"][0]["destination"]["phone"] == PERSON["phone"]
    assert "EMAIL" in refused("export_customer", "own", " ")


@pytest.mark.real_services
def test_an_earlier_address_is_looked_for_among_the_few_parcels_that_have_one(own: Caller) -> None:
    for number in range(100):
        import_parcel(own.shop, orderId=str(number), previousEmails=[EMAIL] if number == 7 else [])
    with CaptureQueriesContext(connection) as captured:
        assert len(erasure.parcels_of("own", EMAIL)) == 1
    use_indexes()
    execute("ANALYZE parcels_parcel")  # the statistics choose the index: not those of an earlier test
    assert "parcel_previous_emails" in str(execute(f"EXPLAIN {captured.captured_queries[1]['sql']}"))
