"""Connections: of a process that is suspended, and more of them at once than are kept."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import urllib3

from carriers.http import connections
from carriers.http.connections import Deadline, pool_manager, within
from tests.carriers.support.servers import LoopbackServer, http
from tests.support.certificates import self_signed, server_context

BODY = bytes(32 * 1024 * 1024)  # more than the buffers between two processes hold
TIMEOUT_S = 30.0


def post(url: str, certificate: Path) -> Any:
    with within(Deadline(TIMEOUT_S)):
        return pool_manager(str(certificate), hosts=1, connections=1).request("POST", url, body=BODY)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_process_that_stood_still_past_its_deadline_sends_no_more(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had looked at the clock, and waited for room, which there is when it goes on."""
    certificate, clock_s = self_signed(tmp_path / "carrier.pem"), connections.clock_s
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        listener.settimeout(TIMEOUT_S)
        posted = pool.submit(post, f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/", certificate)
        stream, _ = listener.accept()
        if scheme == "https":
            stream = server_context(certificate).wrap_socket(stream, server_side=True)
        with stream:
            received = stream.recv(65_536)
            while received.endswith(b"\r\n\r\n"):  # the head alone
                received += stream.recv(1)
            monkeypatch.setattr(connections, "clock_s", lambda: clock_s() + TIMEOUT_S)
            with suppress(ConnectionResetError):  # where the client leaves tickets of the TLS session unread
                while piece := stream.recv(65_536):
                    received += piece
        with pytest.raises(urllib3.exceptions.HTTPError):
            posted.result()
    assert len(received) < len(BODY)


def test_more_connections_at_once_than_are_kept_are_no_line_of_the_log_each(caplog: pytest.LogCaptureFixture) -> None:
    """Of one host, as where several shops hear of their parcels through one provider."""
    at_once = Barrier(2)

    def answer(stream: socket.socket, _: bytes) -> bool:
        at_once.wait(TIMEOUT_S)
        stream.sendall(http(b"", 204))
        return True

    with LoopbackServer(answer) as server, ThreadPoolExecutor(2) as pool:
        pools = pool_manager("", hosts=1, connections=1)

        def ask(_: int) -> int:
            with within(Deadline(TIMEOUT_S)):
                return pools.request("POST", server.url).status

        assert list(pool.map(ask, range(2))) == [204, 204]
    assert not caplog.records
