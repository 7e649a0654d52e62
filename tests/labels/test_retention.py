"""PDFs, addresses and keys of labels are removed by age; the purchase stays, and so does every key still needed."""

import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from labels.models import OVER, DepositSlip, LabelState, ShippingLabel
from labels.pdfs import storage
from labels.personal_data import retention
from labels.personal_data.columns import REFUSAL
from parcels.models import Parcel
from shops.models import AccessToken
from tests.labels.buckets import Bucket, keep_in
from tests.labels.conftest import Sandbox, row
from tests.labels.factories import PDF, LabelFactory
from tests.labels.orders import RECIPIENT, SENDER, order, post
from tests.labels.urls import fetch
from tests.shops.commands import call
from tests.support.api import Caller, assert_error, client
from tests.support.factories import AccessTokenFactory, ms_ago
from tests.support.paths import SHIPMENTS
from tests.support.processes import run_command
from tests.support.sql import use_indexes
from tests.support.threads import in_threads

GENERATED, FAILED = LabelState.GENERATED, LabelState.FAILED
NOT_OVER = [state for state in LabelState if state not in OVER]
NOTHING = [
    *("0 parcels (kept for ever)", "0 labels' addresses (kept for ever)"),
    *(
        "0 access tokens (kept for ever)",
        "0 webhook deliveries",
        "0 sessions",
        "0 replaced accounts",
        "0 audit entries",
        "0 idempotency keys",
        "0 labels' PDFs (kept for ever)",
    ),
]


def run(*arguments: str) -> list[str]:
    out, err = call("apply_retention", *arguments)
    assert err == ""
    return out.splitlines()


def rows() -> list[dict[str, Any]]:
    return list(ShippingLabel.objects.order_by("id").values())


def finished(days_ago: float) -> None:
    """Let all purchases have ended this many days ago."""
    ShippingLabel.objects.update(finished_at=timezone.now() - timedelta(days=days_ago))


def test_of_labels_only_keys_have_a_time_unless_a_setting_says_otherwise(own: Caller) -> None:
    LabelFactory(shop=own.shop, days_ago=500)
    before = rows()
    assert run() == NOTHING
    assert rows() == before


# --- PDFs ---


