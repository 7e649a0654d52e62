"""A log line a minute of what the background process has done."""

import logging
from collections import Counter
from threading import Event

from carriers import TRACKERS
from parcels.tracking.due import oldest_due_s
from parcels.tracking.metrics import asked_by_outcome

logger = logging.getLogger("service.work")


class Report:
    """Knows what it reported last."""

    def __init__(self) -> None:
        self._reported: Counter[str] = Counter()

    def write(self, stop: Event) -> bool:
        asked = asked_by_outcome()
        new = asked - self._reported
        oldest = {f"oldest_due_{carrier}_s": round(oldest_due_s(carrier)) for carrier in TRACKERS}
        logger.info("work", extra={"asked": new.total(), **{f"asked_{name}": n for name, n in new.items()}, **oldest})
        self._reported = asked
        return False
