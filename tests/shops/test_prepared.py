"""Statements that are compiled once do what the ORM's do, and fail as they do."""

import pytest
from django.db import IntegrityError, connection, transaction

from parcels.models import Parcel
from shops.db.bulk import PreparedInsert, PreparedUpdate
from shops.db.prepared import PreparedQuery, argument, pipelined
from shops.models import Shop
from tests.support.api import Caller
from tests.support.factories import ShopFactory, import_parcel

pytestmark = pytest.mark.django_db

ITEMS = PreparedQuery(
    lambda: Parcel.objects.filter(id=argument("id"), created_at__gt=argument("since")).values_list("id", "line_items")
)
RENAME = PreparedUpdate(lambda: Shop.objects.filter(id=argument("own_id"), is_active=True), "name", "sender_address")
INSERT = PreparedInsert(Shop, "ON CONFLICT (id) DO NOTHING RETURNING 1")


def test_a_query_returns_values_as_the_orm_does(own: Caller) -> None:
    import_parcel(own.shop, id="P1")
    parcel = Parcel.objects.get(id="P1")
    for since, rows in ((parcel.created_at - 1, [("P1", parcel.line_items)]), (parcel.created_at, [])):
        assert [tuple(row) for row in ITEMS.rows(id="P1", since=since)] == rows


def test_an_update_writes_a_rows_values_and_tells_if_it_found_the_row() -> None:
    shop = ShopFactory(name="before")
    shop.name, shop.sender_address = "after", {"city": "Lyon"}
    assert RENAME.start(shop, own_id=shop.id)()
    assert not RENAME.start(shop, own_id="another")()
    shop.refresh_from_db()
    assert (shop.name, shop.sender_address) == ("after", {"city": "Lyon"})


def test_an_insert_tells_if_it_wrote_the_row() -> None:
    shop = Shop(id="shop", name="first")
    assert INSERT.start(shop)()
    assert not INSERT.start(Shop(id="shop", name="second"))()
    shop.save()  # as one that is there
    assert Shop.objects.get(id="shop").name == "first"


def test_rows_are_read_after_further_statements_were_sent(own: Caller) -> None:
    import_parcel(own.shop, id="P1")
    with pipelined():
        first, second = ITEMS.start(id="P1", since=0), ITEMS.start(id="P2", since=0)
        INSERT.start(Shop(id="shop", name="shop"))
    assert (len(first()), len(second()), Shop.objects.filter(id="shop").exists()) == (1, 0, True)


def test_an_error_in_a_pipeline_is_the_databases_own_and_undoes_the_transaction() -> None:
    def insert() -> None:
        with transaction.atomic(), pipelined():
            for name in ("shop", "there", "later"):
                PreparedInsert(Shop).start(Shop(id=name, name=name))

    ShopFactory(id="there")
    with pytest.raises(IntegrityError):
        insert()
    assert list(Shop.objects.values_list("id", flat=True)) == ["there"]
    assert connection.is_usable()
