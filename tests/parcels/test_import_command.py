"""The command import_parcels: its input, its output, and all or nothing however it ends."""

import os
import pty
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from functools import partial
from io import BytesIO, RawIOBase, StringIO
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, transaction
from psycopg.errors import DeadlockDetected

from parcels.importing.numbers import lock_imports
from parcels.importing.reading import BATCH_SIZE, MAX_LINE_BYTES, read_lines
from parcels.models import Parcel, TrackingNumber
from tests.parcels.lines import line, many
from tests.shops.commands import refused, run_here
from tests.support.api import Caller
from tests.support.cases import in_one_test
from tests.support.factories import import_parcel
from tests.support.processes import end_other_sessions, start_command
from tests.support.sql import WAITING, value
from tests.support.threads import Threads
from tests.support.waiting import WAIT_TIMEOUT_S, until

DATA = Path(__file__).parent.parent / "data"
MARK = b"\xef\xbb\xbf"


def call(shop_id: str, content: bytes, folder: Path, **options: Any) -> tuple[str, str]:
    """Import a file in this process; return standard output and standard error."""
    file = folder / "parcels.ndjson"
    file.write_bytes(content)
    out, err = StringIO(), StringIO()
    call_command("import_parcels", shop_id, str(file), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


# --- As an operator runs it ---


@pytest.mark.any_database
def test_a_file_is_imported_and_its_count_printed_alone(transactional_db: None, own: Caller) -> None:
    assert run_here("import_parcels", "own", DATA / "parcels.ndjson") == (0, "400\n", "")
    assert own.look_up("6A57572594822").json()["id"] == "P00000"


@pytest.mark.any_database
@pytest.mark.parametrize("size", [(24, 80), (0, 0)], ids=["80 wide", "size unknown"])
def test_a_terminal_shows_a_progress_bar(size: tuple[int, int], own: Caller) -> None:
    terminal, side = pty.openpty()
    termios.tcsetwinsize(side, size)
    out = StringIO()
    with os.fdopen(terminal, "rb", buffering=0) as shown:
        with os.fdopen(side, "w") as screen, redirect_stderr(screen):
            call_command("import_parcels", "own", str(DATA / "parcels.ndjson"), stdout=out)
        seen = b"".join(iter(partial(read_terminal, shown), b""))
    assert out.getvalue() == "400\n"
    assert b"100%|" in seen
    assert b" parcels/s" in seen


def read_terminal(shown: RawIOBase) -> bytes:
    try:
        return shown.read(4096) or b""
    except OSError:  # how Linux reports that the other end is closed
        return b""


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("options", "code", "count", "last"),
    [
        ([], 1, 0, "CommandError: 23 bad lines: nothing was imported"),
        (["--skip-invalid"], 0, 1, "23 bad lines left out"),
    ],
)
def test_bad_lines_are_listed_on_standard_error_and_the_rest_is_imported_on_request(
    options: list[str], code: int, count: int, last: str, transactional_db: None, own: Caller
) -> None:
    content = (DATA / "bad_lines.ndjson").read_bytes() + line(id="é") + b"\n"
    ended, out, err = run_here("import_parcels", "own", "-", *options, stdin=content)
    assert (ended, out) == (code, f"{count}\n" if count else "")
    lines = err.splitlines()
    assert [text.partition(":")[0] for text in lines[:-1]] == [f"line {number}" for number in range(1, 24)]
    assert lines[-1] == last
    assert Parcel.objects.filter(id="é").count() == Parcel.objects.count() == count


@contextmanager
def importing(*lines: bytes) -> Iterator[Any]:
    """Start an import of these lines; yield its process when it has read them all, and waits for more."""
    with start_command("import_parcels", "own", "-", "--skip-invalid") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.writelines(made + b"\n" for made in lines)
        process.stdin.write(b"bad\n" + b"\n" * 2**17)  # more than its buffer holds
        process.stdin.flush()
        while not process.stderr.readline().startswith(b"line %d: " % (len(lines) + 1)):
            assert process.poll() is None
        yield process


@pytest.mark.parametrize(
    ("ends_with", "code", "told"),
    [(signal.SIGKILL, -signal.SIGKILL, b""), (signal.SIGINT, 130, b"Interrupted\n")],  # the second is Ctrl-C
    ids=["killed", "interrupted"],
)
def test_an_import_that_ends_in_the_middle_has_changed_nothing(
    ends_with: signal.Signals, code: int, told: bytes, transactional_db: None, own: Caller
) -> None:
    import_parcel(own.shop, id="before", trackingId="N1")
    # Two batches were written; the third is being collected.
    with importing(line(id="before", trackingId="N2"), *many(BATCH_SIZE * 2)) as process:
        process.send_signal(ends_with)
        assert process.communicate(timeout=WAIT_TIMEOUT_S) == (b"", told)
    assert process.returncode == code
    end_other_sessions()
    assert Parcel.objects.count() == 1
    assert list(TrackingNumber.objects.values_list("number", flat=True)) == ["N1"]
    # Nothing is left locked.
    import_parcel(own.shop, id="before", trackingId="N3")
    assert own.look_up("N3").status_code == 200


