"""A private bucket for the PDFs of labels, with a deadline over each use; boto3 is loaded with it.

botocore's timeouts are for single operations of a socket: a bucket that drips a byte a second never triggers them. So
its connections become those that the carriers are asked over, which end with the deadline of the block.
"""

import errno
import mimetypes
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any

from botocore.awsrequest import AWSHTTPConnection, AWSHTTPConnectionPool, AWSHTTPSConnection, AWSHTTPSConnectionPool
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from storages.backends.s3 import S3Storage

from carriers.http.connections import (
    BoundedConnection,
    BoundedTLSConnection,
    BoundedTLSSocket,
    current_exchange,
    within,
)
from labels.pdfs.storage import URL_LIFETIME_S, deadline, disposition
from shops.api.file_answers import CACHE_CONTROL


class LabelBucket(S3Storage):  # type: ignore[misc]  # it has no types
    """A private bucket, whose objects are reached by URLs signed with signature version 4 only."""

    failures = (OSError, BotoCoreError, ClientError, ValueError)  # the last is botocore's, of what it can't use
    querystring_auth, querystring_expire = True, URL_LIFETIME_S
    default_acl = None  # the bucket's own rule: private

    def __init__(self, **options: Any) -> None:
        self.client_config = Config(
            signature_version="s3v4",
            s3={"addressing_style": options.get("addressing_style", "auto")},
            # If the bucket is silent, the PDF is kept in the database; two attempts fit into STORAGE_TIMEOUT_S.
            connect_timeout=2,
            read_timeout=5,
            retries={"mode": "standard", "total_max_attempts": 2},
            max_pool_connections=settings.SERVE_THREADS,
            # Some stores refuse the checksums that boto3 sends by default.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        super().__init__(**options)

    @cached_property
    def connection(self) -> Any:
        """One for all threads, where the library makes one for each: that is 17 MB and 0.2 s of CPU."""
        resource = super().connection
        bound(resource.meta.client)
        return resource

    def check(self) -> None:
        """Raise BotoCoreError or ClientError unless the bucket exists and may be read."""
        self.connection.meta.client.head_bucket(Bucket=self.bucket_name)

    def write(self, name: str, content: bytes) -> None:
        """Store an object, in place of an earlier one of its name; the library's transfers are for large files."""
        kind = mimetypes.guess_type(name)[0] or self.default_content_type
        self.connection.meta.client.put_object(Bucket=self.bucket_name, Key=name, Body=content, ContentType=kind)

    add = write

    def url(self, name: str, parameters: Any = None, **options: Any) -> str:
        """Sign a URL that says itself how the PDF is served, whatever headers the object was stored with."""
        served_as = {
            "ResponseContentType": "application/pdf",
            "ResponseContentDisposition": disposition(name),
            "ResponseCacheControl": CACHE_CONTROL,
        }
        url: str = super().url(name, served_as | (parameters or {}), **options)
        return url

    def read(self, name: str) -> bytes:
        """Read an object, with one request where its file would take three; raise FileNotFoundError."""
        client = self.connection.meta.client
        try:
            body: bytes = client.get_object(Bucket=self.bucket_name, Key=name)["Body"].read()
        except client.exceptions.NoSuchKey:
            raise FileNotFoundError(errno.ENOENT, "no such object") from None
        return body

    def entries(self, folder: str) -> Iterator[tuple[str, datetime]]:
        """Yield the names of all objects below a folder, and when they were written: a request for every thousand."""
        return ((item.key, item.last_modified) for item in self.bucket.objects.filter(Prefix=f"{folder}/"))


class _Connection(BoundedConnection, AWSHTTPConnection):  # type: ignore[misc]  # botocore has no types
    pass


class _TLSConnection(BoundedTLSConnection, AWSHTTPSConnection):  # type: ignore[misc]  # as above
    pass


class _Pool(AWSHTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(AWSHTTPSConnectionPool):
    ConnectionCls = _TLSConnection


def bound(client: Any) -> None:
    """Let a client's connections end with the deadline of the block, or else with one of each request."""
    session = client._endpoint.http_session  # noqa: SLF001 - botocore lets nobody choose its connections
    session._pool_classes_by_scheme.update(http=_Pool, https=_TLSPool)  # noqa: SLF001
    session._manager.connection_pool_kw["ssl_context"].sslsocket_class = BoundedTLSSocket  # noqa: SLF001
    send = session.send

    def send_within_deadline(request: Any) -> Any:
        if current_exchange.get(None):
            return send(request)
        with within(deadline()):
            return send(request)

    session.send = send_within_deadline
