"""Work that somebody takes, hands over and leaves notes on: two columns and a list, each change on record."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from shops.db import clock
from shops.db.fields import JSONTextField, KeyField
from shops.personal_data import Each, Kind, Members, Value
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record

PERMISSION = "parcels.change_trackingnumber"  # to take something
MAX_NOTE = 1000
MAX_NOTES = 100  # the newest are kept
NOTES = Each(Members({"text": Value(Kind.FREE_TEXT)}, others=("at", "by")))


class Taken(models.Model):
    """A row that a member of staff may take."""

    taken_by = models.CharField(max_length=150, blank=True, default="", db_default="", help_text="A user's name.")
    taken_at = models.DateTimeField(null=True)
    notes = JSONTextField(default=list, db_default=[], help_text="What staff noted, the oldest first: at, by, text.")

    class Meta:
        abstract = True


class QueueRow(Taken):
    """A row of the first page that somebody took, or left a note on."""

    name = KeyField(primary_key=True, max_length=64)

    class Meta:
        ordering = ["name"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


def colleagues() -> list[str]:
    """Return the names of those who may be handed something."""
    users = User.objects.with_perm(PERMISSION).filter(is_staff=True).order_by("username")
    return list(users.values_list("username", flat=True)[:200])


@transaction.atomic
def act(request: HttpRequest, model: type[Taken], key: str) -> None:
    """Do what a form says with a row that exists: take it, let it go or hand it over, and leave a note."""
    rows = model._default_manager.select_for_update(of=("self",)).only("pk", "taken_by", "notes")
    row = get_object_or_404(rows, pk=key)  # an import that was waited for may have replaced a label's parcel
    # A browser counts a line's end as one character, and sends two.
    me, text = request.user.get_username(), request.POST.get("note", "").replace("\r\n", "\n").strip()[:MAX_NOTE]
    takers = {"take": me, "release": "", "hand": request.POST.get("to", ""), "note": row.taken_by}
    taker = takers.get(request.POST.get("do", ""), row.taken_by)
    if taker not in {"", me, row.taken_by, *colleagues()}:
        messages.error(request, _("Nobody of the staff has this name."))
        return
    before, now = row.taken_by, clock.now()
    changed: dict[str, Any] = {}
    if taker != before:
        changed |= {"taken_by": taker, "taken_at": now if taker else None}
    if text:
        changed["notes"] = [*row.notes, {"at": round(now.timestamp() * 1000), "by": me, "text": text}][-MAX_NOTES:]
    if not changed:
        return
    model._default_manager.filter(pk=key).update(**changed)
    changes = {"taken_by": [before, taker]} if taker != before else {}
    details: dict[str, Any] = {"note": "A note was left."} if text else {}
    record(Action.CHANGED, row, changes=changes, **details)


def hand_over(before: Taken, rows: QuerySet[Any, Any]) -> None:
    """Give what was taken and noted of a row to the one that replaces it."""
    if before.taken_by:
        rows.filter(taken_by="").update(taken_by=before.taken_by, taken_at=before.taken_at)
    if before.notes:
        rows.update(notes=[*rows.values_list("notes", flat=True).get(), *before.notes][-MAX_NOTES:])
