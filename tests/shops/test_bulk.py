"""Rows made and written at once against the same rows made and written by Django."""

from typing import Any

import orjson
import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from parcels.importing.reading import read_parcel
from parcels.models import Parcel, TrackingNumber
from shops.db import bulk
from shops.models import Shop
from tests.support.factories import ParcelLineFactory, ShopFactory

AWKWARD = ["\\", "\\N", "\\.", "tab\there", "line\nline\r\n", "'l''été'", '"', "é\u2028\U0001f4e6", " ", "", "%s {0}"]


def values(shop: Shop, **fields: Any) -> dict[str, Any]:
    line = orjson.loads(orjson.dumps(ParcelLineFactory(**fields)))
    return {**read_parcel(line), "shop_id": shop.id, "imported_at": timezone.now()}


def row(**fields: Any) -> tuple[Any, ...]:
    """Return a stored row as the database has it, without conversion."""
    with connection.cursor() as cursor:
        cursor.execute(*Parcel.objects.filter(**fields).defer("document_start").order_by().query.sql_with_params())
        columns = [column[0] for column in cursor.description]
        found = dict(zip(columns, cursor.fetchone(), strict=True))
        return tuple(value for name, value in found.items() if name != "id")  # which its document has too


@pytest.mark.parametrize("text", AWKWARD)
def test_a_row_is_stored_as_django_stores_it(text: str, db: None) -> None:
    made = values(ShopFactory(), orderNumber=text, carrierProduct=text, destination__city=text, customerEmail=text)
    by_django, at_once, again = (bulk.instance(Parcel, **made | {"id": name}) for name in "abc")
    by_django.save(force_insert=True)
    bulk.insert([at_once])
    Parcel(**values(ShopFactory(), id="c")).save(force_insert=True)
    bulk.save([again], tuple(field.name for field in Parcel._meta.concrete_fields if field.name != "id"))
    assert row(id="a") == row(id="b") == row(id="c")


def test_an_instance_is_what_the_constructor_makes(db: None) -> None:
    made = values(ShopFactory())
    for model, known in ((Parcel, made), (TrackingNumber, {"number": "N1"})):
        found, expected = (vars(each) | {"_state": None} for each in (bulk.instance(model, **known), model(**known)))
        assert found == expected


def test_instances_share_no_default() -> None:
    first, second = bulk.instance(TrackingNumber), bulk.instance(TrackingNumber)
    first.events.append({})
    assert (second.events, bulk.instance(TrackingNumber).events) == ([], [])


def test_an_update_changes_the_named_fields_only(db: None) -> None:
    parcel = bulk.instance(Parcel, **values(ShopFactory(), orderNumber="#1", webTemplate="before"))
    bulk.insert([parcel])
    parcel.order_number, parcel.order_id, parcel.web_template = "#2", "2", "after"
    bulk.save([parcel], ("order_number", "order_id"))
    assert Parcel.objects.values_list("order_number", "web_template").get() == ("#2", "before")


def test_a_key_that_is_taken_is_djangos_error(db: None) -> None:
    parcel = bulk.instance(Parcel, **values(ShopFactory()))
    bulk.insert([parcel])
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk.insert([parcel])


@pytest.mark.real_services
def test_many_keys_are_one_parameter(db: None) -> None:
    bulk.insert([bulk.instance(Parcel, **values(ShopFactory(), id=name)) for name in AWKWARD if name])
    with CaptureQueriesContext(connection) as captured:
        assert Parcel.objects.filter(id__in=AWKWARD).count() == len(AWKWARD) - 1
        assert Parcel.objects.exclude(id__in=AWKWARD[:1]).count() == len(AWKWARD) - 2
        assert not Parcel.objects.filter(id__in=[]).exists()
        assert Parcel.objects.filter(id__in=Parcel.objects.values("pk")).count() == len(AWKWARD) - 1
    assert sum("= ANY(" in query["sql"] for query in captured) == 2
