"""A local folder that keeps the PDFs of labels, for the service's own account only."""

import errno
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.core.files.storage import FileSystemStorage

from carriers.http.connections import current_exchange
from labels.pdfs.storage import signer
from shops.api.paths import FILES

PARTIAL = "partial"  # the folder of files that are being written
CHECKED_BYTES = 2**16  # more than a usual PDF has


class LabelFolder(FileSystemStorage):
    """A local folder, whose files are reached by the service's own signed URLs only."""

    failures = (OSError, ValueError)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.safe_months: set[str] = set()

    def check(self) -> None:
        """Raise OSError unless files can be kept here: the folder is made, and a file in it, which has no name."""
        folder = Path(self.location)
        nearest = folder if folder.exists() else folder.parent
        if not nearest.exists():  # a volume that is not mounted, or a slip in the path
            raise OSError(errno.ENOENT, "no such folder")
        if not nearest.is_dir() or not os.access(nearest, os.R_OK | os.W_OK | os.X_OK):
            raise OSError(errno.EACCES, "not a folder to write to")
        make_private_folders(folder)
        with tempfile.TemporaryFile(dir=folder) as file:  # root may write anywhere, except where nobody can
            file.write(bytes(CHECKED_BYTES))  # a full disk takes an empty one

    def write(self, name: str, content: bytes) -> None:
        """Put the whole file in its place, and onto the disk: the database forgets the PDF after this.

        Two processes may do it at once, and one of them may die half-way: each writes a partial file of its own.
        """
        place, partial = os.path.join(self.location, name), os.path.join(self.location, PARTIAL)
        month, last = os.path.split(place)
        for folder in (month, partial):
            make_private_folders(folder)
        temporary = os.path.join(partial, f"{last}.{secrets.token_hex(4)}")
        try:
            write_out(temporary, os.O_CREAT | os.O_EXCL, content)
            check_time()
            os.replace(temporary, place)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        sync_folder(month)
        if month not in self.safe_months:  # another process may have made it just now, and not be so far
            for above in Path(month).parents[:2]:
                sync_folder(above)
            self.safe_months.add(month)

    def add(self, name: str, content: bytes) -> None:
        """Add a line to a file, or write one: the file that another replaces slows some file systems down.

        docs/measurements.md has the figures. A line that is cut off does not end with a line feed.
        """
        check_time()
        try:
            write_out(os.path.join(self.location, name), os.O_APPEND, b"\n%b\n" % content)
        except FileNotFoundError:
            self.write(name, content)

    def require(self) -> None:
        """Raise OSError if the folder is not there: a volume that is not mounted, or a slip in the path."""
        if not os.path.isdir(self.location):
            raise OSError(errno.ENOENT, "no such folder")

    def exists(self, name: str) -> bool:
        self.require()
        return super().exists(name)

    def delete(self, name: str) -> None:
        """Remove a label's file, and the partial ones that interrupted attempts to store it left."""
        self.require()
        place = Path(self.path(name))
        for path in (place, *Path(self.path(PARTIAL)).glob(f"{place.name}.*")):
            path.unlink(missing_ok=True)
        with suppress(FileNotFoundError):  # nothing was stored in this month
            sync_folder(place.parent)

    def read(self, name: str) -> bytes:
        """Read a file; raise FileNotFoundError."""
        return Path(self.path(name)).read_bytes()

    def entries(self, folder: str) -> Iterator[tuple[str, datetime]]:
        """Yield the names of all files below a folder, with the times that they were written at."""
        root = self.path("")
        self.require()
        for place, _, files in os.walk(self.path(folder), onerror=raise_unless_gone):
            for path in (Path(place, file) for file in files):
                with suppress(FileNotFoundError):  # removed meanwhile
                    written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                    yield path.relative_to(root).as_posix(), written_at

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        """List folders and files; none where there is no such folder, as in a bucket."""
        try:
            return super().listdir(path)
        except FileNotFoundError:
            return [], []

    def url(self, name: str | None, parameters: Any = None) -> str:
        """Return the path of a signed URL: the signature covers the file's name and the time of signing."""
        return FILES + quote(signer.sign(name or ""))


def write_out(path: str, flags: int, content: bytes) -> None:
    """Write to a file and onto the disk."""
    with open(os.open(path, os.O_WRONLY | flags, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def check_time() -> None:
    """Raise TimeoutError past the deadline: who was suspended may know less by now than what is in the place."""
    current_exchange.get().deadline.remaining_s()


def make_private_folders(folder: str | Path) -> None:
    """Make a folder and those above it, for the service's own account only."""
    if os.path.isdir(folder):
        return
    make_private_folders(os.path.dirname(folder))
    with suppress(FileExistsError):  # made by another process meanwhile
        os.mkdir(folder, mode=0o700)


def sync_folder(folder: str | Path) -> None:
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
