"""Entries of the audit log."""

from collections.abc import Iterable, Iterator

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from shops.db.fields import JSONTextField, KeyField
from shops.db.words import WordsField, word


class Action(models.TextChoices):
    SIGNED_IN = "signed_in"
    SIGN_IN_FAILED = "sign_in_failed"
    VIEWED = "viewed"
    LISTED = "listed"
    PDF_OPENED = "pdf_opened"
    SEARCHED = "searched"
    EXPORTED = "exported"
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class Channel(models.TextChoices):
    ADMIN = "admin"
    COMMAND = "command"
    WORK = "work"
    API = "api"


class AuditEntry(models.Model):
    """One action. It holds no customer's data: a customer is a digest, which the e-mail leads to and not back.

    PostgreSQL sets the time and the actor, whatever the one who adds an entry says: the actor is the transaction's
    (`recording.Named`), or the database's role where none is named.
    """

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    actor = models.CharField(max_length=150, help_text="A user's name, the operator of a command, or a token's id.")
    channel = models.CharField(max_length=16, choices=Channel)
    address = models.CharField(max_length=45, blank=True, help_text="The address that the request came from.")
    action = models.CharField(max_length=16, choices=Action)
    shop_id = models.CharField(max_length=64, blank=True)
    object_type = models.CharField(max_length=64, blank=True, help_text="As in labels.shippinglabel.")
    object_id = KeyField(max_length=255, blank=True)
    customer = KeyField(max_length=64, blank=True, help_text="Keyed digest of the customer's e-mail.")
    changes = JSONTextField(default=dict, help_text="Each changed field's old and new value.")
    details = JSONTextField(default=dict)
    search_words = WordsField(
        max_words=4000,  # two of each row of an export's page
        db_default="",
        help_text="Ids and customers of the rows that a list showed.",
    )

    shown_customers: Iterable[str] = ()  # digests, when a list's entry is added

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["at"], name="audit_at"),
            models.Index(fields=["actor", "-id"], name="audit_actor"),
            models.Index(fields=["object_id", "-id"], name="audit_object", condition=~Q(object_id="")),
            models.Index(fields=["customer", "-id"], name="audit_customer", condition=~Q(customer="")),
            GinIndex(fields=["search_words"], name="audit_search_words"),  # on SQLite it is of no use
        ]

    def __str__(self) -> str:
        return " · ".join(filter(None, (self.actor, str(self.get_action_display()), self.object_id)))

    @classmethod
    def about(cls, row: models.Model) -> "models.QuerySet[AuditEntry]":
        """Find the entries about a row, the newest first."""
        return cls.objects.filter(object_type=row._meta.label_lower, object_id=str(row.pk))

    def words(self) -> Iterator[str]:
        """Yield what finds the entry of a list, for `search_words`."""
        yield from map(word, self.details.get("shown", ()))
        yield from self.shown_customers
