"""Events of shops, their webhook endpoints, and the deliveries of the ones to the others: the outbox."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from django.db import models, transaction
from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Greatest, Now

from shops.contracts import encryption
from shops.db import clock
from shops.db.bulk import batches
from shops.db.fields import JSONTextField, KeyField, new_id
from shops.db.querysets import ForShop
from shops.webhooks.public_addresses import MAX_URL_LENGTH


def new_endpoint_id() -> str:
    return new_id("we")


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def new_message_id() -> str:
    return new_id("msg")


class WebhookEndpointQuerySet(ForShop):
    def not_revoked(self) -> Self:
        """Endpoints that events are kept for; a paused or disabled one gets them when it is active again."""
        return self.filter(revoked_at=None)

    def active(self) -> Self:
        """Endpoints that deliveries are made to."""
        return self.not_revoked().filter(is_paused=False, disabled_at=None, shop__is_active=True)

    def failing(self) -> Self:
        """Endpoints whose last deliveries have failed, and that are tried further."""
        return self.active().filter(failing_since__isnull=False)

    def disabled(self) -> Self:
        """Endpoints that wait for staff; not those of deactivated shops."""
        return self.not_revoked().filter(disabled_at__isnull=False, shop__is_active=True)

    def for_answers(self) -> Self:
        """Endpoints with what answers show beside their columns: how many deliveries wait, and the last attempt."""
        own = WebhookDelivery.objects.filter(endpoint=OuterRef("pk")).order_by()
        queued = own.queued().values("endpoint").annotate(count=Count("id")).values("count")
        last = own.exclude(last_attempt_at=None).order_by("-last_attempt_at", "-id")
        latest = {name: Subquery(last.values(name)[:1]) for name in ("last_attempt_at", "last_status", "last_reason")}
        return self.defer("encrypted_secrets").annotate(queued=Coalesce(Subquery(queued), 0), **latest)


class WebhookEndpoint(models.Model):
    """A shop's URL that events are sent to; its secrets are kept encrypted."""

    id = KeyField(primary_key=True, max_length=64, default=new_endpoint_id, editable=False)
    shop = models.ForeignKey("shops.Shop", on_delete=models.PROTECT, related_name="webhooks")
    url = models.CharField("URL", max_length=MAX_URL_LENGTH)
    event_types = models.JSONField(default=list, blank=True, help_text="Empty: all.")
    encrypted_secrets = models.TextField(editable=False)
    previous_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then the secret before the last rotation signs too."
    )
    is_paused = models.BooleanField(default=False, help_text="Events are kept, and delivered when it is resumed.")
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.CharField(max_length=100, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True, help_text="Nothing but failures came since.")
    is_slow = models.BooleanField(
        null=True, editable=False, help_text="The last answer was late; null before the first."
    )
    served_at = models.DateTimeField(null=True, help_text="The endpoint that waits longest is served first.")
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "id"]
        constraints = [models.CheckConstraint(condition=~Q(url=""), name="webhookendpoint_has_a_url")]

    def __str__(self) -> str:
        return self.id

    def set_secret(self, secret: str) -> None:
        """Sign with this secret alone."""
        self.encrypted_secrets = encryption.encrypt({"current": secret, "previous": ""}, row_id=self.id)
        self.previous_until = None

    def rotate_secret(self, secret: str, *, now: datetime, overlap: timedelta) -> None:
        """Sign with this secret, and with each one before until its own end, if a key opens them."""
        try:
            kept = encryption.decrypt(self.encrypted_secrets, row_id=self.id)
        except encryption.UnreadableSecretError:
            self.set_secret(secret)
            return
        older = {each: until for each, until in self.older_secrets(kept) if now < until}
        ends = json.dumps({each: until.isoformat() for each, until in older.items()})
        secrets = {"current": secret, "previous": kept["current"], "older": ends}
        self.encrypted_secrets = encryption.encrypt(secrets, row_id=self.id)
        self.previous_until = now + overlap

    def signing_secrets(self, now: datetime) -> list[str]:
        """Decrypt the secrets that sign now, the current one first; raise UnreadableSecretError."""
        kept = encryption.decrypt(self.encrypted_secrets, row_id=self.id)
        return [kept["current"], *(each for each, until in self.older_secrets(kept) if now < until)]

    def older_secrets(self, kept: dict[str, str]) -> Iterator[tuple[str, datetime]]:
        """Yield each secret before the current one, the latest first, and until when it signs."""
        if self.previous_until is not None:
            yield kept["previous"], self.previous_until
        for secret, until in json.loads(kept.get("older", "{}")).items():
            yield secret, datetime.fromisoformat(until)

    @property
    def state(self) -> str:
        is_so = {
            "revoked": self.revoked_at,
            "disabled": self.disabled_at,
            "paused": self.is_paused,
            "failing": self.failing_since,
        }
        return next((name for name, value in is_so.items() if value), "active")


LATER_ID = "greatest(pg_current_xact_id()::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)"


class TransactionId(models.Func):
    """The id of the transaction that writes a row, on PostgreSQL, or the last one that was over if that is later.

    So it is never below that of an event that the transaction waited for, as with events of one parcel.
    """

    allowed_default = True
    function = "0"
    on_postgresql = LATER_ID
    template = "%(function)s"
    output_field = models.BigIntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, function=self.on_postgresql, **extra)


class WebhookEventQuerySet(ForShop):
    """Ways to find events; the checker of types resolves no manager of another module's class."""


