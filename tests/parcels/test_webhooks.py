"""A shop's webhooks are told of its parcels: each status that becomes another, and nothing else."""

from typing import Any

import orjson
import pytest

from parcels.importing.reading import NothingImportedError, ParcelImport
from parcels.models import Parcel
from shops.webhooks.models import WebhookEndpoint, WebhookEvent
from tests.support.api import Caller
from tests.support.factories import ParcelLineFactory, ignore, import_lines, import_parcel
from tests.support.sql import statements

AT = 1_790_000_000_000


def told() -> list[dict[str, Any]]:
    return [each.data for each in WebhookEvent.objects.order_by("id")]


def statuses() -> list[tuple[str | None, str | None]]:
    return [(data["previousStatus"], data["status"]) for data in told()]


def test_an_import_tells_of_new_parcels_and_of_changed_statuses_only(own: Caller) -> None:
    line = ParcelLineFactory(lastStatus="IN_TRANSIT", lastStatusUpdatedAt=AT)
    changed = line | {"lastStatus": "DELIVERED", "lastStatusUpdatedAt": AT + 1}
    for each in (line, line, line | {"orderNumber": "#other"}, changed, changed):
        import_lines(own.shop, [orjson.dumps(each)])
    assert statuses() == [(None, "IN_TRANSIT"), ("IN_TRANSIT", "DELIVERED")]
    assert told()[1] == {
        "id": line["id"],
        "orderId": line["orderId"],
        "orderNumber": line["orderNumber"],
        "trackingId": line["trackingId"],
        "trackingNumbers": line["trackingNumbers"],
        "carrierCode": line["carrierCode"],
        "status": "DELIVERED",
        "previousStatus": "IN_TRANSIT",
        "statusUpdatedAt": AT + 1,
    }


def test_a_silent_import_and_one_that_is_rolled_back_tell_nothing(own: Caller) -> None:
    good, bad = orjson.dumps(ParcelLineFactory()), b"{}"
    ParcelImport(shop_id=own.shop.id, report=ignore, is_silent=True).run([(1, good)])
    assert Parcel.objects.count() == 1
    with pytest.raises(NothingImportedError):
        import_lines(own.shop, [orjson.dumps(ParcelLineFactory()), bad])
    assert told() == []


def test_a_parcels_event_is_its_shops(own: Caller, other: Caller) -> None:
    import_parcel(other.shop)
    assert [each.shop for each in WebhookEvent.objects.all()] == [other.shop]


def test_an_endpoint_costs_a_batch_of_an_import_one_statement_at_most(own: Caller) -> None:
    def cost() -> int:
        with statements() as sent:
            import_lines(own.shop, [orjson.dumps(ParcelLineFactory()) for _ in range(50)])
        return len([sql for sql in sent if "SAVEPOINT" not in sql])

    without = cost()
    WebhookEndpoint.objects.create(shop=own.shop, url="https://shop.example/")
    assert cost() <= without + 1
