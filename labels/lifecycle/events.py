"""Tells the shops' webhooks of labels, in the transaction of the change."""

from typing import Any

from labels.models import ShippingLabel
from shops.webhooks.outbox import tell


def tell_generated(label: ShippingLabel) -> None:
    tell(label.shop_id, "label.generated", label.id, facts(label) | {"trackingNumbers": label.tracking_numbers})


def tell_cancelled(label: ShippingLabel) -> None:
    tell(label.shop_id, "label.cancelled", label.id, facts(label) | {"trackingNumbers": label.tracking_numbers})


def tell_failed(label: ShippingLabel) -> None:
    tell(label.shop_id, "label.failed", label.id, facts(label) | {"code": label.error_code})


def facts(label: ShippingLabel) -> dict[str, Any]:
    return {
        "id": label.id,
        "orderId": label.order_id,
        "carrierCode": label.carrier_code,
        "productCode": label.product_code,
    }
