"""Purchases that are interrupted, time that passes for them, and a database that is restored to an earlier moment."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import DateTimeField, F

from labels.models import LabelState, ShippingLabel, lease
from parcels.models import Parcel, TrackingNumber
from shops.contracts.models import CarrierContract
from shops.webhooks.models import WebhookEvent
from tests.labels.conftest import CONTROL, Sandbox, row
from tests.labels.orders import LINKED, PRODUCT, order, post, weighing
from tests.labels.urls import pages
from tests.support.api import Caller, client
from tests.support.paths import SHIPMENTS

BETA = PRODUCT["beta"]
SEARCH, PRINT, CANCEL = "trackWithSenderRef", "getReservedSkybillWithTypeAndModeAuth", "cancelSkybill"
KEY = "k"
WAIT_S = 3600
RESTORED = (ShippingLabel, Parcel, TrackingNumber, WebhookEvent)


def bought(buyer: Caller, carrier_code: str = "alpha", parcels: int = 1) -> ShippingLabel:
    product = LINKED if carrier_code == "beta" and parcels > 1 else PRODUCT[carrier_code]
    assert post(buyer, order(product, parcels=weighing(*[1] * parcels)), key=KEY).status_code == 201
    return row()


def interrupt(buyer: Caller, sandbox: Sandbox, fault: str, body: Any = None, **facts: Any) -> ShippingLabel:
    """Order a label whose outcome stays unknown, as after a fault of the carrier."""
    sandbox.arm(fault, count=1, **facts)
    response = post(buyer, body or order(), key=KEY)
    assert response.json()["code"].endswith("_OUTCOME_UNKNOWN")
    assert row().state == LabelState.UNKNOWN
    return row()


def as_if_killed() -> None:
    """Put the rows into the state that a process leaves when it is killed during the call."""
    ShippingLabel.objects.update(
        state=LabelState.PURCHASING,
        leased_until=lease(),
        tracking_numbers=[],
        reservation_number="",
        error_code="",
        error_message="",
        error_status=None,
        finished_at=None,
    )


def pass_time(seconds: float = 120) -> None:
    """Let this much time pass for all rows."""
    delta = timedelta(seconds=seconds)
    times = [field.name for field in ShippingLabel._meta.concrete_fields if isinstance(field, DateTimeField)]
    ShippingLabel.objects.update(**{name: F(name) - delta for name in times})
    CarrierContract.objects.update(updated_at=F("updated_at") - delta)


def moment() -> Callable[[], None]:
    """Remember the tables; the function that is returned restores them."""
    kept = {model: list(model._default_manager.all()) for model in RESTORED}

    @transaction.atomic
    def restore() -> None:
        for model in reversed(RESTORED):
            model._default_manager.all().delete()
        for model, rows in kept.items():
            model._default_manager.bulk_create(rows)

    return restore


def buy_control(buyer: Caller) -> None:
    """Buy another label, which the search finds: what it does not find now was not made."""
    assert post(buyer, order(orderId=CONTROL)).status_code == 201


def assert_bought(buyer: Caller, sandbox: Sandbox) -> None:
    """Check that the label was bought once, and that the shop can retrieve it."""
    label = row()
    made = [parcel.tracking_number for parcel in sandbox.made()]
    assert (label.state, label.tracking_numbers, label.pdf) == (LabelState.GENERATED, made, None)
    assert (label.error_code, label.error_message, label.error_status) == ("", "", None)
    response = buyer.get(f"{SHIPMENTS}/{label.id}")
    assert (response.status_code, response.json()["trackingNumber"]) == (200, made[0])
    assert pages(client().get(response.json()["labelUrl"]).content) == len(made)
