"""Corrupted answers: from another server, unreadable, too large, incomplete or wrong."""

import base64
import gzip
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import alpha_buy
from tests.carriers.sandbox.beta.orders import BetaReply, beta_buy
from tests.carriers.sandbox.control import arm, get, ledger
from tests.carriers.sandbox.raw import CARRIERS, buy, raw_answer


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize(
    ("fault", "status"),
    [("empty", 200), ("html200", 200), ("html429", 429), ("html502", 502), ("html503", 503), ("made502", 502)],
)
def test_another_server_answers(sandbox: SandboxServer, carrier: str, fault: str, status: int) -> None:
    arm(sandbox, fault, count=1)

    response = buy(sandbox, carrier)

    assert response.status_code == status
    assert (response.content == b"") == (fault == "empty")
    assert fault == "empty" or response.headers["Content-Type"] == "text/html"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_redirect_goes_to_another_host_and_is_counted_when_followed(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "redirect")

    response = buy(sandbox, carrier, allow_redirects=False)

    assert response.status_code == 307
    assert urlsplit(response.headers["Location"]).hostname == "localhost"
    counts = f"{sandbox.control_url}/requests"
    assert "/redirected" not in get(counts)
    assert buy(sandbox, carrier).status_code == 200
    assert get(counts)["/redirected"] == 1


@pytest.mark.parametrize("carrier", CARRIERS)
def test_half_an_answer_is_announced_as_all(sandbox: SandboxServer, carrier: str) -> None:
    whole = buy(sandbox, carrier).content
    arm(sandbox, "truncated", count=1)

    half = buy(sandbox, carrier).content

    assert len(half) == pytest.approx(len(whole) / 2, abs=10)


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("fault", ["garbled", "charset"])
def test_an_answer_is_not_text(sandbox: SandboxServer, carrier: str, fault: str) -> None:
    arm(sandbox, fault, count=1)

    response = buy(sandbox, carrier)

    if carrier == "alpha":
        with pytest.raises(ET.ParseError):
            ET.fromstring(response.content)
    elif fault == "charset":
        with pytest.raises(UnicodeDecodeError):
            BetaReply(response).parts["jsonInfos"].decode()
    else:
        assert BetaReply(response).parts == {}


def test_nesting_is_deep(sandbox: SandboxServer) -> None:
    arm(sandbox, "deep")

    assert buy(sandbox, "alpha").content.count(b"<a>") == 200_000
    assert b"[" * 200_000 in BetaReply(buy(sandbox, "beta")).parts["jsonInfos"]


@pytest.mark.parametrize("carrier", CARRIERS)
def test_fifty_kilobytes_unpack_to_fifty_megabytes(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "gzipbomb", count=1)

    # The first request makes the sandbox pack them: on a busy machine that takes longer than the default.
    _, _, body = raw_answer(sandbox, carrier, silence_s=30).partition(b"\r\n\r\n")

    assert len(body) < 60_000
    assert len(gzip.decompress(body)) == 50_000_000


def test_a_doctype_precedes_the_envelope(sandbox: SandboxServer) -> None:
    arm(sandbox, "doctype", count=1)

    content = buy(sandbox, "alpha").content

    assert b"<!DOCTYPE" in content
    assert ET.fromstring(content) is not None


def test_a_label_is_missing_or_wrong(sandbox: SandboxServer) -> None:
    arm(sandbox, "nolabel", count=2)
    alpha, beta = alpha_buy(sandbox), beta_buy(sandbox)
    assert (alpha.code, alpha.texts("pdfEtiquette"), len(alpha.texts("skybillNumber"))) == ("0", [], 1)
    assert (list(beta.parts), beta.number[:2]) == (["jsonInfos"], "6A")

    arm(sandbox, "notpdf", count=2)
    assert not base64.b64decode(alpha_buy(sandbox).texts("pdfEtiquette")[0]).startswith(b"%PDF")
    assert not beta_buy(sandbox).parts["label"].startswith(b"%PDF")

    arm(sandbox, "base64", count=1)
    with pytest.raises(ValueError, match="base64"):
        base64.b64decode(alpha_buy(sandbox).texts("pdfEtiquette")[0])


def test_one_number_is_given_to_two_parcels(sandbox: SandboxServer) -> None:
    first = beta_buy(sandbox).number
    arm(sandbox, "twin")

    assert beta_buy(sandbox).number == first
    assert len(set(alpha_buy(sandbox, count=2).texts("skybillNumber"))) == 1
    assert len(ledger(sandbox)) == 4


def test_a_good_answer_has_other_shapes(sandbox: SandboxServer) -> None:
    arm(sandbox, "warning", count=1)
    assert [message["type"] for message in beta_buy(sandbox).infos["messages"]] == ["INFOS", "WARNING"]

    arm(sandbox, "mixed", count=1)
    response = buy(sandbox, "beta")
    assert response.headers["Content-Type"].startswith("multipart/mixed")
    assert response.content.endswith(b"--\r\n")
