"""PDFs in a local folder: private, whole, and reached by the service's own signed URLs only."""

import stat
from pathlib import Path
from unittest.mock import Mock
from urllib.parse import quote

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from labels.models import ShippingLabel
from labels.pdfs import storage
from shops.api.paths import FILES
from tests.labels.conftest import assert_coded, row
from tests.labels.factories import PDF
from tests.labels.orders import order, post
from tests.labels.urls import bought, fetch
from tests.support.api import Caller, Clock, assert_error, client
from tests.support.cases import in_one_test
from tests.support.threads import repeated

LINK_INVALID = "This link is altered or has expired. Retrieve the label for a new one."


@pytest.mark.parametrize("fraction_s", [0, 0.25, 0.875])
def test_a_local_url_is_valid_for_900_seconds_and_not_for_901(fraction_s: float, buyer: Caller, clock: Clock) -> None:
    clock.now_s = int(clock.now_s) + fraction_s
    url = bought(buyer)
    clock.tick(900)
    assert fetch(url).status == 200
    clock.tick(1)
    assert_error(client().get(url), 403, LINK_INVALID)


@pytest.mark.parametrize("query", ["x", "x=1", "X-Amz-Expires=90000", "%00"])
def test_a_local_url_with_a_query_is_altered(query: str, buyer: Caller) -> None:
    url = bought(buyer)
    assert_error(client().get(f"{url}?{query}"), 403, LINK_INVALID)
    assert fetch(f"{url}?").is_pdf


def test_a_local_url_begins_with_the_public_address(buyer: Caller, settings: Settings) -> None:
    assert bought(buyer).startswith("http://testserver/files/labels/")
    for base in ("https://labels.example.com", "https://labels.example.com/"):
        settings.PUBLIC_BASE_URL = base
        assert bought(buyer).startswith("https://labels.example.com/files/labels/")


def test_the_answer_of_the_folder_has_all_its_headers_and_is_not_counted(buyer: Caller) -> None:
    url = bought(buyer)
    response = client().get(url)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "sandbox"
    assert response["Content-Length"] == str(len(response.content))
    assert "RateLimit" not in response.headers
    head = client().head(url)
    assert (head.status_code, head.content, head["Content-Type"]) == (200, b"", "application/pdf")


TRAVERSAL = "../../etc/passwd"


@in_one_test(
    "path",
    [
        *(TRAVERSAL, "../" * 20 + "etc/passwd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%2f..%2fetc/passwd"),
        *("%252e%252e%252fetc%252fpasswd", "..%5c..%5cetc%5cpasswd", "..%c0%af..%c0%afetc/passwd", "/etc/passwd"),
        *("%00", "labels%00.pdf", "x:y:z", "::", ":", "%ff%fe", "x" * 10_000, "%E2%80%AE", ".", "..", "%0a", ""),
    ],
)
def test_no_path_leads_out_of_the_folder_or_to_a_failure(path: str, db: None) -> None:
    assert_error(client().get(f"/files/{path}"), 403, LINK_INVALID)


def test_a_signed_name_out_of_the_folder_is_no_pdf_either(folder: Path) -> None:
    for name in (TRAVERSAL, "/etc/passwd", "labels/../../x"):
        response = client().get(FILES + quote(storage.signer.sign(name)))
        assert response.status_code in {400, 404}
        assert b"root:" not in response.content


def test_a_pdf_that_is_no_longer_kept_is_404(buyer: Caller, folder: Path) -> None:
    url = bought(buyer)
    (folder / row().pdf_key).unlink()
    assert_error(client().get(url), 404, "This label's PDF is no longer kept.")


def test_a_pdf_that_can_not_be_read_now_is_an_error_to_try_again_after(buyer: Caller, folder: Path) -> None:
    url = bought(buyer)
    pdf = folder / row().pdf_key
    content = pdf.read_bytes()
    pdf.unlink()
    pdf.mkdir()
    response = client().get(url)
    said = "This label's PDF is stored, but can't be read now. Try again, or retrieve the label later."
    assert assert_coded(response, 500, "LABEL_STORAGE_UNAVAILABLE") == said
    assert int(response["Retry-After"]) > 0
    pdf.rmdir()
    pdf.write_bytes(content)
    assert client().get(url).content == content


def test_an_attempt_that_fails_half_way_leaves_nothing_behind(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("labels.pdfs.folder.os.fsync", Mock(side_effect=OSError("no space left")))
        assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    assert fetch(post(buyer, order(), key="k").json()["labelUrl"]).is_pdf


def test_what_can_not_be_listed_is_not_taken_for_empty(folder: Path) -> None:
    folder.mkdir()
    (folder / "labels").touch()
    with pytest.raises(storage.StorageError, match="ENOTDIR"):
        storage.entries("labels")


def test_only_the_services_own_account_reads_the_folder(buyer: Caller, folder: Path) -> None:
    bought(buyer)
    paths = list(folder.rglob("*"))
    assert [path for path in paths if path.suffix == ".pdf"] == [folder / row().pdf_key]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in paths} == {0}


def test_a_pdfs_name_follows_the_labels_id_alone() -> None:
    label = ShippingLabel(id="0RCRUGWGBZDJINQ", shop_id="own", created_at=timezone.now(), order_id="5400000001")
    assert label.pdf_key == "labels/2026/11/0RCRUGWGBZDJINQ.pdf"


def test_an_interrupted_attempt_leaves_a_partial_file_that_goes_with_the_pdf(buyer: Caller, folder: Path) -> None:
    bought(buyer)
    own, another = (folder / "partial" / f"{label_id}.pdf.a1b2c3d4" for label_id in (row().id, "0RCRUGWGBZDJINQ"))
    for path in (own, another):
        path.write_bytes(PDF)
    storage.delete(row().pdf_key)
    assert list(folder.rglob("*.pdf*")) == [another]


def test_a_reader_gets_the_whole_pdf_while_it_is_stored_again(buyer: Caller) -> None:
    url = bought(buyer)
    label, pdf = row(), fetch(url).content
    with repeated(lambda: storage.store(label, pdf)):
        assert {fetch(url).content for _ in range(100)} == {pdf}
