"""Erasures outlive a backup: `recover` repeats those that a restored database lost, and no more."""

from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.utils import timezone
from pytest_django.fixtures import Settings

from labels import ids
from labels.models import LabelState, ShippingLabel
from labels.pdfs import storage
from parcels.models import Parcel
from tests.labels.factories import PDF, LabelFactory
from tests.labels.interruptions import moment
from tests.labels.orders import RECIPIENT
from tests.labels.test_recovering import recover
from tests.shops.commands import call
from tests.support.api import Caller
from tests.support.factories import import_parcel

EMAIL = RECIPIENT["email"]


def erase(caller: Caller) -> None:
    call("erase_customer", caller.shop.id, EMAIL)


def test_an_erasure_after_the_moment_is_repeated(own: Caller) -> None:
    parcel, other = import_parcel(own.shop, customerEmail=EMAIL), import_parcel(own.shop)
    label = LabelFactory(shop=own.shop)
    restore = moment()
    erase(own)
    restore()
    storage.store(label, b"%PDF- of an older copy")
    assert recover("--dry-run") == ["1 labels erased again", "1 parcels erased again"]
    assert recover() == ["1 labels erased again", "1 parcels erased again", "0 labels reconciled"]
    assert Parcel.objects.get(id=parcel["id"]).customer_email is None
    assert Parcel.objects.get(id=other["id"]).customer_email
    assert ShippingLabel.objects.get().recipient["email"] == ""
    assert not storage.is_stored(label.pdf_key)
    assert recover() == ["0 labels reconciled"]


def test_what_a_copy_of_the_storage_has_left_is_no_erasure(own: Caller, folder: Path) -> None:
    import_parcel(own.shop, customerEmail=EMAIL)
    restore = moment()
    erase(own)
    (entry,) = (folder / "erasures").glob("*/*/*")
    (entry.parent / f".{entry.name}.x7Hs3a").write_bytes(entry.read_bytes()[:40])
    restore()
    assert recover() == ["1 parcels erased again", "0 labels reconciled"]


def test_what_an_import_has_brought_since_is_not_touched(own: Caller) -> None:
    parcel = import_parcel(own.shop, customerEmail=EMAIL)
    erase(own)
    import_parcel(own.shop, id=parcel["id"], customerEmail=EMAIL)
    LabelFactory(shop=own.shop, created_at=timezone.now() + timedelta(seconds=1))
    assert recover() == ["0 labels reconciled"]
    assert Parcel.objects.get().customer_email == EMAIL
    assert ShippingLabel.objects.get().recipient["email"] == EMAIL


class HourBehind(datetime):
    """The clock of a host that is an hour behind the database's."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "HourBehind":
        return super().now(tz) - timedelta(hours=1)


def test_the_later_of_two_erasures_is_repeated_whatever_its_hosts_clock_says(
    own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel = import_parcel(own.shop, customerEmail=EMAIL)
    erase(own)
    import_parcel(own.shop, id=parcel["id"], customerEmail=EMAIL)
    restore = moment()
    monkeypatch.setattr(ids, "datetime", HourBehind)
    erase(own)
    restore()
    assert recover()[0] == "1 parcels erased again"


def test_the_journal_names_nobody_and_outlives_a_rotation_of_keys(own: Caller, settings: Settings) -> None:
    parcel = import_parcel(own.shop, customerEmail=EMAIL)
    restore = moment()
    erase(own)
    [(name, _)] = storage.entries("erasures")
    entry = storage.read(name) or b""
    assert EMAIL.encode() not in entry
    assert parcel["id"].encode() not in entry
    restore()
    settings.CREDENTIALS_KEYS = ["B" * 43 + "=", *settings.CREDENTIALS_KEYS]
    assert recover()[0] == "1 parcels erased again"


def test_what_the_journal_can_not_note_is_not_erased(own: Caller, folder: Path) -> None:
    import_parcel(own.shop, customerEmail=EMAIL)
    folder.write_text("no folder")
    with pytest.raises(CommandError, match="nothing was changed"):
        erase(own)
    assert Parcel.objects.get().customer_email == EMAIL


def test_in_a_folder_that_is_not_mounted_nothing_is_erased_and_a_repetition_erases_all(
    own: Caller, folder: Path
) -> None:
    import_parcel(own.shop, customerEmail=EMAIL)
    label = LabelFactory(shop=own.shop, recipient={"countryCode": "FR", "email": EMAIL})
    storage.store(label, PDF)
    folder.rename(unmounted := folder.with_name("unmounted"))
    with pytest.raises(CommandError, match=r"can't be reached \(ENOENT\): nothing was changed; run it again"):
        erase(own)
    assert not folder.exists()
    unmounted.rename(folder)
    erase(own)
    assert not storage.is_stored(label.pdf_key)


def test_a_label_that_is_not_over_waits(own: Caller) -> None:
    LabelFactory(shop=own.shop)
    restore = moment()
    erase(own)
    restore()
    ShippingLabel.objects.update(state=LabelState.UNKNOWN)
    assert "labels erased again" not in "".join(recover("--dry-run"))
