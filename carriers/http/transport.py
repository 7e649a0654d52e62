"""One HTTP POST to a carrier, within a deadline and a size, never sent twice."""

import time
from typing import Any, Final

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from carriers.errors import CarrierUnavailable
from carriers.http.connections import POOL_CLASSES, Deadline, Exchange, current_exchange, tls_context
from carriers.http.messages import Answer, Request

# 99 labels of 100 kB in base64 are 13 MB.
MAX_ANSWER_BYTES: Final = 20 * 1024 * 1024
# Between attempts of a request of which no byte has left.
RETRY_PAUSES_S: Final = (0.05, 0.2)
_CHUNK_BYTES: Final = 64 * 1024


class _Adapter(HTTPAdapter):
    """An adapter whose connections keep the exchange's limits."""

    def __init__(self, ca_file: str, pool_size: int) -> None:
        self._ca_file = ca_file
        # No retries below this module: only here is it known whether a byte has left.
        super().__init__(pool_connections=2, pool_maxsize=pool_size, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Build the pools from this package's connections."""
        super().init_poolmanager(*args, ssl_context=tls_context(self._ca_file), **kwargs)
        self.poolmanager.pool_classes_by_scheme = POOL_CLASSES

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Leave verification to the context, which cannot be talked out of it."""


class Transport:
    """The connections to one carrier, shared by all threads of a process.

    Requests go straight to the adapter: a session would add cookies kept between shops, proxies and netrc
    from the environment, and redirects that carry credentials.
    """

    def __init__(
        self,
        *,
        ca_file: str | None = None,
        pool_size: int = 10,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._adapter = _Adapter(ca_file or DEFAULT_CA_BUNDLE_PATH, pool_size)
        self._max_answer_bytes = max_answer_bytes

    def post(self, carrier: str, request: Request, deadline: Deadline) -> Answer:
        """POST and read the answer, whatever its status.

        Raises CarrierUnavailable while no byte of the request can have reached the carrier, after trying
        again within the deadline; what the request says (`unsure`) for everything that goes wrong later.
        """
        for pause_s in (*RETRY_PAUSES_S, None):
            exchange = Exchange(deadline)
            token = current_exchange.set(exchange)
            try:
                return self._attempt(request, exchange)
            except Exception as error:  # what libraries raise on hostile bytes has no common base
                if exchange.is_sent:
                    raise request.unsure(carrier, _problem(error), is_carrier_failing=True) from error
                if pause_s is None or not _has_time(deadline, pause_s):
                    raise CarrierUnavailable(carrier, "no connection", is_carrier_failing=True) from error
            finally:
                current_exchange.reset(token)
            time.sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, request: Request, exchange: Exchange) -> Answer:
        # Compression is not asked for, and undone within the limit when it comes all the same.
        headers = {**request.headers, "Accept-Encoding": "identity"}
        prepared = requests.Request("POST", request.url, data=request.body, headers=headers).prepare()
        response = self._adapter.send(prepared, stream=True, timeout=exchange.deadline.remaining_s())
        try:
            content = self._read(response.raw)
        finally:
            response.raw.close()  # back in the pool by now if the answer was read to its end
        return Answer(response.status_code, response.headers.get("Content-Type", ""), content)

    def _read(self, raw: Any) -> bytes:
        content = bytearray()
        for chunk in raw.stream(_CHUNK_BYTES, decode_content=True):
            content += chunk  # a piece is small, unpacked too; headers are bounded by the libraries
            if len(content) > self._max_answer_bytes:
                raise OSError("the answer is too large")
        return bytes(content)


def _has_time(deadline: Deadline, pause_s: float) -> bool:
    try:
        return deadline.remaining_s() > pause_s
    except TimeoutError:
        return False


def _problem(error: Exception) -> str:
    """What can be said of a failure; the library's own text stays in the cause, it may name hosts."""
    is_late = isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError)
    return "no whole answer in time" if is_late else "the connection broke or the answer is malformed"