class WebhookEvent(models.Model):
    """A change of a subject, once, from its transaction; a shop has it with an endpoint and without one."""

    id = models.BigAutoField(primary_key=True)
    message_id = KeyField(
        max_length=64, unique=True, default=new_message_id, help_text="webhook-id: the same at every attempt."
    )
    shop = models.ForeignKey("shops.Shop", on_delete=models.PROTECT, related_name="+", db_index=False)
    type = models.CharField(max_length=64)
    subject = KeyField(max_length=255, help_text="The parcel, label or endpoint that it is about.")
    data = JSONTextField()
    created_at = models.DateTimeField(db_default=Now())
    transaction_id = models.BigIntegerField(db_default=TransactionId(), editable=False)

    objects = WebhookEventQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["shop", "transaction_id", "id"], name="event_in_order"),
            models.Index(fields=["created_at"], name="event_created"),
        ]

    def __str__(self) -> str:
        return self.message_id

    @property
    def body(self) -> dict[str, Any]:
        """The event as it is sent, the same by every way."""
        return {"type": self.type, "timestamp": iso(self.created_at), "data": self.data}


class DeliveryState(models.TextChoices):
    """The progress of a delivery."""

    QUEUED = "queued", "queued"
    DELIVERED = "delivered", "delivered"
    DEAD = "dead", "dead letter"


# In the statement's own text: a plan for all values could not use the indexes of what is queued.
QUEUED = RawSQL("'queued'", ())
# The attempt that follows is beyond the schedule's.
ONE_ATTEMPT_LESS = Greatest(F("attempts") - 1, 0)


class WebhookDeliveryQuerySet(ForShop):
    def queued(self) -> Self:
        return self.filter(state=QUEUED)

    def not_over(self) -> Self:
        """The same for those that their keys find: in words that match no index of the queue.

        Vacuumed while it was empty, these count as empty until their table is analyzed, even if they hold 100,000 rows.
        """
        return self.exclude(state__in=(DeliveryState.DELIVERED, DeliveryState.DEAD))

    def created_since(self, moment: datetime) -> Self:
        """Deliveries since a moment, inclusive; SQLite compares texts, and its own times end with the milliseconds."""
        return self.filter(created_at__gt=moment - timedelta(microseconds=1))

    def replay(self) -> int:
        """Queue these deliveries again, with all their attempts; those of revoked endpoints stay. Return how many.

        What is queued already is due at once.
        """
        kept = self.filter(endpoint__revoked_at=None)
        return kept.update_in_order(state=DeliveryState.QUEUED, attempts=0, due_at=clock.Now())

    def update_in_order(self, **values: Any) -> int:
        """Update many, by short transactions that lock them by their ids: so that none deadlocks. Return how many."""
        count = 0
        for ids in batches(list(self.order_by().values_list("id", flat=True))):
            with transaction.atomic():
                locked = self.filter(id__in=ids).order_by("id").select_for_update(of=("self",))
                chosen = list(locked.values_list("id", flat=True))
                count += WebhookDelivery.objects.filter(id__in=chosen).update(**values)
        return count


class WebhookDelivery(models.Model):
    """One event for one endpoint, from the transaction of the change that it reports."""

    id = models.BigAutoField(primary_key=True)  # its order is that of the changes of one subject
    event = models.ForeignKey(
        WebhookEvent, on_delete=models.CASCADE, to_field="message_id", related_name="deliveries", db_index=False
    )
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.PROTECT, related_name="deliveries", db_index=False)
    shop = models.ForeignKey("shops.Shop", on_delete=models.PROTECT, related_name="+", db_index=False)
    subject = KeyField(max_length=255, help_text="The event's: deliveries of one subject keep their order.")
    created_at = models.DateTimeField(db_default=Now())

    state = models.CharField(max_length=16, choices=DeliveryState, default=DeliveryState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    leased_until = models.DateTimeField(null=True, help_text="The end of the lease of the process that sends it now.")
    last_attempt_at = models.DateTimeField(null=True)
    last_status = models.PositiveSmallIntegerField(null=True, help_text="Of the answer to the last attempt.")
    last_reason = models.CharField(max_length=32, blank=True, help_text="Why the last attempt failed.")
    last_duration_ms = models.PositiveIntegerField(null=True)

    objects = WebhookDeliveryQuerySet.as_manager()

    class Meta:
        db_table = "shops_delivery"
        ordering = ["-id"]
        verbose_name_plural = "webhook deliveries"
        indexes = [
            # Due rows of an endpoint, and the first row of a subject.
            models.Index(fields=["endpoint", "due_at", "id"], name="delivery_due", condition=Q(state="queued")),
            models.Index(fields=["endpoint", "subject", "id"], name="delivery_subject", condition=Q(state="queued")),
            models.Index(fields=["shop"], name="delivery_leased", condition=Q(leased_until__isnull=False)),
            models.Index(fields=["created_at"], name="delivery_oldest", condition=Q(state="queued")),
            # For staff, and shops.
            models.Index(fields=["endpoint", "-id"], name="delivery_endpoint_newest"),
            models.Index(fields=["-id"], name="delivery_dead", condition=Q(state="dead")),
            models.Index(fields=["event"], name="delivery_event"),
            models.Index(fields=["subject", "-id"], name="delivery_about"),
            models.Index(fields=["endpoint", "-last_attempt_at"], name="delivery_latest"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=DeliveryState.values), name="delivery_state_is_known"),
            models.CheckConstraint(
                condition=Q(state="queued") | Q(leased_until=None), name="delivery_leased_while_queued"
            ),
        ]

    def __str__(self) -> str:
        return self.event_id
