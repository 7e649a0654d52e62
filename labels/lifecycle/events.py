"""The webhooks' events of labels, written in the transaction of the change."""

from typing import Any

from labels.models import ShippingLabel
from shops.webhooks.outbox import tell


def emit(label: ShippingLabel, event_type: str) -> None:
    """Write an event of a label: with its numbers or, if it failed, with the code of its error."""
    failed = event_type == "label.failed"
    of_type = {"code": label.error_code} if failed else {"trackingNumbers": label.tracking_numbers}
    tell(label.shop_id, event_type, label.id, facts(label) | of_type)


def facts(label: ShippingLabel) -> dict[str, Any]:
    return {
        "id": label.id,
        "orderId": label.order_id,
        "carrierCode": label.carrier_code,
        "productCode": label.product_code,
    }
