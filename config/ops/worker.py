"""The background process: tasks, each run when it is due, and a log line a minute of what they have done."""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from random import uniform
from threading import Event, Thread
from typing import Final

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from prometheus_client.metrics import MetricWrapperBase

from carriers import TRACKERS
from config.desk import morning
from config.ops import metrics
from config.ops.serving import check_port
from config.retention import apply_retention
from labels.figures import counting as label_counting
from labels.lifecycle.reconciling import reconcile
from parcels.figures import counting as parcel_counting
from parcels.tracking.due import oldest_due_s
from parcels.tracking.metrics import ASKED
from parcels.tracking.refreshing import refresh
from shops.db import pacing
from shops.db.failures import is_read_only, lacks_migrations, reason
from shops.webhooks.delivering import POLL_S, deliver_due
from shops.webhooks.metrics import ATTEMPTS, DELIVERED, queue

MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86_400.0
# A shared task's turn is looked for this often, and is another process's after this time if it does not end.
LOOK_S, LEASE_S = 15.0, HOUR_S
LOCK_TIMEOUT_S = 10  # as long as a request waits for an import
FIRST_BACK_OFF_S, LAST_BACK_OFF_S = 1.0, 30.0
JITTER = 0.1  # of each wait, to either side
RECOUNTS = (label_counting.recount, parcel_counting.recount)
logger = logging.getLogger("service.work")


@dataclass(frozen=True)
class Task:
    """Something to do every so often; `run` begins nothing after `stop` is set. A true result: more is due."""

    name: str
    every_s: float
    run: Callable[[Event], object]
    is_shared: bool = False  # true if only one of all processes runs it each time


class Report:
    """A log line of what was done since the last one."""

    def __init__(self) -> None:
        self._counted: dict[MetricWrapperBase, Counter[str]] = {ASKED: Counter(), ATTEMPTS: Counter()}

    def write(self) -> None:
        asked, attempts, (queued, oldest_s) = self.new(ASKED), self.new(ATTEMPTS), queue()
        facts = {"asked": asked.total(), **{f"asked_{name}": count for name, count in asked.items()}}
        facts |= {f"oldest_due_{carrier}_s": round(oldest_due_s(carrier)) for carrier in TRACKERS}
        delivered = attempts[DELIVERED]
        facts |= {"webhooks_delivered": delivered, "webhooks_failed": attempts.total() - delivered}
        facts |= {"webhooks_queued": queued, "webhooks_oldest_s": round(oldest_s)}
        logger.info("work", extra=facts)

    def new(self, metric: MetricWrapperBase) -> Counter[str]:
        """Return what a metric of this process has counted since the last line, by its outcome."""
        counted: Counter[str] = Counter()
        for sample in (sample for family in metric.collect() for sample in family.samples):
            if sample.name.endswith(("_total", "_count")):
                counted[sample.labels["outcome"]] += int(sample.value)
        before, self._counted[metric] = self._counted[metric], counted
        return counted - before


report = Report()
TASKS: Final = (
    *(Task(f"tracking {carrier}", 5.0, partial(refresh, carrier)) for carrier in TRACKERS),
    *(
        Task(f"tracking {carrier} sandbox", 5.0, partial(refresh, carrier, is_test=True))
        for carrier in TRACKERS
        if settings.SANDBOX_URL
    ),
    Task("webhooks", POLL_S, lambda stop: deliver_due(stop.is_set)),
    Task("reconciliation", 3 * MINUTE_S, lambda stop: reconcile(stop.is_set), is_shared=True),
    Task("figures", 5 * MINUTE_S, lambda stop: [count(stop.is_set) for count in RECOUNTS], is_shared=True),
    Task("retention", DAY_S, lambda stop: [*apply_retention(stop.is_set)], is_shared=True),
    Task("morning e-mail", 15 * MINUTE_S, lambda stop: morning.send(stop.is_set), is_shared=True),
    Task("report", MINUTE_S, lambda _: report.write()),
)


def work(stop: Event, tasks: tuple[Task, ...] = TASKS) -> None:
    """Run each task in its thread until `stop` is set and all have ended; raise CommandError for a taken port."""
    if settings.WORK_METRICS_PORT:
        check_port(settings.METRICS_HOST, settings.WORK_METRICS_PORT)  # which would be shared
        metrics.expose_own(settings.METRICS_HOST, settings.WORK_METRICS_PORT)
    logger.info("work begins", extra={"version": settings.VERSION, "tasks": len(tasks)})
    threads = [Thread(target=run_until, args=(task, stop), name=task.name) for task in tasks]
    for thread in threads:
        thread.start()
    stop.wait()
    logger.info("work is ending")
    for thread in threads:
        thread.join()
    logger.info("work has ended")


def run_until(task: Task, stop: Event) -> None:
    """Run a task whenever it is due. What it raises is logged; then it waits longer and longer."""
    back_off_s, failures = FIRST_BACK_OFF_S, metrics.TASK_FAILURES.labels(task.name)
    while not stop.is_set():
        try:
            wait_s = run_if_due(task, stop)
            back_off_s = FIRST_BACK_OFF_S
        except Exception as error:
            if isinstance(error, OperationalError | InterfaceError) or is_read_only(error) or lacks_migrations(error):
                # In one line: it fails every task, for as long as the database is away or not migrated.
                logger.warning("task waits for the database", extra={"task": task.name, "reason": reason(error)})
            else:
                logger.exception("task failed", extra={"task": task.name})
                failures.inc()
            wait_s, back_off_s = back_off_s, min(2 * back_off_s, LAST_BACK_OFF_S)
        finally:
            connection.close()
        stop.wait(wait_s * uniform(1 - JITTER, 1 + JITTER))  # noqa: S311 - no secret


def run_if_due(task: Task, stop: Event) -> float:
    """Run the task if it is its turn; return the seconds to wait."""
    if not task.is_shared:
        return 0.0 if task.run(stop) else task.every_s
    wait = timedelta(seconds=task.every_s)
    if pacing.claim(task.name, lease=min(wait, timedelta(seconds=LEASE_S)), wait=wait):
        task.run(stop)
        if not stop.is_set():  # else another process takes it up when the lease is over
            pacing.schedule(task.name, wait=wait)
    return min(task.every_s, LOOK_S)
