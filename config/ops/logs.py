"""Log lines: JSON for machines or text for people, each with the request's identifier, none with a customer's data."""

import logging
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import orjson

# Of each record Python's logging would gather the caller, the thread, the process and the task, which no line here has.
logging._srcfile = None
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

# What a LogRecord has by itself; everything else on it came through ``extra``.
STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "request_id", "request"}
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class RequestIdFilter(logging.Filter):
    """Puts the identifier of the request being answered on each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class ServerFilter(logging.Filter):
    """Keeps the first line only of what granian logs: an exception's text would follow it.

    Its remark on many threads is dropped: they are meant for calls to carriers, which wait and compute nothing.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith("_granian"):
            return True
        record.msg, record.args, record.exc_info = record.getMessage().partition("\n")[0], None, None
        return not record.msg.startswith("Configuration allows spawning up to")


def format_exception(exc_info: ExcInfo) -> str:
    """Where it happened and the exception's type; its text may quote a customer's data (PostgreSQL's DETAIL does)."""
    kind, _, trace = exc_info
    frames = "".join(traceback.format_tb(trace))
    return f"{frames}{kind.__module__}.{kind.__qualname__}" if kind else frames


def extra_of(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in STANDARD}


class TextFormatter(logging.Formatter):
    """``12:03:04 INFO service.request: request (method=GET route=parcel status=200 ... request_id=...)``."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        facts = extra_of(record) | {"request_id": getattr(record, "request_id", None)}
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
            "request_id": getattr(record, "request_id", None),
        } | extra_of(record)
        if record.exc_info:
            line["exception"] = format_exception(record.exc_info)
        return orjson.dumps(line, default=str).decode()
