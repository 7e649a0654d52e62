"""The text of log records."""

import logging
from collections.abc import Iterable

# Numbers of the logging module, which may contain any digits.
FIGURES = {"created", "msecs", "relativeCreated", "process", "thread"}


def text_of_records(records: Iterable[logging.LogRecord]) -> str:
    facts = [{name: value for name, value in vars(record).items() if name not in FIGURES} for record in records]
    return "\n".join(map(str, facts))
