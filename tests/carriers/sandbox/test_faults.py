"""Faults: asking for them by reference or control endpoint, and their effect on the ledger."""

import base64
import gzip
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest
import requests

from carriers.sandbox.faults import FAULTS, Kind, fault_named, fault_table, magic_in
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import Reply, alpha_buy
from tests.carriers.sandbox.beta.orders import BetaReply, beta_buy, linked
from tests.carriers.sandbox.control import TIMEOUT_S, arm, get, ledger, post
from tests.carriers.sandbox.raw import CARRIERS, buy, raw_answer


@pytest.mark.parametrize(
    ("carrier", "name", "is_made"),
    [(c, fault.name, fault.is_made) for fault in FAULTS for c in fault.carriers if fault.kind is not Kind.CONTROL_ONLY],
)
def test_each_fault_leaves_a_purchase_as_its_row_says(
    sandbox: SandboxServer, carrier: str, name: str, is_made: bool
) -> None:
    arm(sandbox, name, carrier=carrier, count=1, delay_s=0.001)

    raw_answer(sandbox, carrier, limit=1, silence_s=TIMEOUT_S)

    assert len(ledger(sandbox)) == is_made
    assert buy(sandbox, carrier).status_code == 200, "the count of 1 is used up"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_reset_breaks_off_what_waits_and_nothing_is_bought_afterwards(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "slow", delay_s=30, count=1)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(raw_answer, sandbox, carrier, silence_s=TIMEOUT_S)
        while get(f"{sandbox.control_url}/faults"):
            threading.Event().wait(0.01)
        post(f"{sandbox.control_url}/reset")
        assert waiting.result() == b""
    assert ledger(sandbox) == []


@pytest.mark.parametrize("reference", ["FAULT CLOSEMADE", "fault closemade", " Fault  CloseMade "])
def test_a_magic_reference_is_read_in_any_case(sandbox: SandboxServer, reference: str) -> None:
    with pytest.raises(requests.ConnectionError):
        alpha_buy(sandbox, {"refValue.0.recipientRef": reference})
    assert len(ledger(sandbox)) == 1


def test_every_name_fits_a_magic_reference() -> None:
    for fault in FAULTS:
        reference = f"FAULT {fault.name.upper()}"
        assert len(reference) <= 15
        assert magic_in(reference) == (None, fault.name.upper())
        assert fault_named(fault.name, None) == fault
        assert f"| {fault.name} |" in fault_table()
        assert fault.kind is not Kind.REFUSAL or not fault.is_made


def test_an_armed_fault_waits_for_what_it_names(sandbox: SandboxServer) -> None:
    arm(sandbox, "30204", carrier="beta", reference="OTHER")
    arm(sandbox, "html503", carrier="beta", operation="checkGenerateLabel")
    arm(sandbox, "40015", carrier="beta", rank=2)

    assert alpha_buy(sandbox).code == "0"
    assert beta_buy(sandbox).response.status_code == 200
    assert beta_buy(sandbox, {"letter.service.orderNumber": "OTHER"}).codes == ["30204"]
    assert beta_buy(sandbox, operation="checkGenerateLabel").response.status_code == 503
    assert beta_buy(sandbox, linked(2, 3)).codes == ["40015"]


def test_faults_are_disarmed(sandbox: SandboxServer) -> None:
    arm(sandbox, "html502", count=2)
    (armed,) = get(f"{sandbox.control_url}/faults")
    assert (armed["fault"], armed["count"], armed["carrier"]) == ("html502", 2, None)
    assert requests.delete(f"{sandbox.control_url}/faults", timeout=TIMEOUT_S).status_code == 200

    assert Reply(buy(sandbox, "alpha")).code == "0"


def test_an_invalid_request_is_refused_before_any_fault(sandbox: SandboxServer) -> None:
    arm(sandbox, "closemade")

    assert alpha_buy(sandbox, {"skybillValue.0.weight": "31"}).code == "33"
    assert ledger(sandbox) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"fault": "nothing"}',
        b"{}",
        b'{"fault": "hang", "carrier": "gamma"}',
        b'{"fault": "soapfault", "carrier": "beta"}',
        b'{"fault": "hang", "count": "1"}',
        b'{"fault": "hang", "count": true}',
        b'{"fault": "hang", "extra": 1}',
    ],
)
def test_a_malformed_fault_is_not_armed(sandbox: SandboxServer, content: bytes) -> None:
    response = post(f"{sandbox.control_url}/faults", data=content)

    assert response.status_code == 400
    assert response.json()["error"]
    assert Reply(buy(sandbox, "alpha")).code == "0"


# Corrupted answers


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


# Network faults over real sockets

MOST_DRIPPED = 2000  # bytes; one is sent every 10 ms until a busy machine has read the first


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize(
    ("fault", "received"),
    [
        ("hang", b"SILENCE"),
        ("hangmade", b"SILENCE"),
        ("reset", b"RESET"),
        ("resetmade", b"RESET"),
        ("close", b""),
        ("closemade", b""),
        ("late", b""),
        ("slow", b"SILENCE"),
        ("accept", b"SILENCE"),
    ],
)
def test_a_connection_fails(sandbox: SandboxServer, carrier: str, fault: str, received: bytes) -> None:
    arm(sandbox, fault, count=1, delay_s=30)

    silence_s = 0.5 if received == b"SILENCE" else TIMEOUT_S
    assert raw_answer(sandbox, carrier, silence_s=silence_s) == received


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_hung_answer_ends_with_the_connection(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "hang", delay_s=0.05)

    assert raw_answer(sandbox, carrier, silence_s=TIMEOUT_S) == b""


@pytest.mark.parametrize("carrier", CARRIERS)
def test_headers_and_bodies_drip(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "driphead", delay_s=0.01, count=1)
    received = raw_answer(sandbox, carrier, limit=25, silence_s=TIMEOUT_S)
    assert received.startswith(b"HTTP/1.1 200 OK\r\nContent")
    assert len(received) < MOST_DRIPPED

    arm(sandbox, "dripbody", delay_s=0.01, count=1)
    head, body = raw_answer(sandbox, carrier, limit=1, silence_s=TIMEOUT_S).split(b"\r\n\r\n")
    assert b"Content-Length: " in head
    assert len(body) < MOST_DRIPPED


@pytest.mark.parametrize("carrier", CARRIERS)
def test_an_answer_breaks_off(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "cutoff", count=1)

    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        buy(sandbox, carrier)


@pytest.mark.parametrize("carrier", CARRIERS)
def test_fifty_megabytes_are_streamed(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "huge", count=1)

    with buy(sandbox, carrier, stream=True) as response:
        received = sum(len(piece) for piece in response.iter_content(1_000_000))

    assert response.headers["Transfer-Encoding"] == "chunked"
    assert response.headers["Connection"] == "close"  # or the next request might meet the end of the connection
    assert received > 49_000_000
