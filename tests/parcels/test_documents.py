"""The document of a parcel, which the API answers as it is, and its columns: they never differ."""

from typing import Any

import orjson
import pytest
from django.utils import timezone

from carriers.tracking import Status, TrackingAnswer, TrackingEvent
from parcels.models import Parcel
from parcels.personal_data.erasure import erase
from tests.support.api import Caller
from tests.support.documents import assert_documents_agree
from tests.support.factories import import_parcel, ms_ago
from tests.support.tracking import record

TEXTS = ["", "plain", 'quote " and \\', "l'été", "№ 7 \U0001f4e6", "".join(map(chr, range(1, 33))), "\x7f\x85\u2028"]
TEXT_FIELDS = ["orderId", "orderNumber", "carrierProduct", "carrierDisplayName"]
NULLS: dict[str, Any] = dict.fromkeys(
    "carrierProduct carrierDisplayName lastStatus lastStatusUpdatedAt carrierLastStatus estimatedDeliveryDateWindow "
    "deliveryDate endDepositDate".split()
)


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_is_written_as_orjson_writes_it(text: str, own: Caller) -> None:
    import_parcel(own.shop, id=f"i{text}", trackingId=f"t{text}", **dict.fromkeys(TEXT_FIELDS, text))
    assert_documents_agree()


def test_nulls_and_empty_lists_are_written_as_such(own: Caller) -> None:
    import_parcel(own.shop, **NULLS | {"trackingNumbers": [], "lineItems": [], "events": []})
    assert_documents_agree()


def test_the_largest_parcel_is_whole(own: Caller) -> None:
    numbers = [f"{number:0250}" for number in range(1000)]
    parcel = import_parcel(own.shop, trackingNumbers=numbers)
    assert own.look_up(parcel["trackingId"]).content == orjson.dumps(parcel)


def test_imports_tracking_and_erasure_write_it(own: Caller) -> None:
    import_parcel(own.shop, id="P1", trackingId="N1", lastStatus=None, carrierCode="alpha", createdAt=ms_ago())
    assert_documents_agree()
    import_parcel(own.shop, id="P1", trackingId="N1", orderNumber="#2", carrierCode="alpha", createdAt=ms_ago())
    assert_documents_agree()
    event = TrackingEvent("N1", "D", timezone.now(), "Livré", "PARIS", Status.DELIVERED)
    answer = TrackingAnswer("N1", is_known=True, events=(event,))
    record("P1", [answer], now=timezone.now())
    assert own.look_up("N1").json()["lastStatus"] == "DELIVERED"
    assert_documents_agree()
    erase(["P1"])
    assert_documents_agree()


def test_a_writer_that_knows_nothing_of_it_writes_it(own: Caller) -> None:
    import_parcel(own.shop, id="P1")
    Parcel.objects.update(order_number='"', delivery_date=7, carrier_last_status={"code": "é"})
    assert_documents_agree()
    parcel = Parcel.objects.get()
    parcel.carrier_product = None
    parcel.save(update_fields=["carrier_product"])
    assert_documents_agree()
