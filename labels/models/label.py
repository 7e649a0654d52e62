"""The labels that shops bought or tried to buy."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from carriers import CARRIERS
from labels import ids
from labels.models.label_states import CANCEL_TIMEOUT, STORED, LabelState, ShippingLabelQuerySet
from shops.api.request_ids import current_request_id
from shops.contracts.models import CARRIER_CHOICES
from shops.db import clock
from shops.db.fields import KeyField, NullableKeyField
from shops.db.indexes import index_of_both_cases
from shops.db.words import WordsField
from shops.models import Shop
from shops.staff.recipients import words_of


def total_kg(weights_kg: Iterable[str]) -> Decimal:
    return sum(map(Decimal, weights_kg), Decimal(0))


class ShippingLabel(models.Model):
    """One purchase of a label, from before the carrier is called; its id is the reference that the carrier keeps."""

    id = KeyField(primary_key=True, max_length=ids.LABEL_ID_LENGTH, default=ids.new_label_id, editable=False)
    shop = models.ForeignKey(Shop, on_delete=models.PROTECT, related_name="labels", db_index=False)
    state = models.CharField(max_length=16, choices=LabelState, default=LabelState.PURCHASING)
    last_event = models.CharField(max_length=24, blank=True, default="", db_default="", editable=False)
    created_at = models.DateTimeField(default=clock.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    # The end of the lease of the process that works on it: another one takes over only after that.
    leased_until = models.DateTimeField()

    # The order.
    token_id = models.CharField(max_length=64, blank=True, help_text="The access token that ordered it.")
    request_id = KeyField(
        max_length=32,
        blank=True,
        default=current_request_id,
        db_default="",
        help_text="The X-Request-Id of the order, as it was answered.",
    )
    order_id = KeyField(max_length=255)
    carrier_code = models.CharField(max_length=16, choices=CARRIER_CHOICES)
    product_code = models.CharField(max_length=64)
    reference = models.CharField(max_length=35, blank=True)
    pickup_point_code = models.CharField(max_length=16, blank=True)
    sender = models.JSONField()
    recipient = models.JSONField()
    search_words = WordsField(help_text="What staff find the recipient by.")
    weights_kg = models.JSONField(help_text="Each parcel's weight, as decimal text.")
    sides_cm = models.JSONField(
        default=list, blank=True, help_text="Each parcel's length, width and height; empty if none is known."
    )
    customs = models.JSONField(null=True, blank=True, help_text="The order's own declaration, with its public names.")
    parcel_references = models.JSONField(
        default=list, db_default=[], blank=True, help_text="Each parcel's own reference; empty if none has one."
    )
    ship_on = models.DateField(null=True, blank=True, help_text="The day that it is handed in on, if the order says.")
    insured_value_eur = models.DecimalField(
        max_digits=8, decimal_places=2, null=True, blank=True, help_text="The insured value of each parcel."
    )
    label_format = models.CharField(
        max_length=8, blank=True, default="", db_default="", help_text="The paper that the order wants."
    )
    account_number = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="The carrier's account it is bought on."
    )
    idempotency_key = NullableKeyField(max_length=255, null=True, blank=True)
    body_digest = models.CharField(max_length=64, blank=True)

    # The carrier's answer.
    tracking_numbers = models.JSONField(default=list, help_text="All that are known to be made, in parcel order.")
    reservation_number = models.CharField(max_length=32, blank=True, help_text="alpha gives the PDF again by it.")
    pdf = models.BinaryField(null=True, editable=False, help_text="Kept here until the storage has it.")
    warnings = models.JSONField(
        default=list, db_default=[], blank=True, help_text="What the carrier said of a bought label."
    )
    pickup_point = models.JSONField(
        null=True, blank=True, help_text="The pickup point's name and address, with an address's public names."
    )
    staff_notice = models.CharField(max_length=255, blank=True, help_text="What staff must know of a bought label.")
    error_code = models.CharField(max_length=64, blank=True)
    error_message = models.TextField(blank=True, help_text="The carrier's answer, redacted.")
    error_status = models.PositiveSmallIntegerField(null=True, blank=True)

    # When the reconciliation takes the label up, whatever its state; null: at once if it is not over, else never.
    ask_again_at = models.DateTimeField(null=True, blank=True)

    # Removed by its age or on request. The row itself stays: it was paid for.
    pdf_removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    addresses_removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    # Its cancellation, or that of parcels which were found without their PDF.
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    cancelled_numbers = models.JSONField(default=list, blank=True, help_text="The parcels cancelled at the carrier.")
    surplus_numbers = models.JSONField(
        default=list, db_default=[], blank=True, help_text="Made too, and not the label's: they are cancelled."
    )

    # A person's decision.
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = ShippingLabelQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["shop", "-id"], name="label_shop_newest"),
            # For the shop's own list, with the carrier that it may be filtered by.
            models.Index(
                fields=["shop", "-created_at", "-id", "carrier_code"],
                name="label_list",
                condition=Q(state="label_generated"),
            ),
            models.Index(
                fields=["shop", "reference", "-created_at", "-id"],
                name="label_reference",
                condition=Q(state="label_generated") & ~Q(reference=""),
            ),
            models.Index(
                fields=["leased_until"],
                name="label_interrupted",
                condition=Q(
                    state__in=["received", "purchasing", "unknown", "incomplete", "cancelling", "cancel_unknown"],
                    ask_again_at=None,
                ),
            ),
            models.Index(fields=["ask_again_at"], name="label_ask_again", condition=Q(ask_again_at__isnull=False)),
            models.Index(fields=["order_id", "shop"], name="label_order"),
            models.Index(fields=["request_id"], name="label_request", condition=~Q(request_id="")),
            index_of_both_cases("order_id", "label_order_cases"),
            # For the staff's filters. Labels to decide are counted on each of their pages, and are a handful.
            models.Index(fields=["state", "-id"], name="label_state", condition=~Q(state="label_generated")),
            models.Index(fields=["carrier_code", "product_code", "-id"], name="label_product"),
            models.Index(fields=["-id"], name="label_notice", condition=~Q(staff_notice="")),
            # For the figures: old labels that were cancelled lately.
            models.Index(
                fields=["cancel_requested_at"], name="label_cancelled", condition=Q(cancel_requested_at__isnull=False)
            ),
            # Only labels with an error are in it, so that a purchase that succeeds does not pay for it.
            models.Index(fields=["error_code", "-id"], name="label_error", condition=~Q(error_code="")),
            GinIndex(fields=["search_words"], name="label_search_words"),  # on SQLite it is of no use
            # One index for each retention rule; a row leaves the index with what is removed, so none is read twice.
            models.Index(
                fields=["finished_at"],
                name="label_key_kept",
                condition=Q(state__in=["label_generated", "cancelled"], idempotency_key__isnull=False),
            ),
            models.Index(
                fields=["finished_at"],
                name="label_pdf_kept",
                condition=Q(state__in=["label_generated", "cancelled"], pdf_removed_at=None),
            ),
            models.Index(
                fields=["finished_at"],
                name="label_addresses_kept",
                condition=Q(state__in=["label_generated", "failed", "cancelled"], addresses_removed_at=None),
            ),
            # Any parcel's number, for staff; on SQLite it is an ordinary index, and of no use.
            GinIndex(fields=["tracking_numbers"], name="label_tracking_numbers", opclasses=["jsonb_path_ops"]),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "idempotency_key"],
                condition=Q(idempotency_key__isnull=False),
                name="label_once_an_idempotency_key",
            ),
            models.CheckConstraint(condition=Q(state__in=LabelState.values), name="label_state_is_known"),
            models.CheckConstraint(
                condition=~Q(state="received") | Q(pdf__isnull=False), name="label_received_has_a_pdf"
            ),
        ]

    def __str__(self) -> str:
        return self.id

    def words(self) -> Iterator[str]:
        """Yield the words of the recipient, for `search_words`; none once the address is removed."""
        to = self.recipient.get
        return words_of(
            names=[to("firstName"), to("lastName")],
            postal_code=to("zip", ""),
            phone=to("phone", ""),
            country_code=to("countryCode", ""),
            emails=[to("email")],
        )

    @property
    def weight_kg(self) -> Decimal:
        """The exact sum of the parcels' weights."""
        return total_kg(self.weights_kg)

    @property
    def tracking_number(self) -> str:
        """The first parcel's."""
        return self.tracking_numbers[0] if self.tracking_numbers else ""

    @property
    def pdf_key(self) -> str:
        """The PDF's name in the storage, by the month and the label's id; only a signed URL leads to it."""
        return f"labels/{ids.id_time(self.id):%Y/%m}/{self.id}.pdf"

    @property
    def has_pdf(self) -> bool:
        """Return whether there is a PDF to open, in the storage or, until that has it, in the row."""
        return self.state == LabelState.RECEIVED or (self.state in STORED and not self.pdf_removed_at)

    @property
    def is_billed_unused(self) -> bool:
        """Return whether its carrier bills it even if it is not used: else it may be left as it is."""
        return CARRIERS[self.carrier_code].bills_unused_labels

    @property
    def left_of_surplus(self) -> list[str]:
        """The parcels beyond the label's own that are not cancelled yet."""
        return [number for number in self.surplus_numbers if number not in self.cancelled_numbers]

    @property
    def is_cancelled_in_part(self) -> bool:
        """Return whether a parcel of its own is cancelled."""
        return not set(self.tracking_numbers).isdisjoint(self.cancelled_numbers)

    @property
    def uncancelled_numbers(self) -> list[str]:
        """The parcels of its own that are not cancelled."""
        return [number for number in self.tracking_numbers if number not in self.cancelled_numbers]

    @property
    def is_leased(self) -> bool:
        return self.leased_until > clock.now()

    @property
    def is_cancellation_overdue(self) -> bool:
        """Return whether the time is over in which a cancellation is tried again."""
        asked_at = self.cancel_requested_at
        return asked_at is not None and asked_at < clock.now() - CANCEL_TIMEOUT
