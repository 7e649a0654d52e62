"""The morning's e-mail: the queue's rows, once a day, to those of the staff who want it."""

from collections.abc import Callable
from copy import copy
from datetime import UTC, date, datetime, timedelta
from smtplib import SMTPRecipientsRefused
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from config.desk import morning
from labels.models import LabelState
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.morning import MorningMail
from tests.labels.factories import LabelFactory
from tests.support.canaries import CANARY
from tests.support.desk import member, rows
from tests.support.processes import free_port
from tests.support.threads import in_threads

pytestmark = pytest.mark.django_db
At = Callable[..., int]
CHOICE = "/admin/morning/"
DAY = date(2026, 3, 28)  # the day before the clock changes
IN_SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture(autouse=True)
def mail_server(settings: Settings) -> None:
    settings.EMAIL_HOST, settings.DEFAULT_FROM_EMAIL = "mail.example", "parcels@work.example"
    settings.ADMIN_URL = "https://desk.example/"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> At:
    """Send what is due at a moment, in UTC; return how many."""

    def send(*moment: int) -> int:
        monkeypatch.setattr("config.desk.morning.clock.now", lambda: datetime(*moment, tzinfo=UTC))  # type: ignore[misc,arg-type]  # figures
        return morning.send(lambda: False)

    return send


def world() -> None:
    """A row of everything, and a label that somebody has to decide."""
    rows()
    LabelFactory(state=LabelState.UNKNOWN, carrier_code="alpha", leased_until=timezone.now())


def reader(role: str = "Support", *, language: str = "en-gb", **fields: Any) -> Client:
    """A member of the staff who had the e-mail of the day before."""
    browser = member(role)
    user = User.objects.get(username=role.lower())
    User.objects.filter(pk=user.pk).update(**{"email": f"{role}@work.example", **fields})
    MorningMail.objects.create(user=user, language=language, sent_on=DAY - timedelta(days=1))
    return browser


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("do", ["send", "stop"])
def test_a_choice_that_is_sent_twice_at_once_is_made_once(do: str) -> None:
    browser = reader() if do == "stop" else member("Support")
    assert in_threads(4, lambda _: copy(browser).post(CHOICE, {"do": do}).status_code) == [302] * 4
    assert MorningMail.objects.count() == (do == "send")
    wants = do == "send"
    assert [entry.changes for entry in AuditEntry.objects.filter(action=Action.CHANGED)] == [
        {"morning_mail": [not wants, wants]}
    ]


def test_it_has_the_rows_with_something_to_do_and_nobodys_data(at: At, mailoutbox: list[EmailMessage]) -> None:
    world()
    reader()
    assert at(2026, 3, 28, 7) == 1
    (message,) = mailoutbox
    assert (message.to, message.from_email) == (["Support@work.example"], "parcels@work.example")
    assert message.subject == "To do on 28 Mar 2026"
    assert "1  Labels to decide" in message.body
    assert "https://desk.example/admin/labels/shippinglabel/to-decide/" in message.body
    assert "\n0  " not in message.body
    assert not CANARY.search(str(message.body).encode())


def test_a_reader_gets_his_own_rows_in_his_own_language(at: At, mailoutbox: list[EmailMessage]) -> None:
    world()
    reader("Operations", language="fr")
    reader("Accounting")  # sees no queue
    assert at(2026, 3, 28, 7) == 1
    (message,) = mailoutbox
    assert message.subject == "À faire le 28/03/2026"
    assert "1  Étiquettes à trancher" in message.body
    assert "Labels" not in message.body


def test_it_goes_once_a_day_at_eight_oclock_of_paris(at: At, mailoutbox: list[EmailMessage]) -> None:
    world()
    reader()
    sent = [at(2026, 3, 28, 6, 59), at(2026, 3, 28, 7), at(2026, 3, 28, 7, 15), at(2026, 3, 28, 22, 59)]
    assert sent == [0, 1, 0, 0]
    assert [at(2026, 3, 29, 5, 59), at(2026, 3, 29, 6), at(2026, 3, 29, 7)] == [0, 1, 0]  # the clock has changed
    assert at(2026, 3, 31, 15) == 1  # `work` was away
    assert len(mailoutbox) == 3


