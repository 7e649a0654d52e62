"""Exports all that is held of a shop's customer."""

from typing import Any

import orjson
from django.db import models

from config.management.customer import CustomerCommand
from labels.models import ShippingLabel
from labels.personal_data import erasure as label_erasure
from parcels.models import Parcel, TrackingNumber
from shops.db.batches import batches
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record


class Command(CustomerCommand):
    """``export_customer SHOP_ID EMAIL``: finds what `erase_customer` would erase."""

    help = "Print all that is held of a shop's customer as JSON: parcels, their tracking, labels, and PDFs' names."

    def handle(self, *args: Any, **options: Any) -> None:
        parcels, labels = self.find(**options)
        held = {
            "shopId": options["shop_id"],
            "email": options["email"],
            "parcels": rows(Parcel, parcels),
            "trackingNumbers": rows(TrackingNumber, parcels, "parcel"),
            "labels": rows(ShippingLabel, labels),
            "pdfs": [label.pdf_key for label in label_erasure.with_pdf(labels)],
        }
        record(
            Action.EXPORTED,
            shop_id=options["shop_id"],
            customer_email=options["email"],
            kind="customer",
            parcels=len(parcels),
            labels=len(labels),
        )
        self.print(orjson.dumps(held, option=orjson.OPT_INDENT_2).decode())


def rows(model: type[models.Model], ids: Any, key: str = "pk") -> list[dict[str, Any]]:
    """Return the rows with all their columns but a PDF and what repeats other columns, in the order of ids."""
    columns = [
        field.attname
        for field in model._meta.concrete_fields
        if not (field.generated or isinstance(field, models.BinaryField))
    ]
    found = model._default_manager.order_by("pk")
    return [row for batch in batches(ids) for row in found.filter(**{f"{key}__in": batch}).values(*columns)]
