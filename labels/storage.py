"""Stores the PDFs of labels, in a bucket or a local folder, and signs the URLs they are fetched by."""

import errno
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core import signing
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, Storage, storages
from storages.backends.s3 import S3Storage

from labels.models import ShippingLabel
from shops.paths import FILES

URL_LIFETIME_S = 900
ROOT = "labels"  # the start of every PDF's name
PARTIAL = "partial"  # the local folder of files that are being written
CACHE_CONTROL = "private, no-store"
signer = signing.TimestampSigner(salt="labels.storage")
FAILURES = (OSError, BotoCoreError, ClientError, ValueError)  # the last is botocore's, of what it can't use
logger = logging.getLogger("labels.storage")


class StorageError(Exception):
    """The PDFs can't be reached now; `str()` is the reason in one word, for operators."""


class LinkError(Exception):
    """A link to a PDF is altered, expired or was never made."""


class LabelBucket(S3Storage):  # type: ignore[misc]  # it has no types
    """A private bucket, whose objects are reached by URLs signed with signature version 4 only."""

    def check(self) -> None:
        """Raise BotoCoreError or ClientError unless the bucket exists and may be read."""
        self.connection.meta.client.head_bucket(Bucket=self.bucket_name)

    def url(self, name: str, parameters: Any = None, **options: Any) -> str:
        """Sign a URL that says itself how the PDF is served, whatever headers the object was stored with."""
        served_as = {
            "ResponseContentType": "application/pdf",
            "ResponseContentDisposition": disposition(name),
            "ResponseCacheControl": CACHE_CONTROL,
        }
        url: str = super().url(name, served_as | (parameters or {}), **options)
        return url

    def names(self, folder: str) -> Iterator[str]:
        """Yield the names of all objects below a folder, with a request for every thousand."""
        return (item.key for item in self.bucket.objects.filter(Prefix=f"{folder}/"))


