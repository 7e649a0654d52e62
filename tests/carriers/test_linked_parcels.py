"""Failures of beta's linked parcels: of one of the calls, or of the merge after them."""

import socket
import time

import pytest

from carriers.errors import CarrierUnavailable, OutcomeUnknown
from tests.carriers.conftest import Serve
from tests.carriers.support.broken_answers import BETA_LABEL
from tests.carriers.support.servers import (
    LABEL,
    MULTIPART,
    always,
    http,
    serving,
)
from tests.carriers.support.shipments import CREDENTIALS, client, shipment
from tests.carriers.test_faults import DEADLINE_S, HASTY, MARGIN_S


def test_one_deadline_covers_all_linked_calls() -> None:
    def slow(stream: socket.socket, request: bytes) -> bool:
        time.sleep(DEADLINE_S * 0.4)
        stream.sendall(LABEL["beta"])
        return True

    with serving(slow) as server:
        buyer = client("beta", server.url, HASTY)
        with pytest.raises((OutcomeUnknown, CarrierUnavailable)) as caught:
            buyer.create_label(shipment("beta", 4), CREDENTIALS["beta"])
    assert 1 <= len(caught.value.made_numbers) <= 3
    assert len(server.requests) <= 3


def page_tree_bomb(depth: int) -> bytes:
    """Return a PDF of a kilobyte with 2 ** depth pages: each node of the tree names the next one twice."""
    node = b"%d 0 obj<</Type/Pages/Count 2/Kids[%d 0 R %d 0 R]>>endobj\n"
    nodes = b"".join(node % (number, number + 1, number + 1) for number in range(2, depth + 2))
    page = b"%d 0 obj<</Type/Page/MediaBox[0 0 9 9]>>endobj\n" % (depth + 2)
    catalog = b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    return b"%PDF-1.4\n" + catalog + nodes + page + b"trailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF"


def test_a_pdf_that_keeps_the_parser_busy_is_abandoned_at_the_deadline() -> None:
    head = BETA_LABEL.partition(b"%PDF-")[0]
    hostile = head + page_tree_bomb(15) + b"\r\n--uuid:0f4a--"
    answers = [http(hostile.replace(b"78901", number), content_type=MULTIPART) for number in (b"1", b"2", b"3", b"4")]
    with serving(always(*answers)) as server:
        buyer = client("beta", server.url, HASTY)
        started_s = time.monotonic()
        with pytest.raises(OutcomeUnknown) as caught:
            buyer.create_label(shipment("beta", 4), CREDENTIALS["beta"])
    assert DEADLINE_S - 0.05 < time.monotonic() - started_s < DEADLINE_S + MARGIN_S
    assert caught.value.made_numbers == tuple(f"6A123456{number}" for number in (1, 2, 3, 4))
    assert caught.value.made_pdfs == (page_tree_bomb(15),) * 4
    assert len(server.requests) == 4


def test_one_number_for_two_parcels_leaves_the_outcome_unknown(serve: Serve) -> None:
    server = serve(always(LABEL["beta"]))
    with pytest.raises(OutcomeUnknown, match="repeats the number") as caught:
        client("beta", server.url).create_label(shipment("beta", 2), CREDENTIALS["beta"])
    assert caught.value.made_numbers == ("6A12345678901",) * 2
