"""Parcels, and the tracking numbers that they are found by."""

from collections.abc import Iterator
from typing import Self

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from carriers import CARRIERS
from carriers.tracking import Status
from parcels.figures.models import DayFigure, ParcelFigure, TrackingFigure  # noqa: F401 - Django finds an app's models here
from parcels.figures.silence import NEWEST_OF_CARRIER
from parcels.figures.timing import HAS_TIMING, IS_PROMISED, TIMING, WINDOW_END
from shops.db.fields import JSONTextField, KeyField, NullableKeyField
from shops.db.indexes import index_of_both_cases
from shops.db.json_text import JSONMembers
from shops.db.querysets import ForShop
from shops.db.words import WordsField
from shops.models import Shop
from shops.staff.recipients import words_of
from shops.staff.taking import Taken

MAX_KEY_LENGTH = 255


class TrackingStatus(models.TextChoices):
    FULFILLED = Status.FULFILLED, "Order shipped; parcel handed to the carrier"
    IN_TRANSIT = Status.IN_TRANSIT, "Parcel in transit"
    OUT_FOR_DELIVERY = Status.OUT_FOR_DELIVERY, "Out for delivery"
    DELIVERED = Status.DELIVERED, "Delivered"
    DELIVERY_FAILURE = Status.DELIVERY_FAILURE, "Delivery attempt failed"
    WAITING_FOR_PICKUP = Status.WAITING_FOR_PICKUP, "Awaiting pickup at a relay or pickup point"
    RETURN_TO_SENDER = Status.RETURN_TO_SENDER, "Parcel being returned to the sender"
    RETURNED_TO_SENDER = Status.RETURNED_TO_SENDER, "Parcel returned to the sender"
    EXCEPTION = Status.EXCEPTION, "Carrier exception (lost, damaged, and so on)"