class LabelFolder(FileSystemStorage):
    """A local folder, whose files are reached by the service's own signed URLs only."""

    def check(self) -> None:
        """Raise OSError unless files can be kept here; the folder is made with the first one."""
        folder = Path(self.location)
        nearest = next(each for each in (folder, *folder.parents) if each.exists())
        if not nearest.is_dir() or not os.access(nearest, os.R_OK | os.W_OK | os.X_OK):
            raise OSError(errno.EACCES, "not a folder to write to")

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return the name itself: a label's PDF replaces what an earlier attempt has stored."""
        return name

    def _save(self, name: str, content: File[bytes]) -> str:
        """Put the whole file in its place, and onto the disk: the database forgets the PDF after this.

        Two processes may do it at once, and one of them may die half-way: each writes a partial file of its own.
        """
        place, partial = Path(self.path(name)), Path(self.path(PARTIAL))
        for folder in (place.parent, partial):
            make_private_folders(folder)
        descriptor, temporary = tempfile.mkstemp(dir=partial, prefix=f"{place.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(place)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        for folder in place.parents[:3]:  # those of the month, the year and all labels may be new themselves
            sync_folder(folder)
        return name

    def delete(self, name: str) -> None:
        """Remove a label's file, and the partial ones that interrupted attempts to store it left."""
        place = Path(self.path(name))
        for path in (place, *Path(self.path(PARTIAL)).glob(f"{place.name}.*")):
            path.unlink(missing_ok=True)
        with suppress(FileNotFoundError):  # nothing was stored in this month
            sync_folder(place.parent)

    def names(self, folder: str) -> Iterator[str]:
        """Yield the names of all files below a folder."""
        root = self.path("")
        for place, _, files in os.walk(self.path(folder), onerror=raise_unless_gone):
            yield from (Path(place, file).relative_to(root).as_posix() for file in files)

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        """List folders and files; none where there is no such folder, as in a bucket."""
        try:
            return super().listdir(path)
        except FileNotFoundError:
            return [], []

    def url(self, name: str | None, parameters: Any = None) -> str:
        """Return the path of a signed URL: the signature covers the file's name and the time of signing."""
        return FILES + quote(signer.sign(name or ""))


def make_private_folders(folder: Path) -> None:
    """Make a folder and those above it, for the service's own account only."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def raise_unless_gone(error: OSError) -> None:
    """Raise the error of a folder that cannot be listed; one that was removed meanwhile counts as empty."""
    if not isinstance(error, FileNotFoundError):
        raise error


def reason(error: Exception) -> str:
    """Name an error by the store's own code (AccessDenied), the system's (ENOSPC), or its class; never by its text."""
    if isinstance(error, ClientError):
        code = str(error.response.get("Error", {}).get("Code", ""))
        return code if re.fullmatch(r"[0-9A-Za-z]{1,64}", code) else type(error).__name__
    if isinstance(error, OSError) and (name := errno.errorcode.get(error.errno or 0)):
        return name
    return type(error).__name__


def pdfs() -> Storage:
    return storages["labels"]


def check() -> None:
    """Raise StorageError unless the PDFs' storage answers."""
    try:
        pdfs().check()  # type: ignore[attr-defined]  # ours have it
    except FAILURES as error:
        raise StorageError(reason(error)) from error


def store(label: ShippingLabel, pdf: bytes) -> None:
    """Store a label's PDF under its own key; a repetition changes nothing. Raise StorageError."""
    try:
        write(label.pdf_key, pdf)
    except StorageError as error:
        logger.warning("label not stored", extra={"label": label.id, "reason": str(error)})
        raise


def write(name: str, content: bytes) -> None:
    """Write a file, in place of an earlier one of its name. Raise StorageError."""
    try:
        pdfs().save(name, ContentFile(content))
    except FAILURES as error:
        raise StorageError(reason(error)) from error


def remove(label: ShippingLabel) -> None:
    """Remove a label's PDF if there is one. Raise StorageError."""
    delete(label.pdf_key)


def delete(name: str) -> None:
    """Remove a file if there is one of this name. Raise StorageError."""
    try:
        pdfs().delete(name)
    except FAILURES as error:
        raise StorageError(reason(error)) from error


def is_stored(name: str) -> bool:
    """Tell if there is a PDF of this name. Raise StorageError."""
    try:
        return pdfs().exists(name)
    except FAILURES as error:
        raise StorageError(reason(error)) from error


def months() -> list[str]:
    """Return the months that have PDFs, such as ``2026/11``, in their order. Raise StorageError."""
    try:
        years = pdfs().listdir(ROOT)[0]
        return sorted(f"{year}/{month}" for year in years for month in pdfs().listdir(f"{ROOT}/{year}")[0])
    except FAILURES as error:
        raise StorageError(reason(error)) from error


def names(month: str) -> set[str]:
    """Return the names of all PDFs of a month. Raise StorageError."""
    place: Any = pdfs()  # both kinds can
    try:
        return set(place.names(f"{ROOT}/{month}"))
    except FAILURES as error:
        raise StorageError(reason(error)) from error


def signed_url(label: ShippingLabel, *, base_url: str) -> str:
    """Return a URL that opens the PDF for 15 minutes; `base_url` is the service's own. Raise StorageError."""
    try:
        url = pdfs().url(label.pdf_key)
    except FAILURES as error:
        raise StorageError(reason(error)) from error
    return (settings.PUBLIC_BASE_URL or base_url).rstrip("/") + url if url.startswith(FILES) else url


def name_in_link(signed_name: str) -> str:
    """Return the name of the PDF that a local signed URL leads to; raise LinkError."""
    try:
        return signer.unsign(signed_name, max_age=URL_LIFETIME_S)
    except signing.BadSignature as error:
        raise LinkError from error


def read(name: str) -> bytes | None:
    """Read a file, None if there is none of that name; raise StorageError."""
    try:
        with pdfs().open(name) as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    except FAILURES as error:
        raise StorageError(reason(error)) from error
    return content


def disposition(name: str) -> str:
    """Return the header that shows a PDF, and saves it as ``label-<id>.pdf``."""
    return f'inline; filename="label-{PurePosixPath(name).name}"'
