"""Failures of beta's linked parcels: of one of the calls, or of the merge after them."""

import socket
import time

import pytest

from carriers import pdf
from carriers.errors import OutcomeUnknown
from carriers.http import connections
from carriers.http.transport import UnreadableError
from tests.carriers.conftest import Serve
from tests.carriers.support.servers import LABEL, always, serving
from tests.carriers.support.shipments import CREDENTIALS, client, shipment
from tests.carriers.test_faults import DEADLINE_S, MARGIN_S, UNHURRIED, WAIT_TIMEOUT_S


def test_each_linked_call_has_a_deadline_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four parcels of 0.6 deadlines each: alone each would be bought, and so are all."""
    numbers, clock_s, waits_s = iter(b"1234"), connections.clock_s, [0.0]
    monkeypatch.setattr(connections, "clock_s", lambda: clock_s() + sum(waits_s))

    def slow(stream: socket.socket, request: bytes) -> bool:
        waits_s.append(WAIT_TIMEOUT_S * 0.6)
        stream.sendall(LABEL["beta"].replace(b"78901", b"7890%d" % (next(numbers) - ord("0"))))
        return True

    with serving(slow) as server:
        made = client("beta", server.url, UNHURRIED).create_label(shipment("beta", 4), CREDENTIALS["beta"])
    assert len(set(made.tracking_numbers)) == len(made.pdfs) == len(server.requests) == 4


def page_tree_bomb(depth: int) -> bytes:
    """Return a PDF of a kilobyte with 2 ** depth pages: each node of the tree names the next one twice."""
    node = b"%d 0 obj<</Type/Pages/Count 2/Kids[%d 0 R %d 0 R]>>endobj\n"
    nodes = b"".join(node % (number, number + 1, number + 1) for number in range(2, depth + 2))
    page = b"%d 0 obj<</Type/Page/MediaBox[0 0 9 9]>>endobj\n" % (depth + 2)
    catalog = b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    return b"%PDF-1.4\n" + catalog + nodes + page + b"trailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF"


def test_a_pdf_that_keeps_the_parser_busy_is_abandoned_in_time(merging_process: None) -> None:
    started_s = time.monotonic()
    with pytest.raises(UnreadableError):
        pdf.rewritten([page_tree_bomb(15)] * 4, DEADLINE_S)
    assert DEADLINE_S - 0.05 < time.monotonic() - started_s < DEADLINE_S + MARGIN_S


def test_one_number_for_two_parcels_leaves_the_outcome_unknown(serve: Serve) -> None:
    server = serve(always(LABEL["beta"]))
    with pytest.raises(OutcomeUnknown, match="repeats the number") as caught:
        client("beta", server.url).create_label(shipment("beta", 2), CREDENTIALS["beta"])
    assert caught.value.made_numbers == ("6A12345678901",) * 2
    assert list(caught.value.made_pdfs) == ["6A12345678901", "parcel-2"]