class ParcelQuerySet(ForShop):
    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Parcel(Taken):
    """A parcel as the shop's systems report it; times are Unix milliseconds, as in the API."""

    id = KeyField(primary_key=True, max_length=MAX_KEY_LENGTH)
    shop = models.ForeignKey(Shop, on_delete=models.PROTECT, related_name="parcels", db_index=False)
    order_id = KeyField(max_length=MAX_KEY_LENGTH)
    order_number = KeyField(max_length=MAX_KEY_LENGTH)
    tracking_id = models.CharField(max_length=MAX_KEY_LENGTH)
    tracking_numbers = JSONTextField()
    carrier_code = models.CharField(max_length=64)
    carrier_product = models.CharField(max_length=MAX_KEY_LENGTH, null=True)
    carrier_display_name = models.CharField(max_length=MAX_KEY_LENGTH, null=True)
    last_status = models.CharField(max_length=32, null=True, choices=TrackingStatus)
    last_status_updated_at = models.BigIntegerField(null=True)
    carrier_last_status = JSONTextField(null=True)
    estimated_delivery_date_window = JSONTextField(null=True)
    delivery_date = models.BigIntegerField(null=True)
    end_deposit_date = models.BigIntegerField(null=True)
    handed_in_at = models.BigIntegerField(
        null=True, help_text="Internal: the first event that is more than an announcement."
    )
    destination = JSONTextField()
    line_items = JSONTextField()
    events = JSONTextField(help_text="Newest first.")
    created_at = models.BigIntegerField()
    updated_at = models.BigIntegerField()

    # Kept by the database, so that no writer can forget it.
    document_start = models.GeneratedField(
        expression=JSONMembers(
            id="id",
            shopId="shop",
            orderId="order_id",
            orderNumber="order_number",
            trackingId="tracking_id",
            trackingNumbers="tracking_numbers",
            carrierCode="carrier_code",
            carrierProduct="carrier_product",
            carrierDisplayName="carrier_display_name",
            lastStatus="last_status",
            lastStatusUpdatedAt="last_status_updated_at",
            carrierLastStatus="carrier_last_status",
            estimatedDeliveryDateWindow="estimated_delivery_date_window",
            deliveryDate="delivery_date",
            endDepositDate="end_deposit_date",
        ),
        output_field=models.TextField(),
        db_persist=True,
        help_text="The beginning of its document, which takes longest to make.",
    )

    # Internal: never part of an answer.
    customer_email = NullableKeyField(max_length=320, null=True)
    customer_locale = models.CharField(max_length=64, null=True)
    previous_emails = JSONTextField(default=list)
    gift_config = JSONTextField(null=True)
    cross_sell_recommendations = JSONTextField(default=list)
    web_template = models.CharField(max_length=MAX_KEY_LENGTH, null=True)

    search_words = WordsField(help_text="What staff find the recipient by.")
    imported_at = models.DateTimeField(null=True, help_text="When the shop's systems last reported it, if they did.")
    is_withdrawn = models.BooleanField(
        default=False, help_text="Its label was cancelled before the carrier reported on it: hidden from the API."
    )
    told_status = models.CharField(
        max_length=32,
        null=True,
        help_text="While it is withdrawn: the status that webhooks were told; '' is none.",
    )
    reported = JSONTextField(
        null=True, help_text="What the shop's imports said happened, once the carrier has added to it."
    )
    are_texts_erased = models.BooleanField(
        default=False, db_default=False, help_text="No text or place of the carrier's is kept."
    )

    objects = ParcelQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            # The key comes before the shop, so that one index serves a shop's search and the staff's across all shops.
            models.Index(fields=["order_number", "shop", "-created_at", "-id"], name="parcel_order_number"),
            models.Index(fields=["customer_email", "shop", "-created_at", "-id"], name="parcel_customer_email"),
            # For the parcel of a label, which takes the customer's fields from another one of its order.
            models.Index(fields=["order_id", "shop"], name="parcel_order"),
            models.Index(fields=["shop", "-created_at", "-id"], name="parcel_shop_newest"),
            GinIndex(fields=["search_words"], name="parcel_search_words"),  # on SQLite it is of no use
            models.Index(fields=["-created_at", "-id"], name="parcel_newest"),
            # For the staff's filters: a list is read in its order, and a value that few parcels have is found at once.
            models.Index(fields=["last_status", "-created_at", "-id"], name="parcel_status"),
            models.Index(fields=["carrier_code", "last_status", "-created_at", "-id"], name="parcel_carrier_status"),
            models.Index(
                fields=["carrier_code", "-created_at", "-id"],
                name="parcel_other_carrier",
                condition=~Q(carrier_code__in=sorted(CARRIERS)),
            ),
            models.Index(TIMING, F("created_at").desc(), F("id").desc(), name="parcel_timing", condition=HAS_TIMING),
            # For the staff's list of those that are past their promise.
            models.Index(WINDOW_END, name="parcel_promised", condition=IS_PROMISED),
            # For what is handed in and delivered on a day (a condition that no other list's implies), and what is not.
            models.Index(fields=["handed_in_at"], name="parcel_handed_in", condition=Q(handed_in_at__isnull=False)),
            models.Index(fields=["delivery_date"], name="parcel_delivered", condition=Q(delivery_date__gt=0)),
            models.Index(
                fields=["-created_at", "-id"],
                name="parcel_not_handed_in",
                condition=Q(handed_in_at=None, is_withdrawn=False),
            ),
            # For those that wait at a point, and go back soon.
            models.Index(
                fields=["end_deposit_date"], name="parcel_goes_back", condition=Q(last_status="WAITING_FOR_PICKUP")
            ),
            # For the staff's search, whatever the case of letters.
            index_of_both_cases("order_number", "parcel_order_number_cases"),
            index_of_both_cases("order_id", "parcel_order_cases"),
            index_of_both_cases("id", "parcel_id_cases"),
            # For `parcels.personal_data.erasure`: the few parcels with earlier e-mails.
            models.Index(fields=["shop"], name="parcel_previous_emails", condition=~Q(previous_emails=[])),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(id=""), name="parcel_has_an_id"),
            models.CheckConstraint(
                condition=Q(last_status=None) | Q(last_status__in=TrackingStatus.values),
                name="parcel_status_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tracking_id} ({self.order_number or self.order_id})"

    def words(self) -> Iterator[str]:
        to = self.destination
        return words_of(
            names=[to["firstName"], to["lastName"], to["name"], to["company"]],
            postal_code=to["zip"],
            phone=to["phone"],
            country_code=to["countryCode"],
            emails=[self.customer_email, *self.previous_emails],
        )


class NumberState(models.TextChoices):
    """The reason why a parcel has a number."""

    REPORTED = "reported", "named by the shop"
    BOUGHT = "bought", "bought with a label"
    CANCELLED = "cancelled", "of a cancelled label"


class TrackingNumberQuerySet(ForShop):
    def followed(self) -> Self:
        """Find those whose carrier is asked, of parcels that are neither delivered nor withdrawn."""
        shown = self.filter(due_at__isnull=False, parcel__is_withdrawn=False)
        return shown.exclude(parcel__last_status=TrackingStatus.DELIVERED)


class TrackingNumber(models.Model):
    """A number on a parcel: what it is found by, what its carrier reported, and when the carrier is asked next."""

    shop = models.ForeignKey(Shop, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = KeyField(max_length=MAX_KEY_LENGTH)
    # Needs no index of its own: the unique constraint begins with it.
    parcel = models.ForeignKey(Parcel, on_delete=models.CASCADE, related_name="numbers", db_index=False)
    created_at = models.BigIntegerField(help_text="The parcel's, so that the newest is found along the index.")
    state = models.CharField(
        max_length=16, choices=NumberState, default=NumberState.REPORTED, db_default=NumberState.REPORTED.value
    )
    label = NullableKeyField(max_length=64, null=True, help_text="The id of the label that bought it.")
    is_added = models.BooleanField(
        default=False, db_default=False, help_text="It came with a label, and the shop's imports do not name it."
    )

    # What its carrier said (`parcels.tracking.timeline`).
    carrier_code = models.CharField(max_length=16, default="", db_default="", help_text="Empty: nobody can be asked.")
    events = JSONTextField(default=list, db_default=[], help_text="The oldest first, with their places.")
    expected = JSONTextField(null=True, help_text="The delivery that the carrier expects: from, until; milliseconds.")
    last_event_at = models.BigIntegerField(null=True, help_text="The carrier's newest event: Unix milliseconds.")

    # The next question to the carrier (`parcels.tracking.schedule`).
    followed_since = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True, help_text="Null when the carrier is asked no more.")
    leased_until = models.DateTimeField(null=True, help_text="The end of the lease of the process that asks now.")
    checked_at = models.DateTimeField(null=True, help_text="When the carrier last answered.")
    outcome = models.CharField(max_length=32, default="", db_default="", help_text="The outcome of the last question.")
    failures = models.PositiveSmallIntegerField(default=0, db_default=0, help_text="Questions without an answer since.")

    objects = TrackingNumberQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        db_table = "parcels_parcelnumber"  # look-ups of the version before read it while this one rolls out
        indexes = [
            models.Index(fields=["number", "shop", "-created_at", "-parcel"], name="parcelnumber_newest"),
            models.Index(fields=["carrier_code", "due_at"], name="number_due", condition=Q(due_at__isnull=False)),
            # For each shop's share of the questions.
            models.Index(
                fields=["carrier_code", "shop", "due_at"], name="number_due_of_shop", condition=Q(due_at__isnull=False)
            ),
            # For the staff's list of parcels without news.
            models.Index(NEWEST_OF_CARRIER, name="number_newest_event", condition=Q(due_at__isnull=False)),
            # For the staff's list of labels that are not handed in.
            models.Index(fields=["label", "parcel"], name="number_bought", condition=Q(state=NumberState.BOUGHT.value)),
            # For imports: the labels that were bought while one ran.
            models.Index(
                fields=["shop", "followed_since"], name="number_of_a_label", condition=Q(state=NumberState.BOUGHT.value)
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["parcel", "number"], name="parcelnumber_once_a_parcel"),
            models.UniqueConstraint(
                fields=["shop", "number", "label"], name="number_on_one_parcel", condition=Q(label__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.number


class UnlistedEventCode(models.Model):
    """A carrier's event code without a place in our table: it changes nothing until staff have it added."""

    carrier_code = models.CharField(max_length=16)
    code = models.CharField(max_length=64)
    text = models.CharField(max_length=255, help_text="The carrier's text when it was first seen.")
    count = models.PositiveBigIntegerField(default=0)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    class Meta:
        ordering = ["carrier_code", "code"]
        constraints = [models.UniqueConstraint(fields=["carrier_code", "code"], name="unlistedeventcode_once")]

    def __str__(self) -> str:
        return f"{self.carrier_code} {self.code}"
