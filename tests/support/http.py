"""Requests exactly as a test writes them."""

from http.client import HTTPConnection

from tests.support.waiting import WAIT_TIMEOUT_S


def ask(
    port: int, method: str, path: str, headers: list[tuple[str, str]] | None = None, body: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Send a request with exactly these headers over a connection of its own."""
    connection = HTTPConnection("127.0.0.1", port, timeout=WAIT_TIMEOUT_S)
    sent = headers or []
    connection.putrequest(method, path, skip_host=any(name == "Host" for name, _ in sent), skip_accept_encoding=True)
    for name, value in [*sent, ("Content-Length", str(len(body)))]:
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, content
