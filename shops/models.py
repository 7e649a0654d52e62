"""Shops and their access tokens."""

# ruff: noqa: F401 - Django finds an app's models here

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import connections, models
from django.db.models import Func, Q, Value
from django.db.models.lookups import Exact
from django.utils import timezone
from django.utils.translation import gettext

from shops import tokens
from shops.contracts.accounts import CarrierAccount
from shops.contracts.models import CarrierContract
from shops.db.clock import Now
from shops.db.fields import KeyField, new_id
from shops.db.pacing import Pace
from shops.staff.audit.models import AuditEntry
from shops.staff.figures import Recount
from shops.staff.morning import MorningMail
from shops.staff.taking import QueueRow
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookEvent

MAX_NAME_LENGTH = 200
# The precision of `last_used_at`: at most one write per token in this time.
LAST_USE_PRECISION = timedelta(minutes=1)

identifier = RegexValidator(
    r"\A[A-Za-z0-9_-]{1,64}\Z", "An identifier is 1 to 64 letters, digits, hyphens and underscores."
)


# Names stand in lists, links, messages and files, where a second line is taken for a row of its own.
BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

# As a condition in WHERE it lets PostgreSQL commit without waiting for disk or standby, so the request need not wait.
SETTING = (Value("synchronous_commit"), Value("off"), Value(True))  # True: for this transaction
ASYNCHRONOUS_COMMIT = Exact(Func(*SETTING, function="set_config", output_field=models.TextField()), Value("off"))


@contextmanager
def impatient(connection: Any) -> Iterator[None]:
    """Hardly wait for SQLite's one writer, an import maybe, so that a look-up need not; the connection is open."""
    if connection.vendor != "sqlite":
        yield
        return
    held, usual_s = connection.connection, connection.settings_dict["OPTIONS"]["timeout"]
    held.execute("PRAGMA busy_timeout = 500")
    try:
        yield
    finally:
        held.execute(f"PRAGMA busy_timeout = {usual_s * 1000}")


def check_name(name: str) -> None:
    """Raise ValidationError for a name of several lines."""
    if BREAKS.search(name):
        raise ValidationError({"name": gettext("Needs one line, without control characters.")})


def new_shop_id() -> str:
    return new_id("shop")


def new_token_id() -> str:
    return new_id("tok")


class Shop(models.Model):
    """A customer of the service, and the principal of its API requests."""

    id = KeyField(primary_key=True, max_length=64, default=new_shop_id, validators=[identifier], editable=False)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    is_active = models.BooleanField(default=True, help_text="An inactive shop's tokens are invalid.")
    # The database refuses every change of it: a test shop has no way to a carrier, and is counted nowhere.
    is_test = models.BooleanField(default=False, db_default=False, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    sender_address = models.JSONField(
        null=True, blank=True, help_text="Used for label orders without an originAddress; has its fields."
    )

    is_authenticated = True  # `request.user` of an API request is a shop

    class Meta:
        ordering = ["name", "id"]
        permissions = [("view_personal_data", "Can see customers' personal data")]
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="shop_has_a_name"),
            models.CheckConstraint(condition=~Q(id=""), name="shop_has_an_id"),
        ]

    def __str__(self) -> str:
        return f"TEST {self.name}" if self.is_test else self.name

    def clean(self) -> None:
        check_name(self.name)


class AccessTokenQuerySet(models.QuerySet["AccessToken"]):
    """Finds, uses and revokes tokens."""

    def find(self, token_or_id: str) -> "AccessToken":
        """Find a token by its text or its id; raise AccessToken.DoesNotExist."""
        return self.get(Q(digest=tokens.digest(token_or_id)) | Q(id=token_or_id))

    def typed(self, text: str) -> "AccessToken | None":
        found = tokens.SHAPE.search(text)
        return self.filter(digest=tokens.digest(found[0])).first() if found else None

    def record_use(self, token: "AccessToken") -> None:
        """Record the time of last use, to `LAST_USE_PRECISION`. Of concurrent requests one writes."""
        known_until = token.last_used_at
        if known_until is None or timezone.now() - known_until > LAST_USE_PRECISION:
            conditions = [ASYNCHRONOUS_COMMIT] if connections[self.db].vendor == "postgresql" else []
            with impatient(connections[self.db]):
                self.filter(*conditions, last_used_at=known_until, id=token.id).update(last_used_at=Now())

    def revoke(self) -> int:
        """Revoke the tokens that are not revoked yet; return how many."""
        return self.filter(revoked_at=None).update(revoked_at=Now())


class AccessToken(models.Model):
    """A shop's credential for the API. Its text is shown once, at creation; only a digest is stored."""

    id = KeyField(primary_key=True, max_length=64, default=new_token_id, editable=False)
    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=MAX_NAME_LENGTH, blank=True, help_text="What the token is used for.")
    digest = KeyField(max_length=64, unique=True, editable=False)
    asked_by = models.CharField(
        max_length=150, blank=True, db_default="", editable=False, help_text="Who asked for it, if another gives it."
    )
    last_four = models.CharField(
        max_length=4, blank=True, db_default="", editable=False, help_text="The end of its text, to tell it by."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: it does not expire.")
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return f"{self.id} {self.name}".strip()

    def clean(self) -> None:
        check_name(self.name)

    @classmethod
    def issue(cls, *, shop: Shop, name: str = "", expires_at: datetime | None = None) -> tuple["AccessToken", str]:
        """Create a token; return it with its secret text, which is stored nowhere."""
        secret = tokens.new_token(is_test=shop.is_test)
        own = {"digest": tokens.digest(secret), "last_four": secret[-4:]}
        token = cls.objects.create(shop=shop, name=name, expires_at=expires_at, **own)
        return token, secret

    @classmethod
    def ask(cls, *, shop: Shop, name: str, expires_at: datetime | None, asked_by: str) -> "AccessToken":
        """Make the row of a token that has no text before another person gives it: its digest is of nothing known."""
        own = {"digest": tokens.digest(tokens.new_token(is_test=shop.is_test)), "asked_by": asked_by}
        return cls.objects.create(shop=shop, name=name, expires_at=expires_at, **own)

    def give(self) -> str | None:
        """Make the text of a token that was asked for, and return it; None where it is given or revoked."""
        secret = tokens.new_token(is_test=self.shop.is_test)
        asked_for = type(self).objects.filter(id=self.id, last_four="", revoked_at=None).exclude(asked_by="")
        is_given = asked_for.update(digest=tokens.digest(secret), last_four=secret[-4:])
        return secret if is_given else None

    @property
    def is_valid(self) -> bool:
        """Return whether it may be used now; one that was asked for has no text before another person gives it."""
        is_expired = self.expires_at is not None and self.expires_at <= timezone.now()
        is_given = not self.asked_by or bool(self.last_four)
        return self.revoked_at is None and not is_expired and is_given and self.shop.is_active
