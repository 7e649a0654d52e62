"""Errors are reported to Sentry, and with them nothing that a client wrote, nor a secret."""

import logging
import sys
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest
import sentry_sdk
from django.db import IntegrityError, connection

from config.ops.error_reports import Handler
from config.ops.worker import Task, run_until
from labels.models import LabelState
from shops.api.request_ids import request_id
from tests.labels.orders import post
from tests.support.api import Caller, logged_in
from tests.support.canaries import canary, everywhere, found_in, full_order
from tests.support.processes import run_command
from tests.support.telemetry import Receiver
from tests.support.waiting import WAIT_TIMEOUT_S

pytestmark = pytest.mark.any_database
Reports = Callable[[], list[dict[str, Any]]]
# An event's own fields; the last are the SDK's: its name and version, and a random identifier.
ALLOWED = {"level", "logger", "logentry", "exception", "tags", "transaction", "release", "environment", "server_name"}
ALLOWED |= {"event_id", "timestamp", "platform", "sdk"}
VARYING = {"event_id", "timestamp"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


@pytest.fixture
def reports(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reports]:
    """Report the test's errors; the function waits until they are sent, and returns them: no canary is in them."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    request_id.set(None)  # an earlier test's
    handler = Handler(receiver.settings["SENTRY_DSN"], "1.2.3")
    logging.getLogger().addHandler(handler)

    def sent() -> list[dict[str, Any]]:
        handler.client.flush(timeout=WAIT_TIMEOUT_S)
        assert found_in(receiver.everything()) == []
        return receiver.reports()

    yield sent
    logging.getLogger().removeHandler(handler)
    handler.client.close()


def refusing(table: str) -> Callable[..., Any]:
    """Let the database refuse a table's statements with a text that quotes them, as PostgreSQL's DETAIL does."""

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if f'"{table}"' in sql:
            raise IntegrityError(f"{canary()} DETAIL: {params}")
        return execute(sql, params, many, context)

    return refuse


def test_a_fault_of_an_order_is_reported_by_its_route_and_place(own: Caller, reports: Reports) -> None:
    with connection.execute_wrapper(refusing("shops_carriercontract")):
        response = post(own, full_order("alpha-13"), key=canary(), headers=everywhere())
    assert response.status_code == 500
    (report,) = reports()
    assert (report["level"], report["logger"], report["transaction"]) == ("error", "service.errors", "labels")
    assert report["logentry"] == {"message": "unhandled exception"}
    assert report["release"] == "1.2.3"
    assert report["tags"] == {"request_id": response["X-Request-Id"]}
    (error,) = report["exception"]["values"]
    assert (error["module"], error["type"]) == ("django.db.utils", "IntegrityError")
    assert "value" not in error
    frames = error["stacktrace"]["frames"]
    assert frames[-1]["function"] == "refusing.<locals>.refuse"
    ours = [frame for frame in frames if frame["in_app"]]
    assert ("labels.lifecycle.purchase", "buy") in {(frame["module"], frame["function"]) for frame in ours}
    assert {name for frame in frames for name in frame} == {"module", "function", "lineno", "in_app"}
    assert report.keys() <= ALLOWED


def test_a_fault_of_a_page_is_reported_without_its_address(db: None, reports: Reports) -> None:
    staff = logged_in("view_parcel", "view_personal_data")
    headers = {name: value for name, value in everywhere().items() if name != "Cookie"}
    with connection.execute_wrapper(refusing("parcels_parcel")):
        response = staff.get(f"/admin/parcels/parcel/?q={canary()}", headers=headers)
    assert response.status_code == 500
    (report,) = reports()
    assert report["transaction"] == "admin:parcels_parcel_changelist"
    assert report.keys() <= ALLOWED


def test_a_failed_task_of_work_is_reported(db: None, reports: Reports) -> None:
    stop = Event()

    def fail(stop: Event) -> bool:
        stop.set()
        raise ValueError(canary())

    run_until(Task("retention", 60.0, fail), stop)
    (report,) = reports()
    assert report["logentry"] == {"message": "task failed"}
    assert report["tags"] == {"task": "retention"}


def test_of_a_message_its_template_is_sent_and_of_its_facts_identifiers_and_codes(reports: Reports) -> None:
    facts = {"label": "AN-ID", "state": LabelState.UNKNOWN, "tracking_numbers": canary(), "reason": canary()}
    logging.getLogger("labels.purchase").critical("label of %s", canary(), extra=facts)
    (report,) = reports()
    assert report["logentry"] == {"message": "label of %s"}
    assert report["level"] == "fatal"
    assert report["tags"] == {"label": "AN-ID", "state": "unknown"}


def test_other_packages_messages_stay_and_warnings_too(reports: Reports) -> None:
    logging.getLogger("somebodys.library").error(f"failed for {canary()}")  # noqa: G004 - as libraries do
    logging.getLogger("labels.purchase").warning("a carrier refused")
    logging.getLogger("opentelemetry.sdk").error("a collector is away")
    (report,) = reports()
    assert report["logger"] == "somebodys.library"
    assert "logentry" not in report


def test_the_causes_of_an_exception_are_reported_by_their_types(reports: Reports) -> None:
    error = ValueError(canary())
    error.__cause__ = KeyError(canary())
    error.__cause__.__context__ = error  # a circle
    logging.getLogger("service.errors").error("broken", exc_info=error)
    (report,) = reports()
    assert [each["type"] for each in report["exception"]["values"]] == ["KeyError", "ValueError"]


def test_a_report_does_not_depend_on_what_happened_before(reports: Reports) -> None:
    with sentry_sdk.isolation_scope() as scope:
        scope.set_client(sentry_sdk.Client(default_integrations=False))  # one that keeps breadcrumbs
        for _ in range(2):
            logging.getLogger("labels.purchase").error("broken")
            sentry_sdk.add_breadcrumb(message=canary())
            sentry_sdk.set_tag("before", canary())
    first, second = ({name: report[name] for name in report.keys() - VARYING} for report in reports())
    assert first == second


def test_what_would_be_sent_otherwise_is_found(receiver: Receiver) -> None:
    """The control: the SDK's own way to report an exception sends its text."""
    sdks_own = sentry_sdk.Client(receiver.settings["SENTRY_DSN"], default_integrations=False)
    with sdks_own, sentry_sdk.new_scope() as scope:
        scope.set_client(sdks_own)
        sentry_sdk.capture_exception(ValueError(canary()))
    assert len(found_in(receiver.everything())) == 1


def test_a_command_that_ends_with_an_exception_is_reported(receiver: Receiver) -> None:
    secret = canary()
    program = f"[] if '{secret}' == '' else [][{secret!r}.count('')]"
    code, _, _ = run_command("shell", "--command", program, SENTRY_DSN=receiver.settings["SENTRY_DSN"])
    assert code == 1
    (report,) = receiver.reports()
    assert (report["level"], report["logger"]) == ("fatal", "service.command")
    assert report["exception"]["values"][0]["type"] == "IndexError"
    assert found_in(receiver.everything()) == []