@pytest.mark.both_databases
def test_of_two_processes_one_sends_it(at: At, mailoutbox: list[EmailMessage]) -> None:
    world()
    reader()
    seen_by_the_other = MorningMail.objects.get()
    assert at(2026, 3, 28, 7) == 1
    assert not morning.deliver(seen_by_the_other, DAY)
    assert len(mailoutbox) == 1


def test_with_nothing_to_do_there_is_none_that_day(at: At, mailoutbox: list[EmailMessage]) -> None:
    reader()
    assert at(2026, 3, 28, 7) == 0
    world()
    assert at(2026, 3, 28, 8) == 0
    assert mailoutbox == []


@pytest.mark.parametrize("fields", [{"is_active": False}, {"is_staff": False}, {"email": ""}])
def test_none_goes_to_who_has_left(at: At, fields: dict[str, Any], mailoutbox: list[EmailMessage]) -> None:
    world()
    reader(**fields)
    assert at(2026, 3, 28, 7) == 0
    assert mailoutbox == []


def test_a_mail_server_that_is_away_is_logged_once_a_run_and_asked_again(
    at: At, settings: Settings, caplog: pytest.LogCaptureFixture, mailoutbox: list[EmailMessage]
) -> None:
    world()
    reader(), reader("Operations")
    local = settings.EMAIL_BACKEND
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_BACKEND = "127.0.0.1", free_port(), IN_SMTP
    assert at(2026, 3, 28, 7) == 0
    warnings = [record for record in caplog.records if "mail server" in record.message]
    assert [vars(record)["reason"] for record in warnings] == ["ConnectionRefusedError"]
    settings.EMAIL_BACKEND = local
    assert at(2026, 3, 28, 7, 15) == 2
    assert at(2026, 3, 28, 7, 30) == 0


def test_an_address_that_is_refused_holds_up_no_other_and_is_tried_the_next_day(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    world()
    reader(), reader("Operations")
    monkeypatch.setattr(EmailMessage, "send", Mock(side_effect=[SMTPRecipientsRefused({}), 1, 1, 1]))
    assert [at(2026, 3, 28, 7), at(2026, 3, 28, 7, 15), at(2026, 3, 29, 7)] == [1, 0, 2]


def test_staff_choose_it_on_the_first_page_on_record(at: At, settings: Settings) -> None:
    browser = member("Support")
    assert "your account needs an e-mail address" in browser.get("/admin/").text
    User.objects.update(email="s@work.example")
    assert "Send me this list each morning" in browser.get("/admin/").text
    for _ in range(2):  # twice is once
        assert browser.post(CHOICE, {"do": "send"}, headers={"Accept-Language": "fr"}).status_code == 302
    assert "Each morning at 8:00 this list comes to s@work.example." in browser.get("/admin/").text
    assert MorningMail.objects.get().language == "fr"
    browser.post(CHOICE, {"do": "stop"})
    assert not MorningMail.objects.exists()
    changes = [entry.changes for entry in AuditEntry.objects.filter(action=Action.CHANGED).order_by("id")]
    assert changes == [{"morning_mail": [False, True]}, {"morning_mail": [True, False]}]
    settings.EMAIL_HOST = ""
    assert "each morning" not in browser.get("/admin/").text.lower()
    assert browser.get(CHOICE, {"do": "send"}).status_code == 302
    assert not MorningMail.objects.exists()  # only what is posted chooses
    assert Client().post(CHOICE).status_code == 302


def test_without_a_mail_server_nothing_is_sent(at: At, settings: Settings) -> None:
    world()
    reader()
    settings.EMAIL_HOST = ""
    assert at(2026, 3, 28, 7) == 0
