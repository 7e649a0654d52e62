"""Tells the shops' webhooks of labels, in the transaction of the change."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from labels.models import LabelState, ShippingLabel
from shops.webhooks.outbox import tell


def tell_generated(label: ShippingLabel) -> None:
    tell(label.shop_id, "label.generated", label.id, facts(label) | {"trackingNumbers": label.tracking_numbers})


def tell_cancelled(label: ShippingLabel) -> None:
    tell(label.shop_id, "label.cancelled", label.id, facts(label) | {"trackingNumbers": label.tracking_numbers})


def tell_failed(label: ShippingLabel) -> None:
    tell(label.shop_id, "label.failed", label.id, facts(label) | {"code": label.error_code})


def save_settled(label: ShippingLabel, save: Callable[[ShippingLabel], bool]) -> bool:
    """Save how a purchase ended that the shop has no answer to, and tell it of a failure; tell if it was written."""
    with transaction.atomic():
        is_written = save(label)
        if is_written and label.state == LabelState.FAILED:
            tell_failed(label)
    return is_written


def facts(label: ShippingLabel) -> dict[str, Any]:
    return {
        "id": label.id,
        "carrierCode": label.carrier_code,
        "productCode": label.product_code,
        "reference": label.reference,
    }
