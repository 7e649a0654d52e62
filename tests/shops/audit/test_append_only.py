"""Entries are added, and removed by their age; PostgreSQL refuses all else."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import Error, connection, transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from shops.staff.audit.models import Action, AuditEntry, Channel
from shops.staff.audit.recording import Actor, acting, record
from tests.support.sql import execute, value

pytestmark = pytest.mark.django_db


def entry_of(days_ago: int) -> AuditEntry:
    """Add an entry of the past, as only the owner of the table can."""
    with switched_off("audit_is_dated"):
        return added(timezone.now() - timedelta(days=days_ago))


def added(at: datetime) -> AuditEntry:
    return AuditEntry.objects.create(at=at, actor="ada", channel="admin", action=Action.VIEWED)


@contextmanager
def switched_off(trigger: str) -> Iterator[None]:
    if connection.vendor != "postgresql":
        yield
        return
    execute(f"ALTER TABLE shops_auditentry DISABLE TRIGGER {trigger}")
    yield
    execute(f"ALTER TABLE shops_auditentry ENABLE TRIGGER {trigger}")


def test_old_entries_are_removed_and_the_removal_is_on_record(settings: Settings) -> None:
    settings.KEEP_AUDIT_DAYS = 100
    kept, _ = entry_of(99), entry_of(101)
    call_command("apply_retention")
    removal, rest = AuditEntry.objects.all()
    assert rest == kept
    assert (removal.action, removal.details) == ("removed", {"kind": "audit entries", "count": 1, "kept_days": 100})


@pytest.mark.skipif(connection.vendor != "postgresql", reason="nothing enforces it on SQLite")
@pytest.mark.parametrize("act", ["update", "delete"])
def test_the_database_refuses_to_change_an_entry_or_to_remove_a_young_one(act: str) -> None:
    entries = AuditEntry.objects.filter(pk__in=[record(Action.VIEWED).pk, entry_of(89).pk])
    for entry in entries:
        own = AuditEntry.objects.filter(pk=entry.pk)
        with pytest.raises(Error, match="audit entries are not changed"), transaction.atomic():
            own.update(actor="eve") if act == "update" else own.delete()
    with pytest.raises(Error, match="audit entries are not changed"), transaction.atomic():
        AuditEntry.objects.filter(pk=entry_of(91).pk).update(actor="eve")
    entry_of(91).delete()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="nothing enforces it on SQLite")
@pytest.mark.parametrize("days", [-91, 91])
def test_the_database_dates_an_entry_whatever_time_it_is_given(days: int) -> None:
    entry, before = added(timezone.now() + timedelta(days=days)), timezone.now() - timedelta(minutes=1)
    assert before < AuditEntry.objects.get(pk=entry.pk).at < before + timedelta(minutes=2)
    with pytest.raises(Error, match="audit entries are not changed"), transaction.atomic():
        entry.delete()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="nothing enforces it on SQLite")
def test_an_entry_that_is_added_by_hand_names_the_databases_role_beside_whom_it_claims() -> None:
    role = value("SELECT session_user")
    for claimed in ("ada", "a" * 150):
        forged = added(timezone.now())
        AuditEntry.objects.bulk_create([AuditEntry(actor=claimed, channel="admin", action=Action.VIEWED)])
        forged.refresh_from_db()
        assert forged.actor == f"ada (by database role {role})"
    assert AuditEntry.objects.first().actor == f"{'a' * 70} (by database role {role})"  # type: ignore[union-attr]


def test_an_entry_has_the_actor_of_its_own_act_and_none_of_an_earlier_one() -> None:
    with transaction.atomic():
        for name, channel, address in (
            ("ada", Channel.ADMIN, "192.0.2.7"),
            ("", Channel.ADMIN, ""),
            ("émile", Channel.WORK, ""),
        ):
            with acting(Actor(name, channel, address)):
                entry = record(Action.VIEWED)
            entry.refresh_from_db()
            assert (entry.actor, entry.channel, entry.address) == (name, channel, address)
