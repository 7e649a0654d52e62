"""Reports errors to Sentry, made anew of what may leave the service; loaded only where a DSN is set."""

import logging
import sys
from contextlib import suppress
from multiprocessing.util import Finalize
from traceback import walk_tb
from types import TracebackType
from typing import Any

import sentry_sdk
from sentry_sdk.types import Event
from sentry_sdk.utils import walk_exception_chain

from shops.api.request_ids import request_id

# The first parts of our modules' and loggers' names. Others' messages may be put together from anything.
MODULES = {"carriers", "config", "labels", "parcels", "shops"}
LOGGERS = MODULES | {"database", "service", "webhooks"}
SENDERS = ("opentelemetry", "sentry_sdk", "urllib3")  # a failure to send is in the log
FACTS = ("request_id", "label", "carrier", "operation", "outcome", "state", "task")
FLUSH_TIMEOUT_S = 2.0  # at the end of the process


class Handler(logging.Handler):
    """Reports each record of level ERROR or above, and what ends a command; the SDK's thread begins with the first."""

    def __init__(self, dsn: str, release: str) -> None:
        super().__init__(logging.ERROR)
        # No integrations: they would send what they find. Nor the process's scope, with what happened before an error.
        self.client = sentry_sdk.Client(
            dsn, release=release, default_integrations=False, auto_enabling_integrations=False
        )
        sys.excepthook = self.report_uncaught
        Finalize(None, self.client.flush, kwargs={"timeout": FLUSH_TIMEOUT_S}, exitpriority=1)

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] not in SENDERS:
            with suppress(Exception):  # a report that can't be made must not break what it tells of
                self.client.capture_event(report(record))

    def report_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Report what ends a command, beside Python's own traceback."""
        if issubclass(kind, Exception):
            facts = {"name": "service.command", "levelno": logging.CRITICAL, "msg": "command failed"}
            self.emit(logging.makeLogRecord(facts | {"exc_info": (kind, error, trace)}))
        sys.__excepthook__(kind, error, trace)


def report(record: logging.LogRecord) -> Event:
    """Describe a record: logger, message without arguments, facts, types of exceptions and where they were raised."""
    found = vars(record) | {"request_id": request_id.get()}
    made: Event = {
        "level": "fatal" if record.levelno >= logging.CRITICAL else "error",
        "logger": record.name,
        "tags": {name: str(found[name]) for name in FACTS if found.get(name)},
    }
    if record.name.partition(".")[0] in LOGGERS:
        made["logentry"] = {"message": str(record.msg)}
    if route := found.get("route"):
        made["transaction"] = str(route)
    if record.exc_info and record.exc_info[1]:
        chain = walk_exception_chain(record.exc_info)  # the exception, then its causes
        made["exception"] = {"values": [described(error) for _, error, _ in chain if error][::-1]}
    return made


def described(error: BaseException) -> dict[str, Any]:
    """Describe an exception without its text: a database quotes the row that it refuses."""
    kind = type(error)
    frames = [
        frame(each.f_globals.get("__name__"), each.f_code.co_qualname, line)
        for each, line in walk_tb(error.__traceback__)
    ]
    return {"type": kind.__qualname__, "module": kind.__module__, "stacktrace": {"frames": frames}}


def frame(module: str | None, function: str, line: int) -> dict[str, Any]:
    name = str(module)
    return {"module": name, "function": function, "lineno": line, "in_app": name.partition(".")[0] in MODULES}
