"""``check_labels`` reports every difference between the labels' table and the storage, and nothing else."""

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from labels.models import DepositSlip, LabelState, ShippingLabel
from labels.pdfs import storage, storage_check
from tests.labels.factories import PDF, LabelFactory
from tests.labels.orders import order, post
from tests.shops.commands import run_here
from tests.support.api import Caller
from tests.support.cases import in_one_test

THIS_MONTH = f"{timezone.now():%Y-%m}"


def check(*arguments: str) -> tuple[list[str], str]:
    """Run the command; return its lines, and its error."""
    out = StringIO()
    try:
        call_command("check_labels", *arguments, stdout=out)
    except CommandError as error:
        return out.getvalue().splitlines(), str(error)
    return out.getvalue().splitlines(), ""


def made_in(month: str, caller: Caller) -> ShippingLabel:
    """A label bought in another month."""
    return LabelFactory(shop=caller.shop, created_at=datetime.strptime(f"{month}-15", "%Y-%m-%d").replace(tzinfo=UTC))


def test_where_all_is_well_nothing_is_told(kept: str, buyer: Caller) -> None:
    assert check() == ([], "")
    post(buyer, order())
    made_in("2026-03", buyer)
    LabelFactory(shop=buyer.shop, pdf_removed_at=timezone.now())
    for state in set(LabelState) - {LabelState.GENERATED}:
        LabelFactory(shop=buyer.shop, state=state)
    assert check() == ([], "")


@pytest.mark.parametrize("state", [LabelState.CANCELLING, LabelState.CANCELLED])
def test_a_cancelled_labels_pdf_is_no_difference(state: LabelState, own: Caller) -> None:
    label = LabelFactory(shop=own.shop)
    change(label, state=state)
    assert check() == ([], "")
    change(label, pdf_removed_at=timezone.now())
    assert check()[0] == [f"not removed: {label.pdf_key}"]


def test_a_deposit_slips_pdf_without_its_row_or_removed_is_told(kept: str, own: Caller) -> None:
    """It shows recipients; after a restore nothing else would remove it, nor tell of it."""

    def stored(**fields: Any) -> DepositSlip:
        facts = {"label_ids": [], "tracking_numbers": [], "asked_by": "ada", "number": "77", **fields}
        slip: DepositSlip = DepositSlip.objects.create(shop=own.shop, carrier_code="beta", **facts)
        storage.write(slip.pdf_key, PDF)
        return slip

    stored()
    assert check() == ([], "")
    removed, restored = stored(pdf_removed_at=timezone.now()), stored()
    DepositSlip.objects.filter(id=restored.id).delete()
    lines, complaint = check("--since", THIS_MONTH)
    assert sorted(lines) == [f"no row: {restored.pdf_key}", f"not removed: {removed.pdf_key}"]
    assert complaint == "1 no row, 1 not removed"


def test_each_kind_of_difference_is_told(kept: str, own: Caller) -> None:
    well = LabelFactory(shop=own.shop)
    lost, unknown, late, restored = (LabelFactory(shop=own.shop) for _ in range(4))
    storage.delete(lost.pdf_key)
    change(unknown, pdf_removed_at=timezone.now())
    change(late, state=LabelState.UNKNOWN)
    ShippingLabel.objects.filter(id=restored.id).delete()
    elsewhere = f"labels/2025/06/{well.id}.pdf"  # the name of its label, in another month
    storage.pdfs().save(elsewhere, ContentFile(PDF))
    lines, complaint = check()
    assert lines[0] == f"no PDF: {lost.id} of shop own, label_generated"
    assert sorted(lines[1:]) == sorted(
        [
            f"not removed: {unknown.pdf_key}",
            f"not finished: {late.id} of shop own, unknown",
            f"no row: {restored.pdf_key}",
            f"no row: {elsewhere}",
        ]
    )
    assert complaint == "1 no PDF, 2 no row, 1 not finished, 1 not removed"


def change(label: ShippingLabel, **fields: Any) -> None:
    ShippingLabel.objects.filter(id=label.id).update(**fields)


