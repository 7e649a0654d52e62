"""Log lines as JSON or text, each with the request's id and none with a customer's data."""

import logging
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import orjson

from shops.api.request_ids import request_id
from shops.db.failures import sqlstate

# Python would look up the caller, thread, process and task of each record; no line shows them.
logging._srcfile = None  # noqa: SLF001 - as Python's documentation says
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False

# The attributes of every LogRecord; all others came through ``extra``.
STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "request"}
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def format_exception(exc_info: ExcInfo) -> str:
    """Show the traceback, the exception's type and its SQLSTATE; not its text, which may quote a customer's data."""
    kind, error, trace = exc_info
    frames = "".join(traceback.format_tb(trace))
    if kind is None or error is None:
        return frames
    state = sqlstate(error)
    return f"{frames}{kind.__module__}.{kind.__qualname__}" + (f" {state}" if state else "")


def extra_of(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in STANDARD}


class TextFormatter(logging.Formatter):
    """``12:03:04 INFO service.request: request (method=GET route=parcel status=200 ... request_id=...)``."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        facts = extra_of(record) | {"request_id": request_id.get()}
        extra = " ".join(f"{name}={value}" for name, value in facts.items() if value is not None)
        line = f"{at:%H:%M:%S} {record.levelname} {record.name}: {record.getMessage()}"
        line += f" ({extra})" if extra else ""
        return f"{line}\n{format_exception(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object a line; `timestamp` is Unix time in seconds."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "timestamp": record.created,
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get(),
        } | extra_of(record)
        if record.exc_info:
            line["exception"] = format_exception(record.exc_info)
        return orjson.dumps(line, default=str).decode()
