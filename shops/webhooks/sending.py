"""Makes one delivery: a signed POST within a deadline, without redirects, to public addresses only."""

import ssl
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final

import urllib3
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.exceptions import HTTPError, NameResolutionError, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as LateError

from carriers.http.connections import MAX_HEAD_BYTES, AddressRefusedError, AnswerTooLargeError, pool_manager, within
from shops.contracts.encryption import UnreadableSecretError
from shops.db import clock
from shops.webhooks.claims import DEADLINE_S, MAX_FOR_ENDPOINT, Claim
from shops.webhooks.public_addresses import may_connect
from shops.webhooks.signing import sign

# Read so that the connection can be used again, and dropped.
MAX_ANSWER_BYTES = 16 * 1024
USER_AGENT = "parcel-service-webhooks/1"
POOLED_HOSTS = 100
SUCCESS = range(200, 300)
FAILURES = range(300, 600)  # other statuses end no exchange of HTTP
GONE = 410
UNREADABLE: Final = "secret_unreadable"
# Of failures without an answer, which the guide explains; an answer's is its status (http_5xx).
REASONS: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (UnreadableSecretError, UNREADABLE),
    (AddressRefusedError, "address_not_public"),
    (NameResolutionError, "name_unknown"),
    (SSLError, "tls"),
    (ssl.SSLError, "tls"),
    (NewConnectionError, "not_connected"),  # for urllib3 a kind of timeout
    (LateError, "timeout"),
    (TimeoutError, "timeout"),
    (AnswerTooLargeError, "answer_too_large"),
)
OTHER_REASON: Final = "connection_broken"


@dataclass(frozen=True)
class Outcome:
    """The end of an attempt: the answer's status, if one came, and the reason of a failure, empty for a success."""

    claim: Claim
    status: int | None
    reason: str
    duration_s: float

    @property
    def is_ours(self) -> bool:
        """Our failure, which says nothing of the receiver: another process may have the key."""
        return self.reason == UNREADABLE


@cache
def pools() -> urllib3.PoolManager:
    return pool_manager(DEFAULT_CA_BUNDLE_PATH, hosts=POOLED_HOSTS, connections=MAX_FOR_ENDPOINT)


def send(claim: Claim) -> Outcome:
    """Make the delivery; never raises."""
    started_s = time.monotonic()
    status: int | None = None
    try:
        status = post(claim)
        of_status = f"http_{status // 100}xx" if status in FAILURES else OTHER_REASON
        reason = "" if status in SUCCESS else of_status
    except Exception as error:  # noqa: BLE001 - the libraries' errors on hostile bytes have no common base
        reason = reason_of(error)
    return Outcome(claim, status, reason, time.monotonic() - started_s)


def post(claim: Claim) -> int:
    with within(claim.deadline, receivable_bytes=MAX_HEAD_BYTES, may_connect=may_connect) as exchange:
        response = pools().request(
            "POST",
            claim.endpoint.url,
            body=claim.body,
            headers=headers(claim),
            redirect=False,
            preload_content=False,
            timeout=DEADLINE_S,
            decode_content=False,
        )
        exchange.receivable_bytes = MAX_ANSWER_BYTES
        with suppress(HTTPError, OSError, ValueError):  # the status has come, and counts
            response.read(MAX_ANSWER_BYTES)
        response.close()  # already back in the pool if the answer was read to its end
        return response.status


def headers(claim: Claim) -> dict[str, str]:
    message_id, sent_at = claim.delivery.event_id, int(clock.upper_bound_now().timestamp())
    keys = claim.endpoint.signing_secrets(claim.claimed_at)
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": message_id,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": sign(message_id, sent_at, claim.body, keys=keys),
    }


def reason_of(error: Exception) -> str:
    """Name a failure in a word, which shops, staff and metrics are shown."""
    chain = [error, error.__context__]
    return next((name for kind, name in REASONS if any(isinstance(each, kind) for each in chain)), OTHER_REASON)
