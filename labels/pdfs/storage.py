"""Stores the PDFs of labels, in a bucket or a local folder, and signs the URLs they are fetched by."""

import errno
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.files.storage import storages

from carriers.http.connections import Deadline, within
from labels.models import ShippingLabel
from shops import spans
from shops.api.paths import FILES

URL_LIFETIME_S = 900
READERS = 8  # threads: an object store answers within some milliseconds, of which nearly all are waiting
ROOT = "labels"  # the start of every PDF's name
signer = signing.TimestampSigner(salt="labels.storage")
BACK_OFF_S = 1.0  # botocore's longest pause before its second attempt, which no deadline ends
logger = logging.getLogger("labels.storage")


class StorageError(Exception):
    """The PDFs can't be reached now; `str()` is the reason in one word, for operators."""


def reason(error: Exception) -> str:
    """Name an error by the store's own code (AccessDenied), the system's (ENOSPC), or its class; never by its text."""
    if (response := getattr(error, "response", None)) is not None:  # botocore's
        code = str(response.get("Error", {}).get("Code", ""))
        return code if re.fullmatch(r"[0-9A-Za-z]{1,64}", code) else type(error).__name__
    if isinstance(error, OSError) and (name := errno.errorcode.get(error.errno or 0)):
        return name
    return type(error).__name__


def pdfs() -> Any:
    """Return the bucket or the folder, which can more than Django's own."""
    return storages["labels"]


def deadline(timeout_s: float | None = None) -> Deadline:
    """Begin the deadline of a use of the storage, by default STORAGE_TIMEOUT_S."""
    return Deadline((timeout_s or settings.STORAGE_TIMEOUT_S) - BACK_OFF_S)


@contextmanager
def reached(ends: Deadline | None = None, *, is_listing: bool = False) -> Iterator[None]:
    """Raise StorageError for what fails in the block, or is not over in time (default: STORAGE_TIMEOUT_S).

    Of a listing each of its many requests has a deadline of its own.
    """
    try:
        with nullcontext() if is_listing else within(ends or deadline()):
            yield
    except pdfs().failures as error:  # asked for when one is raised: boto3 takes long to load
        raise StorageError(reason(error)) from error


def check() -> None:
    """Raise StorageError unless the PDFs' storage answers."""
    with reached():
        pdfs().check()


@spans.step("store")
def store(label: ShippingLabel, pdf: bytes, ends: Deadline | None = None) -> None:
    """Store a label's PDF under its own key; a repetition changes nothing. Raise StorageError."""
    try:
        write(label.pdf_key, pdf, ends)
    except StorageError as error:
        logger.warning("label not stored", extra={"label": label.id, "reason": str(error)})
        raise


def write(name: str, content: bytes, ends: Deadline | None = None) -> None:
    """Write a file, in place of an earlier one of its name. Raise StorageError."""
    with reached(ends):
        pdfs().write(name, content)


def add(name: str, content: bytes, ends: Deadline | None = None) -> None:
    """Add a line to a file; write it where there is none, or the storage can't add. Raise StorageError."""
    with reached(ends):
        pdfs().add(name, content)


def delete(name: str) -> None:
    """Remove a file if there is one of this name. Raise StorageError."""
    with reached():
        pdfs().delete(name)


def is_stored(name: str) -> bool:
    """Return whether there is a PDF of this name. Raise StorageError."""
    with reached():
        return bool(pdfs().exists(name))


def months(root: str = ROOT) -> list[str]:
    """Return the months that have PDFs or other files, such as ``2026/11``, in their order. Raise StorageError."""
    with reached(is_listing=True):
        years = pdfs().listdir(root)[0]
        return sorted(f"{year}/{month}" for year in years for month in pdfs().listdir(f"{root}/{year}")[0])


def entries(folder: str) -> list[tuple[str, datetime]]:
    """Return the names of all files below a folder, with the times that they were written at. Raise StorageError."""
    with reached(is_listing=True):
        return list(pdfs().entries(folder))


def signed_url(label: ShippingLabel, *, base_url: str) -> str:
    """Return a URL that opens the PDF for 15 minutes; `base_url` is the service's own. Raise StorageError."""
    with reached():
        url: str = pdfs().url(label.pdf_key)
    return (settings.PUBLIC_BASE_URL or base_url).rstrip("/") + url if url.startswith(FILES) else url


def name_in_link(signed_name: str) -> str:
    """Return the name of the PDF that a local signed URL leads to; it was signed up to a second after its time says.

    Raise BadSignature where it is altered, expired or was never made.
    """
    return signer.unsign(signed_name, max_age=timedelta(seconds=URL_LIFETIME_S, microseconds=999_999))


def read(name: str) -> bytes | None:
    """Read a file, in any thread, None if there is none of that name; raise StorageError."""
    with reached(), suppress(FileNotFoundError):
        content: bytes = pdfs().read(name)
        return content
    return None


def disposition(name: str) -> str:
    """Return the header that shows a PDF, and saves it as ``label-<id>.pdf``."""
    return f'inline; filename="label-{PurePosixPath(name).name}"'
