"""`manage.py work`: tasks when they are due, ending at SIGTERM, metrics; a failure of one stops no other."""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError
from django.db import InterfaceError, InternalError, OperationalError, ProgrammingError, connections
from django.utils import timezone
from prometheus_client import REGISTRY
from psycopg import errors

from config.ops import worker
from config.ops.worker import Report, Task, run_if_due, work
from labels.figures.models import LabelFigure
from labels.models import LabelState
from parcels.models import Parcel
from shops.db.pacing import Pace
from shops.models import Shop
from shops.staff.figures import Recount
from shops.webhooks import claims, delivering, endpoints
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from shops.webhooks.sending import Outcome
from tests.carriers.support.servers import LoopbackServer
from tests.labels.factories import LabelFactory
from tests.parcels.tracking.conftest import Carriers, follow
from tests.shops.webhooks.receivers import tell_label
from tests.support.factories import ShopFactory
from tests.support.http import metrics
from tests.support.processes import free_port, run_command, start_command
from tests.support.threads import in_threads
from tests.support.waiting import WAIT_TIMEOUT_S, until

if TYPE_CHECKING:
    from subprocess import Popen


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "FIRST_BACK_OFF_S", 0.01)


class Counted:
    """A task's function that counts its runs, and fails as often as it is told to."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.runs = 0

    def __call__(self, stop: Event) -> bool:
        self.runs += 1
        if self.failures:
            raise self.failures.pop(0)
        return False


@contextmanager
def working(*tasks: Task) -> Iterator[None]:
    stop = Event()
    thread = Thread(target=work, args=(stop, tasks))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(WAIT_TIMEOUT_S)
    assert not thread.is_alive()


# --- The tasks ---


@pytest.mark.any_database
def test_a_task_that_raises_is_logged_and_stops_no_other(
    transactional_db: None, caplog: pytest.LogCaptureFixture
) -> None:
    good, bad = Counted(), Counted(*[RuntimeError("a bug")] * 3)
    with working(Task("good", 0.01, good), Task("bad", 0.01, bad)):
        until(lambda: good.runs > 5 and bad.runs > 5)
    failed = [record for record in caplog.records if record.getMessage() == "task failed"]
    assert {vars(record)["task"] for record in failed} == {"bad"}
    assert len(failed) == 3
    figures = [REGISTRY.get_sample_value("work_task_failures_total", {"task": name}) for name in ("good", "bad")]
    assert figures == [0, 3]  # an alert needs the zero


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def test_a_database_that_is_away_or_not_migrated_is_waited_for(
    transactional_db: None, caplog: pytest.LogCaptureFixture
) -> None:
    standby = caused(InternalError("read-only"), errors.ReadOnlySqlTransaction())  # a primary that has become one
    older = (errors.UndefinedTable(), errors.UndefinedColumn())
    task = Counted(
        OperationalError("gone"), InterfaceError("closed"), standby, *(caused(ProgrammingError(), e) for e in older)
    )
    with working(Task("tracking", 0.01, task)):
        until(lambda: task.runs > 6)
    lines = [record for record in caplog.records if record.name == "service.work" and record.levelno > logging.INFO]
    assert [record.getMessage() for record in lines] == ["task waits for the database"] * 5
    assert vars(lines[-1])["reason"] == "ProgrammingError 42703 (migrations are pending)"
    assert not any(record.exc_info for record in lines)


@pytest.mark.any_database
def test_the_waits_after_failures_become_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    class Stop(Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0)
            if len(waits) == 5:
                self.set()
            return self.is_set()

    monkeypatch.setattr(worker, "FIRST_BACK_OFF_S", 10.0)
    worker.run_until(Task("failing", 1, Counted(*[RuntimeError()] * 4)), Stop())
    assert [round(wait / 10) for wait in waits] == [1, 2, 3, 3, 0]  # up to 30 s; then it has succeeded


def test_of_several_processes_one_runs_a_shared_task(transactional_db: None) -> None:
    run = Counted()
    task = Task("retention", 3600, run, is_shared=True)
    in_threads(5, lambda _: run_if_due(task, Event()))
    assert run.runs == 1
    Pace.objects.update(next_at=timezone.now())
    in_threads(5, lambda _: run_if_due(task, Event()))
    assert run.runs == 2


def test_a_shared_task_that_failed_is_another_processs_when_its_lease_ends(transactional_db: None) -> None:
    task = Task("retention", worker.DAY_S, Counted(RuntimeError()), is_shared=True)
    with pytest.raises(RuntimeError):
        run_if_due(task, Event())
    wait_s = (Pace.objects.get().next_at - timezone.now()).total_seconds()
    assert worker.LEASE_S - 60 < wait_s <= worker.LEASE_S


def test_the_table_of_tasks_reconciles_and_removes_what_is_old(transactional_db: None) -> None:
    shop = ShopFactory()
    received = LabelFactory(shop=shop, state=LabelState.RECEIVED, leased_until=timezone.now())
    stopped = Event()
    stopped.set()
    for task in worker.TASKS:
        task.run(stopped)
    received.refresh_from_db()
    assert (received.state, Recount.objects.count()) == (LabelState.RECEIVED, 0), "nothing begins after a stop"
    for task in worker.TASKS:
        run_if_due(task, Event())
    received.refresh_from_db()
    assert received.state == LabelState.GENERATED
    assert LabelFigure.objects.get().labels == 1
    assert set(Pace.objects.values_list("name", flat=True)) == {
        "reconciliation",
        "figures",
        "retention",
        "morning e-mail",
    }


# --- Its line a minute ---


@pytest.mark.django_db
def test_it_tells_what_webhooks_were_delivered_since_the_last_and_how_many_wait_how_long(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    shop = ShopFactory()
    endpoints.create(shop=shop, url="http://127.0.0.1:9999/")
    WebhookEndpoint.objects.update(is_slow=False)  # a new one has fewer attempts at once
    report = Report()

    def line() -> dict[str, int]:
        caplog.clear()
        with caplog.at_level(logging.INFO, "service.work"):
            report.write()
        names = ("queued", "oldest_s", "delivered", "failed")
        return {name: getattr(caplog.records[-1], f"webhooks_{name}") for name in names}

    line()
    assert line() == {"queued": 0, "oldest_s": 0, "delivered": 0, "failed": 0}
    for number in range(4):
        tell_label(shop.id, f"label-{number}")
    WebhookDelivery.objects.update(created_at=timezone.now() - timedelta(seconds=90))
    reasons = ("", "", "timeout", "http_5xx")
    delivering.record(Outcome(each, None, reason, 0.1) for each, reason in zip(claims.claim(10), reasons, strict=True))
    found = line()
    assert found.pop("oldest_s") in range(90, 120)
    assert found == {"queued": 2, "delivered": 2, "failed": 2}
    assert line()["failed"] == 0


# --- The process ---


@pytest.fixture
def carriers(transactional_db: None) -> Carriers:
    return Carriers()


@contextmanager
def process(carriers: Carriers, **settings: str) -> "Iterator[Popen[bytes]]":
    with LoopbackServer(carriers.play) as server:
        urls = {"ALPHA_TRACKING_URL": server.url, "BETA_TRACKING_URL": server.url}
        with start_command("work", **urls, **settings) as started:
            try:
                yield started
            finally:
                started.kill()


def ended(started: "Popen[bytes]") -> tuple[int, str]:
    _, log = started.communicate(timeout=WAIT_TIMEOUT_S)
    return started.returncode, log.decode()


@pytest.mark.any_database
def test_what_has_begun_at_sigterm_is_finished_and_nothing_more_begins(carriers: Carriers, shop: Shop) -> None:
    parcels = [follow(shop, f"N{place}") for place in range(6)]
    for place in range(6):
        carriers.tell(f"N{place}", "TS")
    reached, gate = Event(), Event()

    def hold() -> None:
        reached.set()
        gate.wait(WAIT_TIMEOUT_S)

    carriers.before = hold
    connections.close_all()
    with process(carriers, DJANGO_SETTINGS_MODULE="tests.support.quick_settings", TRACKING_CONCURRENCY="1") as started:
        assert reached.wait(WAIT_TIMEOUT_S)
        started.send_signal(signal.SIGTERM)
        assert started.stderr
        assert any(b'"work is ending"' in line for line in started.stderr)
        gate.set()
        code, log = ended(started)
    assert (code, '"work has ended"' in log) == (0, True)
    assert len(carriers.asked) == 1
    assert Parcel.objects.filter(id__in=parcels, last_status="IN_TRANSIT").count() == 1


SIGNALLED_WITHIN_ITS_WAIT = """
import os, signal
from config.ops import worker
from config.management.commands.work import Command
def work(stop):
    with stop._cond:  # as the main thread has it when it begins to wait
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(10**6))
    stop.wait()
    print("ended")
