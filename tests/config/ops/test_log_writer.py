"""Log lines never hold anything up: what a frozen reader leaves no room for is dropped and counted."""

import errno
import fcntl
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from unittest.mock import Mock

import pytest

from config.ops.log_writer import NO_ROOM, NOT_WRITTEN, Handler, LineWriter
from tests.labels.test_metrics import value
from tests.support.http import Connection
from tests.support.processes import ROOT, Server, environment
from tests.support.waiting import WAIT_TIMEOUT_S

PAGE = 4096  # the smallest pipe


def dropped(reason: str) -> float:
    return value("log_lines_dropped_total", reason=reason)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A small pipe: where its lines are read, and where they are written."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PAGE)
    yield reader, writer
    for end in (reader, writer):
        with suppress(OSError):
            os.close(end)


def test_what_a_frozen_reader_leaves_no_room_for_is_dropped_and_counted(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    lines, before = LineWriter(writer, max_lines=3), dropped(NO_ROOM)
    for number in range(20):
        lines.put(f"{number} ".ljust(PAGE, "x"))
    lost = int(dropped(NO_ROOM) - before)
    assert 20 - 3 - (1 + 3) <= lost <= 20 - 3  # three wait; the thread has taken at most one and three that waited
    kept = 20 - lost
    content = b""
    while content.count(b"\n") < kept:
        content += os.read(reader, 65_536)
    read = content.decode().splitlines()
    assert [len(line) for line in read] == [PAGE] * kept
    assert [int(line.split()[0]) for line in read] == sorted(int(line.split()[0]) for line in read)


def test_the_end_does_not_wait_for_a_frozen_reader(pipe: tuple[int, int]) -> None:
    lines = LineWriter(pipe[1])
    for _ in range(10):
        lines.put("x" * PAGE)
    lines.flush(timeout_s=0.1)  # or this test would not end
    os.close(pipe[0])
    lines.flush(WAIT_TIMEOUT_S)  # so that no later test counts these


def test_what_can_not_be_written_is_counted(pipe: tuple[int, int]) -> None:
    lines, before = LineWriter(pipe[1]), dropped(NOT_WRITTEN)
    os.close(pipe[0])
    lines.put("nobody reads")
    lines.flush(WAIT_TIMEOUT_S)
    assert dropped(NOT_WRITTEN) == before + 1


def test_what_can_not_be_formatted_is_counted_and_breaks_nothing() -> None:
    before = dropped(NOT_WRITTEN)
    Handler().emit(logging.makeLogRecord({"msg": "%d", "args": ("a text",)}))
    assert dropped(NOT_WRITTEN) == before + 1


def test_after_a_disk_that_was_full_the_next_line_begins_a_line(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = iter([True, True])

    def write(descriptor: int, text: bytes) -> int:
        if next(full, False):
            if text.startswith(b"lost"):
                return true_write(descriptor, text[:2])
            raise OSError(errno.ENOSPC, "full")
        return true_write(descriptor, text)

    true_write, before = os.write, dropped(NOT_WRITTEN)
    monkeypatch.setattr("config.ops.log_writer.os.write", write)
    lines = LineWriter(pipe[1])
    for line in ("lost", "first", "second"):
        lines.put(line)
        lines.flush(WAIT_TIMEOUT_S)
    assert os.read(pipe[0], PAGE).splitlines() == [b"lo", b"first", b"second"]
    assert dropped(NOT_WRITTEN) == before + 1


def test_a_line_for_which_there_is_no_thread_breaks_nothing_and_is_written_later(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = LineWriter(pipe[1])
    with monkeypatch.context() as patch:
        patch.setattr(Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
        lines.put("first")
    lines.put("second")
    lines.flush(WAIT_TIMEOUT_S)
    assert os.read(pipe[0], PAGE).splitlines() == [b"first", b"second"]


FORKS = """
import logging, logging.config, multiprocessing, os
from django.conf import settings
logging.config.dictConfig(settings.LOGGING)
def child():
    logging.warning("child")
logging.warning("parent")
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
logging.warning("end")
"""


def test_each_process_writes_its_lines_before_it_ends() -> None:
    variables = {**os.environ, "LOG_FORMAT": "text"}
    run = subprocess.run(
        [sys.executable, "-c", FORKS], env=variables, capture_output=True, text=True, check=True, cwd=ROOT
    )
    *before, last = (line.rpartition(" ")[2] for line in run.stderr.splitlines())
    assert (sorted(before), last) == (["child", "parent"], "end")  # two writers, so in any order


@pytest.mark.any_database
def test_a_server_whose_log_is_not_read_answers_and_ends(
    pipe: tuple[int, int], transactional_db: None, tmp_path: Path
) -> None:
    variables = environment() | {"DJANGO_SETTINGS_MODULE": "tests.support.server_settings"}
    with Server(variables, tmp_path / "log", stderr=pipe[1]) as server:
        with closing(Connection(server.port)) as client:
            for _ in range(100):  # each with a line of some 200 bytes
                assert client.request("GET", "/nowhere").status == 404
        assert server.stop(WAIT_TIMEOUT_S) == 0
