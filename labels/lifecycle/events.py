"""The webhooks' events of labels, written in the transaction of the change."""

from collections.abc import Sequence

from labels.models import ShippingLabel
from shops.db.prepared import Row
from shops.webhooks.outbox import Event, emit_all


def emit(label: ShippingLabel, event_type: str, endpoints: Sequence[Row] | None = None) -> None:
    """Write an event of a label for the shop's endpoints: with its numbers or, if it failed, the code of its error."""
    is_failed = event_type == "label.failed"
    facts = {
        "id": label.id,
        "orderId": label.order_id,
        "carrierCode": label.carrier_code,
        "productCode": label.product_code,
        **({"code": label.error_code} if is_failed else {"trackingNumbers": label.tracking_numbers}),
    }
    emit_all(label.shop_id, [Event(event_type, label.id, facts)], endpoints)