worker.work = work
Command().handle()
"""


@pytest.mark.any_database
def test_a_sigterm_just_before_it_waits_ends_it(transactional_db: None) -> None:
    code, out, _ = run_command("shell", "-v", "0", "-c", SIGNALLED_WITHIN_ITS_WAIT)
    assert (code, out) == (0, "ended\n")


LOCK_TIMEOUT = """
from config.ops import worker
from config.management.commands.work import Command
from django.db import connection
def work(stop):
    with connection.cursor() as cursor:
        print(cursor.execute("SHOW lock_timeout").fetchone()[0])
worker.work = work
Command().handle()
"""


@pytest.mark.real_services
def test_it_waits_no_longer_for_a_lock_than_a_request_does(transactional_db: None) -> None:
    """design.md: nothing waits longer than its own cause; an import holds what it locks for minutes."""
    assert run_command("shell", "-v", "0", "-c", LOCK_TIMEOUT)[:2] == (0, "10s\n")


@pytest.mark.real_services
def test_its_metrics_are_served(carriers: Carriers, shop: Shop) -> None:
    follow(shop, "N1")
    carriers.tell("N1", "TS", "ZZ")
    port, known = free_port(), 'tracking_parcels_asked_total{carrier="alpha",outcome="known"}'
    connections.close_all()

    with process(carriers, WORK_METRICS_PORT=str(port)) as started:
        until(lambda: Parcel.objects.get().last_status == "IN_TRANSIT")
        until(lambda: metrics(port)[known])  # counted when the parcel is saved
        found = metrics(port)
        started.send_signal(signal.SIGTERM)
        assert ended(started)[0] == 0
    assert found[known] == 1
    assert found['tracking_parcels_asked_total{carrier="beta",outcome="credentials_rejected"}'] == 0
    assert found['tracking_events_total{carrier="alpha",status="IN_TRANSIT"}'] == 1
    assert found['tracking_unlisted_events_total{carrier="alpha"}'] == 1
    assert found['tracking_oldest_due_seconds{carrier="alpha"}'] == 0
    assert found['carrier_circuit_breaker{carrier="alpha",service="tracking",state="open"}'] == 0
    assert found["labels_interrupted_oldest_seconds"] == 0


def test_a_port_that_is_taken_is_one_line(settings: Any) -> None:
    with LoopbackServer(Carriers().play) as taken:
        settings.WORK_METRICS_PORT = int(taken.url.rpartition(":")[2])
        with pytest.raises(CommandError, match=r"\A.+ can't be used.*\Z"):  # the dot is no end of a line
            work(Event())