@pytest.mark.real_services
def test_an_import_that_waits_for_another_of_its_shop_says_so(
    transactional_db: None, own: Caller, tmp_path: Path
) -> None:
    with Threads(1) as pool:
        with transaction.atomic():
            lock_imports(own.shop.id)
            waiting = pool.submit(call, "own", line(id="P1"), tmp_path)
            until(lambda: value(WAITING))
        said = "another import or an erasure of this shop runs: this one waits for it\n"
        assert waiting.result(WAIT_TIMEOUT_S) == ("1\n", said)


@pytest.mark.real_services
def test_an_import_whose_database_restarts_ends_with_one_clear_line(transactional_db: None, own: Caller) -> None:
    with importing(*many(BATCH_SIZE * 2)) as process:  # two batches were written
        end_other_sessions()
        _, told = process.communicate(line() + b"\n")
    assert process.returncode == 1
    (told_once,) = told.decode().splitlines()
    assert "database" in told_once.lower()
    assert not Parcel.objects.exists()


# --- What it reads ---


@pytest.mark.any_database
@in_one_test(
    "end, is_marked, is_ended",
    product([b"\n", b"\r\n", b"\n\n", b"\r\n \t\r\n", b"\n\n\n\n"], [False, True], [False, True]),
)
def test_line_ends_blank_lines_and_a_byte_order_mark_do_not_matter(
    *, end: bytes, is_marked: bool, is_ended: bool, own: Caller, tmp_path: Path
) -> None:
    content = end.join([line(trackingId="N1"), line(trackingId="N2"), line(trackingId="N3")])
    content = MARK * is_marked + content + end * is_ended
    assert call("own", content, tmp_path) == ("3\n", "")
    assert [own.look_up(number).status_code for number in ("N1", "N2", "N3")] == [200] * 3


@pytest.mark.any_database
@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n\r\n", b"  \n\t", MARK, MARK + b"\n"])
def test_a_file_with_nothing_in_it_imports_nothing(content: bytes, own: Caller, tmp_path: Path) -> None:
    assert call("own", content, tmp_path) == ("0\n", "")


LONG = b'{"id": "' + b"x" * (3 * MAX_LINE_BYTES) + b'"}'


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("lines", "bad", "why"),
    [
        ([b"", line(), b"", b"{}", line(), b"{}"], [4, 6], "id: is required."),
        ([line(), MARK + line()], [2], "is not valid JSON"),
        ([line(), LONG, line(), LONG], [2, 4], f"is longer than {MAX_LINE_BYTES} bytes."),
    ],
    ids=["blank lines count", "a byte order mark inside a file", "a line that is too long is one"],
)
def test_a_bad_line_is_named_by_its_number(
    lines: list[bytes], bad: list[int], why: str, own: Caller, tmp_path: Path
) -> None:
    out, err = call("own", b"\n".join(lines), tmp_path, skip_invalid=True)
    assert out == f"{len(list(filter(None, lines))) - len(bad)}\n"
    for number, said in zip(bad, err.splitlines()[:-1], strict=True):
        assert said.startswith(f"line {number}: {why}")


@pytest.mark.any_database
def test_of_a_line_no_more_than_the_limit_is_read() -> None:
    class Watched(BytesIO):
        longest = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            text = super().readline(size)
            self.longest = max(self.longest, len(text))
            return text

    file = Watched(b"x" * (5 * MAX_LINE_BYTES) + b"\nafter\n")
    lines = list(read_lines(file))
    assert [(number, len(text)) for number, text in lines] == [(1, MAX_LINE_BYTES + 1), (2, 6)]
    assert file.longest <= MAX_LINE_BYTES + 1


# --- Bad input ---


@pytest.mark.any_database
@pytest.mark.parametrize(("shop_id", "name"), [("absent", "parcels.ndjson"), ("own", "absent.ndjson"), ("own", "")])
def test_a_missing_shop_or_file_is_named_in_one_line(shop_id: str, name: str, own: Caller, tmp_path: Path) -> None:
    (tmp_path / "parcels.ndjson").write_bytes(line())
    said = refused("import_parcels", shop_id, str(tmp_path / name))
    assert ("SHOP_ID" if shop_id == "absent" else "FILE") in said
    assert Parcel.objects.count() == 0


@pytest.mark.any_database
def test_strict_is_the_default_and_an_option_that_excludes_the_other(own: Caller, tmp_path: Path) -> None:
    assert refused("import_parcels", "own", "-", "--strict", "--skip-invalid")
    for options in ({}, {"strict": True}):
        with pytest.raises(CommandError, match="1 bad line: nothing was imported"):
            call("own", line() + b"\n{}\n", tmp_path, **options)
    assert Parcel.objects.count() == 0


@pytest.mark.any_database
def test_an_import_that_is_undone_for_another_shops_is_one_line(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    undone = OperationalError()
    undone.__cause__ = DeadlockDetected()
    monkeypatch.setattr("parcels.importing.reading.write", Mock(side_effect=undone))
    code, out, err = run_here("import_parcels", "own", "-", stdin=line())
    assert (code, out) == (1, "")
    assert err == ("CommandError: another process writes some of these parcels: nothing was imported, import again\n")