def test_old_pdfs_are_removed_and_their_labels_stay(
    kept: str, own: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.KEEP_LABEL_PDFS_DAYS = 30
    old, young = [LabelFactory(shop=own.shop, days_ago=31) for _ in range(3)], LabelFactory(shop=own.shop, days_ago=29)
    assert run("--dry-run")[-1] == "3 labels' PDFs"
    assert {storage.is_stored(label.pdf_key) for label in old} == {True}
    monkeypatch.setattr("config.retention.BATCH_SIZE", 2)
    assert run()[-1] == "3 labels' PDFs"
    assert {storage.is_stored(label.pdf_key) for label in old} == {False}
    assert storage.read(young.pdf_key) == PDF
    assert set(ShippingLabel.objects.filter(pdf_removed_at=None)) == {young}
    assert run()[-1] == "0 labels' PDFs"


def test_a_label_whose_pdf_was_removed_is_retrieved_and_its_url_leads_to_a_404(
    kept: str, buyer: Caller, settings: Settings, sandbox: Sandbox
) -> None:
    settings.KEEP_LABEL_PDFS_DAYS = 2
    created = post(buyer, order(), key="k").json()
    finished(3)
    assert run()[-1] == "1 labels' PDFs"
    retrieved = buyer.get(f"{SHIPMENTS}/{created['id']}")
    assert (retrieved.status_code, retrieved.json() | {"labelUrl": ""}) == (200, created | {"labelUrl": ""})
    replayed = post(buyer, order(), key="k")
    assert (replayed.status_code, replayed["Idempotent-Replayed"], len(sandbox.made())) == (201, "true", 1)
    url = retrieved.json()["labelUrl"]
    assert fetch(url).status == 404
    if kept == "folder":
        assert_error(client().get(url), 404, "This label's PDF is no longer kept.")


def test_nothing_of_a_removed_pdf_is_left_in_the_folder(own: Caller, folder: Path, settings: Settings) -> None:
    settings.KEEP_LABEL_PDFS_DAYS = 30
    label = LabelFactory(shop=own.shop, days_ago=31)
    (folder / "partial" / f"{label.id}.pdf.a1b2c3d4").write_bytes(PDF)
    run()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("state", NOT_OVER)
def test_what_is_not_over_loses_nothing_however_old_it_is(state: LabelState, own: Caller, settings: Settings) -> None:
    settings.KEEP_LABEL_PDFS_DAYS = settings.KEEP_LABEL_ADDRESSES_DAYS = 1
    LabelFactory(shop=own.shop, days_ago=500, state=state, idempotency_key="k", body_digest="d")
    before = rows()
    assert run("--dry-run") == run()
    assert rows() == before


def test_a_key_stays_for_its_own_time_when_the_addresses_go(own: Caller, settings: Settings) -> None:
    settings.KEEP_LABEL_ADDRESSES_DAYS = 5
    label = LabelFactory(shop=own.shop, days_ago=10, idempotency_key="k", body_digest="d")
    failed = LabelFactory(shop=own.shop, days_ago=10, state=FAILED, body_digest="d")  # its key was released at once
    for _ in range(2):  # the next day's run finds the addresses gone
        run()
    failed.refresh_from_db()
    assert failed.body_digest == ""
    label.refresh_from_db()
    assert label.addresses_removed_at is not None
    assert (label.idempotency_key, label.body_digest) == ("k", "d")


def test_the_addresses_time_is_the_pdfs_too_where_that_is_shorter(own: Caller, settings: Settings) -> None:
    settings.KEEP_LABEL_ADDRESSES_DAYS = 30
    for pdf_days in (None, 400):
        settings.KEEP_LABEL_PDFS_DAYS = pdf_days
        LabelFactory(shop=own.shop, days_ago=31)
        assert run()[-1] == "1 labels' PDFs"


def test_a_storage_that_is_down_leaves_the_pdfs_and_an_erased_customers_key_for_the_next_run(
    own: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The runbook: PDFs are removed last, and the rest is gone by then; the key is in the label's receipt too."""
    settings.KEEP_LABEL_ADDRESSES_DAYS = settings.KEEP_TOKENS_DAYS = 30
    erased_at = timezone.now() - timedelta(days=1.5)
    facts = {"idempotency_key": "k", "body_digest": "0" * 64, "addresses_removed_at": erased_at}
    erased = LabelFactory(shop=own.shop, days_ago=2, **facts)
    old = LabelFactory(shop=own.shop, days_ago=31)
    token = AccessTokenFactory(shop=own.shop, expires_at=timezone.now() - timedelta(days=31))
    before = settings.STORAGES
    keep_in(settings, Bucket("http://127.0.0.1:9", "labels").environment, monkeypatch)
    with pytest.raises(CommandError, match="the storage can't be reached"):
        call_command("apply_retention")
    assert "1 labels' addresses" in capsys.readouterr().out
    for label in (erased, old):
        label.refresh_from_db()
    assert (erased.idempotency_key, old.recipient["lastName"], old.pdf_removed_at) == ("k", "", None)
    assert not AccessToken.objects.filter(id=token.id).exists()
    settings.STORAGES = before
    assert run()[-2:] == ["1 idempotency keys", "1 labels' PDFs"]


def test_a_folder_that_is_not_mounted_leaves_the_pdfs_for_the_next_run(
    own: Caller, settings: Settings, folder: Path
) -> None:
    settings.KEEP_LABEL_PDFS_DAYS = 30
    label = LabelFactory(shop=own.shop, days_ago=31)
    elsewhere = folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(CommandError, match=r"the storage can't be reached \(ENOENT\)"):
        call_command("apply_retention")
    elsewhere.rename(folder)
    assert storage.is_stored(label.pdf_key)
    assert run()[-1] == "1 labels' PDFs"
    assert not storage.is_stored(label.pdf_key)


KILLED_BEFORE_THE_SIXTH_IS_RECORDED = """
import os, signal
from config import retention
from django.core.management import call_command
from labels.pdfs import storage
delete, numbers = storage.delete, iter(range(1, 7))
def delete_and_die(name):
    delete(name)
    if next(numbers) == 6:
        os.kill(os.getpid(), signal.SIGKILL)
storage.delete = delete_and_die
retention.BATCH_SIZE = 5
call_command("apply_retention")
"""


def test_a_run_killed_while_it_removes_pdfs_leaves_nothing_half_removed(
    own: Caller, transactional_db: None, folder: Path, settings: Settings
) -> None:
    labels = [LabelFactory(shop=own.shop, days_ago=31) for _ in range(8)]
    how = {"LABELS_DIR": str(folder), "KEEP_LABEL_PDFS_DAYS": "30"}
    code, _, err = run_command("shell", "-v", "0", "-c", KILLED_BEFORE_THE_SIXTH_IS_RECORDED, stdin=b"", **how)
    assert code == -signal.SIGKILL, err
    there = {label.id for label in labels if storage.is_stored(label.pdf_key)}
    removed = set(ShippingLabel.objects.exclude(pdf_removed_at=None).values_list("id", flat=True))
    assert (len(there), len(removed), there & removed) == (2, 5, set())
    settings.KEEP_LABEL_PDFS_DAYS = 30
    assert run()[-1] == "3 labels' PDFs"  # the one at which it was killed is repeated
    assert list(folder.rglob("*.pdf")) == []


# --- Keys ---


def test_a_key_is_kept_for_thirty_days_and_can_buy_again_when_it_is_released(buyer: Caller, sandbox: Sandbox) -> None:
    first = post(buyer, order(), key="k").json()["id"]
    finished(29.99)
    assert run()[-2] == "0 idempotency keys"
    assert post(buyer, order(), key="k").json()["id"] == first
    finished(30.01)
    assert run("--dry-run")[-2] == "1 idempotency keys"
    assert post(buyer, order(), key="k").json()["id"] == first
    assert run()[-2] == "1 idempotency keys"
    second = post(buyer, order(), key="k")
    assert (second.status_code, "Idempotent-Replayed" in second.headers, len(sandbox.made())) == (201, False, 2)
    assert buyer.get(f"{SHIPMENTS}/{first}").status_code == 200


# --- Addresses ---


@pytest.mark.parametrize("state", [GENERATED, FAILED])
def test_old_addresses_are_removed_and_what_was_bought_stays(
    state: LabelState, own: Caller, settings: Settings
) -> None:
    settings.KEEP_LABEL_ADDRESSES_DAYS = 30
    facts = {"reference": "For Zoé", "pickup_point_code": "1234A", "error_message": "Zoé?", "error_code": "X"}
    old = LabelFactory(shop=own.shop, days_ago=31, state=state, tracking_numbers=["N"], **facts)
    young = LabelFactory(shop=own.shop, days_ago=29, state=state, **facts)
    before = {each["id"]: each for each in rows()}
    assert run("--dry-run")[1] == run()[1] == "1 labels' addresses"
    after = {each["id"]: each for each in rows()}
    assert after[young.id] == before[young.id]
    nobody = dict.fromkeys(["firstName", "lastName", "address1", "city", "zip", "phone"], "") | {"countryCode": "FR"}
    removed_at = after[old.id].pop("addresses_removed_at")
    assert abs(removed_at - timezone.now()) < timedelta(minutes=1)
    unchanged = before[old.id].keys() - {"pdf_removed_at", "addresses_removed_at"}
    expected = before[old.id] | {"recipient": nobody | {"email": ""}, "sender": nobody}
    expected |= {"reference": "", "pickup_point_code": "", "error_message": "", "search_words": ""}
    assert "z" + RECIPIENT["zip"] in before[old.id]["search_words"]
    assert {name: after[old.id][name] for name in unchanged} == {name: expected[name] for name in unchanged}
    assert run()[1] == "0 labels' addresses"


def test_a_labels_parcel_goes_at_its_own_age_though_its_addresses_went_before(
    buyer: Caller, settings: Settings
) -> None:
    """The age counts from the last update of carrier or shop: a parcel would stay for twice as long."""
    settings.KEEP_LABEL_ADDRESSES_DAYS, settings.KEEP_PARCELS_DAYS = 30, 45
    number = post(buyer, order()).json()["trackingNumber"]

    def run_after(days: float, **facts: Any) -> str:
        times = {"created_at": ms_ago(60), "last_status_updated_at": ms_ago(days)}
        Parcel.objects.update(**times | {"imported_at": None} | facts)
        finished(days)
        return run()[0]

    assert run_after(31, updated_at=ms_ago(31)) == "0 parcels"
    assert buyer.look_up(number).json()["destination"]["lastName"] == ""
    assert run_after(44.9) == "0 parcels"
    # Its update counts where an import may have been the last one, or no erasure was.
    assert run_after(45.1, imported_at=timezone.now()) == "0 parcels"
    assert run_after(45.1, are_texts_erased=False) == "0 parcels"
    assert run_after(45.1, are_texts_erased=True) == "1 parcels"
    assert buyer.look_up(number).status_code == 404


def test_a_slips_refusal_goes_with_the_addresses_of_its_labels(own: Caller, settings: Settings) -> None:
    """design.md: a carrier's texts are personal data; a refusal may name whom a parcel goes to."""
    settings.KEEP_LABEL_ADDRESSES_DAYS = 30
    for days_ago in (29, 31):
        label = LabelFactory(shop=own.shop, days_ago=days_ago)
        facts = {"label_ids": [label.id], "tracking_numbers": [], "asked_by": "ada", "refusal": f"Zoé {days_ago}?"}
        DepositSlip.objects.create(shop=own.shop, carrier_code="beta", **facts)
    run()
    assert {*DepositSlip.objects.values_list("refusal", flat=True)} == {"Zoé 29?", REFUSAL.left}


def test_the_shops_own_address_stays_on_its_labels(own: Caller, settings: Settings) -> None:
    settings.KEEP_LABEL_ADDRESSES_DAYS = 30
    own.shop.sender_address = SENDER
    own.shop.save()
    LabelFactory(shop=own.shop, days_ago=31)
    run()
    assert row().sender == SENDER


# --- Tokens and sessions ---


def test_tokens_that_expired_or_were_revoked_long_ago_are_removed(own: Caller, settings: Settings) -> None:
    settings.KEEP_TOKENS_DAYS = 30
    old, young = timezone.now() - timedelta(days=31), timezone.now() - timedelta(days=29)
    AccessTokenFactory(shop=own.shop, expires_at=old)
    AccessTokenFactory(shop=own.shop, revoked_at=old)
    staying = [AccessTokenFactory(shop=own.shop, expires_at=young), AccessTokenFactory(shop=own.shop, revoked_at=young)]
    assert run("--dry-run")[2] == run()[2] == "2 access tokens"
    assert set(staying) < set(AccessToken.objects.all())
    assert AccessToken.objects.count() == 3  # and the one that is asked with
    assert own.look_up("x").status_code == 404


def test_expired_sessions_are_removed(db: None) -> None:
    now = timezone.now()
    for name, expires_at in {"old": now - timedelta(seconds=1), "young": now + timedelta(hours=1)}.items():
        Session.objects.create(session_key=name, session_data="", expire_date=expires_at)
    assert run("--dry-run")[4] == run()[4] == "1 sessions"
    assert [session.session_key for session in Session.objects.all()] == ["young"]


# --- Several at once ---


def test_runs_at_once_do_everything_once(own: Caller, transactional_db: None) -> None:
    for number in range(30):
        LabelFactory(shop=own.shop, days_ago=31, idempotency_key=f"k{number}")
    how: dict[str, Any] = {"before": timezone.now() - timedelta(days=30), "batch_size": 4, "is_dry_run": False}
    for remove in (retention.release_keys, retention.remove_addresses, retention.remove_pdfs):
        assert sum(in_threads(3, lambda _, remove=remove: remove(**how))) == 30  # type: ignore[misc]
    assert not ShippingLabel.objects.filter(pdf_removed_at=None).exists()


@pytest.mark.real_services
@pytest.mark.parametrize(
    ("index", "rows_kept"),
    [
        ("label_key_kept", {"state": GENERATED, "idempotency_key__isnull": False}),
        ("label_pdf_kept", {"state": GENERATED, "pdf_removed_at": None}),
        ("label_addresses_kept", {"state__in": [GENERATED, FAILED], "addresses_removed_at": None}),
    ],
)
def test_what_is_old_is_found_along_an_index(index: str, rows_kept: dict[str, Any], own: Caller) -> None:
    use_indexes(sort=False)  # of a few rows a sort costs nothing
    kept_rows = ShippingLabel.objects.filter(finished_at__lt=timezone.now(), **rows_kept).order_by("finished_at")
    plan = kept_rows[:500].explain()
    assert f"Index Scan using {index}" in plan
    assert "Sort" not in plan
