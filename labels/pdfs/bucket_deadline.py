"""A deadline over the whole use of a bucket.

botocore's timeouts are for single operations of a socket: a bucket that drips a byte a second never triggers them. So
its connections become those that the carriers are asked over, which end with the deadline of the block.
"""

from collections.abc import Callable
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from django.conf import settings

from carriers.http.connections import (
    BoundedConnection,
    BoundedTLSConnection,
    BoundedTLSSocket,
    Deadline,
    current_exchange,
    within,
)

BACK_OFF_S = 1.0  # botocore's longest pause before its second attempt, which no deadline ends


class _Connection(BoundedConnection, AWSHTTPConnection):  # type: ignore[misc]  # botocore has no types
    pass


class _TLSConnection(BoundedTLSConnection, AWSHTTPSConnection):  # type: ignore[misc]  # as above
    pass


class _Pool(AWSHTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(AWSHTTPSConnectionPool):
    ConnectionCls = _TLSConnection


def deadline(timeout_s: float | None = None) -> Deadline:
    """Begin the deadline of a use of the storage, by default STORAGE_TIMEOUT_S."""
    return Deadline((timeout_s or settings.STORAGE_TIMEOUT_S) - BACK_OFF_S)


def bound(client: Any) -> None:
    """Let a client's connections end with the deadline of the block, or else with one of each request."""
    session = client._endpoint.http_session
    session._pool_classes_by_scheme.update(http=_Pool, https=_TLSPool)
    session._manager.connection_pool_kw["ssl_context"].sslsocket_class = BoundedTLSSocket
    session.send = sent_within_deadline(session.send)


def sent_within_deadline(send: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def send_it(request: Any) -> Any:
        if current_exchange.get(None):
            return send(request)
        with within(deadline()):
            return send(request)

    return send_it
