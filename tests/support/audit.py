"""The changes that the audit log has."""

from shops.staff.audit.models import Action, AuditEntry


def changes() -> list[AuditEntry]:
    """The changes on record, the newest first."""
    return list(AuditEntry.objects.filter(action__in=[Action.ADDED, Action.CHANGED, Action.REMOVED]))


def note() -> str:
    """The words of the one change on record."""
    (entry,) = changes()
    return str(entry.details["note"])
