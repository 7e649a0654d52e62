"""HTTP POST to a carrier and its answer: within a deadline and a maximum size, never sent twice, read as UTF-8."""

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import urllib3
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown
from carriers.http.connections import MAX_HEAD_BYTES, AnswerTooLargeError, Deadline, Exchange, pool_manager, within
from carriers.redaction import Redactor
from carriers.shipment import NOTHING_MADE, PurchasedLabel

# They have ASCII in common. The first are Latin-1 and ASCII, in which others often write Windows' quotes and accents:
# browsers read them as windows-1252.
ONE_BYTE: Final = re.compile(
    r"(iso[-_]?8859[-_]1|latin-?1|(?:us-)?ascii)|iso[-_]?8859[-_]\d{1,2}|(windows-|cp)125\d", re.IGNORECASE | re.ASCII
)
_NAMED: Final = re.compile(r""";\s*charset\s*=\s*["']?([\w.-]{1,40})""", re.IGNORECASE | re.ASCII)
# 99 labels of 100 kB in base64 are 13 MB.
MAX_ANSWER_BYTES: Final = 20 * 1024 * 1024
# Between attempts, as long as no byte of the request was sent.
RETRY_PAUSES_S: Final = (0.05, 0.2)
_CHUNK_BYTES: Final = 64 * 1024
# A piece counts for this at least: a chunk of one byte costs as much time as a large one.
_MIN_PIECE_BYTES: Final = 256


def charset_of(content_type: str) -> str:
    """Return the charset that a media type names, empty without one."""
    named = _NAMED.search(content_type)
    return named[1] if named else ""


def as_utf_8(content: bytes, charset: str) -> bytes:
    """Return a text in UTF-8: from the declared encoding, if that is one of one byte a character and it is not yet.

    A byte that is no character is replaced. Anything else is returned unchanged, for the caller to refuse.
    """
    one_byte = ONE_BYTE.fullmatch(charset)
    if not one_byte:
        return content
    with suppress(UnicodeDecodeError):
        content.decode()
        return content
    with suppress(LookupError):
        return content.decode("windows-1252" if one_byte[1] else charset, "replace").encode()
    return content


@dataclass(frozen=True)
class Request:
    """A POST; `unanswered_error` is the error if it was sent and no readable or documented answer came.

    A purchase may then have been carried out; a query has made nothing. The `redactor` knows what the answer may echo.
    """

    operation: str
    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    redactor: Redactor = field(repr=False)
    unanswered_error: type[CarrierError] = OutcomeUnknown


@dataclass(frozen=True)
class Answer:
    status: int
    content_type: str
    body: bytes = field(repr=False)
    request: Request


class UnreadableError(ValueError):
    """An answer that breaks the protocol; the text may be shown to a shop.

    `made` are the parcels that the answer names all the same, and their PDFs that can be read.
    """

    def __init__(self, problem: str, made: PurchasedLabel = NOTHING_MADE) -> None:
        super().__init__(problem)
        self.made = made


class Transport:
    """The connections to one carrier, shared by all threads of a process.

    They share no cookies between shops, use no proxy or netrc of the environment, and follow no redirect, which would
    take the credentials along.
    """

    def __init__(
        self,
        *,
        ca_file: str | None = None,
        pool_size: int = 10,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._pools = pool_manager(ca_file or DEFAULT_CA_BUNDLE_PATH, hosts=2, connections=pool_size)
        self._max_answer_bytes = max_answer_bytes

    def post(self, carrier: str, request: Request, deadline: Deadline) -> Answer:
        """Send the request and return the answer, with any status.

        Raises CarrierUnavailable if no byte of the request can have reached the carrier, after retries within the
        deadline, and the request's `unanswered_error` for every later failure.
        """
        for pause_s in (*RETRY_PAUSES_S, None):
            with within(deadline, receivable_bytes=MAX_HEAD_BYTES) as exchange:
                try:
                    return self._attempt(request, exchange)
                except Exception as error:  # the libraries' errors on hostile bytes have no common base
                    if exchange.is_sent:
                        raise request.unanswered_error(carrier, _problem(error), is_carrier_failing=True) from error
                    if pause_s is None or deadline.is_over_in(pause_s):
                        raise CarrierUnavailable(carrier, "no connection", is_carrier_failing=True) from error
            time.sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, request: Request, exchange: Exchange) -> Answer:
        # No compression is requested; if it comes all the same, it is undone within the size limit.
        headers = {**request.headers, "Accept-Encoding": "identity"}
        response = self._pools.request(
            "POST",
            request.url,
            body=request.body,
            headers=headers,
            redirect=False,
            preload_content=False,
            timeout=exchange.deadline.remaining_s(),
        )
        exchange.receivable_bytes = self._max_answer_bytes
        try:
            content = self._read(response)
        finally:
            response.close()  # already back in the pool if the answer was read to its end
        content_type = response.headers.get("Content-Type", "").strip()  # folded, it begins with a space
        if not content_type.lower().startswith("multipart/"):
            content = as_utf_8(content, charset_of(content_type))
        return Answer(response.status, content_type, content, request)

    def _read(self, response: urllib3.BaseHTTPResponse) -> bytes:
        content, left_bytes = bytearray(), self._max_answer_bytes
        try:
            for piece in response.stream(_CHUNK_BYTES, decode_content=True):
                content += piece  # small, even unpacked
                left_bytes -= max(len(piece), _MIN_PIECE_BYTES)
                if left_bytes < 0:
                    raise AnswerTooLargeError("the answer is too large")
            return bytes(content)
        finally:
            content.clear()  # which an error's traceback would keep for as long as Python 3.13 keeps that


class NoTransport(Transport):
    """The connections to a carrier that has no address: nothing is sent."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def post(self, carrier: str, request: Request, deadline: Deadline) -> Answer:
        """Raise CarrierUnavailable."""
        raise CarrierUnavailable(carrier, self._reason)


def _problem(error: Exception) -> str:
    """Describe a failure; the library's own text, which may name hosts, stays in the cause."""
    is_late = isinstance(error, urllib3.exceptions.TimeoutError | TimeoutError)
    return "no complete answer in time" if is_late else "the connection broke or the answer is malformed"
