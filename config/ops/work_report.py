"""A log line a minute of what the background process has done."""

import logging
from collections import Counter

from carriers import TRACKERS
from parcels.tracking.due import oldest_due_s
from parcels.tracking.metrics import asked_by_outcome
from shops.webhooks.metrics import attempts_by_outcome, queue

logger = logging.getLogger("service.work")


class Report:
    """Knows what it reported last."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self._attempts: Counter[str] = Counter()

    def write(self) -> None:
        logger.info("work", extra=self.tracking() | self.webhooks())

    def tracking(self) -> dict[str, int]:
        asked = asked_by_outcome()
        new, self._asked = asked - self._asked, asked
        oldest = {f"oldest_due_{carrier}_s": round(oldest_due_s(carrier)) for carrier in TRACKERS}
        return {"asked": new.total(), **{f"asked_{name}": n for name, n in new.items()}, **oldest}

    def webhooks(self) -> dict[str, int]:
        attempts = attempts_by_outcome()
        new, self._attempts = attempts - self._attempts, attempts
        queued, oldest_s = queue()
        done = {f"webhooks_{name}": new[name] for name in ("delivered", "failed")}
        return done | {"webhooks_queued": queued, "webhooks_oldest_s": round(oldest_s)}
