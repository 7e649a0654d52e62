"""The webhooks' events of labels, written in the transaction of the change."""

from collections.abc import Sequence
from typing import Any

from labels.models import ShippingLabel
from shops.db.prepared import Row
from shops.webhooks.outbox import Event, tell_all


def emit(label: ShippingLabel, event_type: str, endpoints: Sequence[Row]) -> None:
    """Write an event of a label for these endpoints: with its numbers or, if it failed, with the code of its error."""
    failed = event_type == "label.failed"
    of_type = {"code": label.error_code} if failed else {"trackingNumbers": label.tracking_numbers}
    tell_all(label.shop_id, [Event(event_type, label.id, facts(label) | of_type)], endpoints)


def facts(label: ShippingLabel) -> dict[str, Any]:
    return {
        "id": label.id,
        "orderId": label.order_id,
        "carrierCode": label.carrier_code,
        "productCode": label.product_code,
    }
