"""What a log record holds that somebody has said."""

import logging
from collections.abc import Iterable

# Figures of logging's own, which may have any digits.
FIGURES = {"created", "msecs", "relativeCreated", "process", "thread"}


def said(records: Iterable[logging.LogRecord]) -> str:
    facts = [{name: value for name, value in vars(record).items() if name not in FIGURES} for record in records]
    return "\n".join(map(str, facts))