def test_every_month_is_looked_at_or_those_from_one_on(kept: str, own: Caller) -> None:
    rows = [made_in(month, own) for month in ("2025-01", "2025-12", "2026-01", "2026-03")]
    for label in rows[::2]:
        storage.delete(label.pdf_key)
    ShippingLabel.objects.filter(id__in=[rows[1].id, rows[3].id]).delete()
    every = [
        f"no PDF: {rows[0].id} of shop own, label_generated",
        f"no PDF: {rows[2].id} of shop own, label_generated",
        f"no row: {rows[1].pdf_key}",
        f"no row: {rows[3].pdf_key}",
    ]
    assert sorted(check()[0]) == every
    assert sorted(check("--since", "2026-01")[0]) == [every[1], every[3]]
    assert check("--since", "2026-04") == ([], "")


def test_labels_are_read_in_batches_and_without_what_is_large(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_check, "BATCH_SIZE", 2)
    labels = [LabelFactory(shop=own.shop) for _ in range(5)]
    storage.delete(labels[4].pdf_key)
    with CaptureQueriesContext(connection) as captured:
        lines, _ = check()
    assert lines == [f"no PDF: {labels[4].id} of shop own, label_generated"]
    assert len(captured) == 3 + 1 + 1  # the batches, the look that finds no more, and the second look at the one
    for large in ('"pdf"', '"recipient"', '"sender"'):
        assert large not in str(captured.captured_queries)


def test_what_is_bought_or_removed_meanwhile_is_no_difference(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """The storage is listed before the first label is bought and before another one is removed."""
    gone = LabelFactory(shop=own.shop)
    listed = storage.entries(f"{storage.ROOT}/{timezone.now():%Y/%m}")
    monkeypatch.setattr(storage, "entries", lambda _: listed)
    LabelFactory(shop=own.shop)
    storage.delete(gone.pdf_key)
    change(gone, pdf_removed_at=timezone.now())
    assert check() == ([], "")


def test_a_process_killed_while_it_stores_leaves_no_difference(
    own: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = LabelFactory(shop=own.shop, state="received")
    with monkeypatch.context() as patched:
        patched.setattr("labels.pdfs.folder.os.fsync", Mock(side_effect=SystemExit))
        patched.setattr("labels.pdfs.folder.os.unlink", lambda *_, **__: None)
        with pytest.raises(SystemExit):
            storage.store(label, PDF)
    left = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    assert len(left) == 1
    assert check() == ([], "")


def test_a_file_that_is_no_labels_is_told(own: Caller, folder: Path) -> None:
    left = Path(LabelFactory(shop=own.shop).pdf_key).parent / "tmp12345678"
    (folder / left).write_bytes(PDF)
    assert check() == ([f"no row: {left}"], "1 no row")


NO_MONTH, TOO_EARLY = "needs a month, such as 2026-11", "there are no labels from before 2025-01"
MONTHS = dict.fromkeys(("", "x", "2026", "2026-13", "2026-11-01", "11-2026"), NO_MONTH)
MONTHS |= dict.fromkeys(("0001-01", "1969-12", "2024-12"), TOO_EARLY) | {"9999-12": "that month has not begun"}


@in_one_test("since, problem", MONTHS.items())
def test_a_bad_month_is_one_line(since: str, problem: str, db: None) -> None:
    assert check("--since", since) == ([], f"--since: {problem}")


def test_a_storage_that_is_down_is_one_line(own: Caller, folder: Path) -> None:
    LabelFactory(shop=own.shop)
    folder.rename(folder.with_name("unmounted"))
    assert check() == ([], "the storage can't be reached (ENOENT)")


@pytest.mark.any_database
def test_a_difference_is_an_exit_code_for_a_scheduler(own: Caller, transactional_db: None, folder: Path) -> None:
    assert run_here("check_labels", "--since", THIS_MONTH) == (0, "", "")
    label = LabelFactory(shop=own.shop)
    storage.delete(label.pdf_key)
    code, out, err = run_here("check_labels", "--since", THIS_MONTH)
    assert (code, out) == (1, f"no PDF: {label.id} of shop own, label_generated\n")
    assert err == "CommandError: 1 no PDF\n"
