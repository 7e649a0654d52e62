"""Every statement that a shop's request makes names the shop, for each table that a shop's data grow in.

That is what isolates shops from each other, and what lets the database be partitioned or sharded by shop.
"""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.labels.orders import order, post
from tests.support.api import Caller, forget
from tests.support.factories import import_parcel
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS

HOT_TABLES = ("parcels_parcel", "parcels_parcelnumber", "labels_shippinglabel", "shops_carriercontract")
NAMES_A_HOT_TABLE = re.compile(rf'(?:FROM|JOIN|UPDATE|INTO) "?(?:{"|".join(HOT_TABLES)})\b')


def assert_each_names_the_shop(statements: list[str]) -> None:
    hot = [sql for sql in statements if NAMES_A_HOT_TABLE.search(sql)]
    assert hot
    for sql in hot:
        named = len(re.findall(r'\bshop_id"? = |INSERT INTO "[a-z_]+" \([^)]*"shop_id"', sql))
        assert named >= len(NAMES_A_HOT_TABLE.findall(sql)), sql


@pytest.mark.parametrize(
    "path", [f"{PARCELS}N1", f"{SEARCH}?orderName=1", f"{SEARCH}?email=a", f"{SEARCH}?email=a&orderName=1"]
)
def test_a_look_up_and_a_search_name_the_shop(path: str, own: Caller) -> None:
    import_parcel(own.shop, trackingId="N1")
    forget()
    with CaptureQueriesContext(connection) as captured:
        own.get(path)
    assert_each_names_the_shop([query["sql"] for query in captured])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("reference", ["", "FAULT html503", "FAULT 38"], ids=["bought", "unknown", "refused"])
def test_a_purchase_its_replay_and_its_retrieval_name_the_shop(reference: str, buyer: Caller) -> None:
    forget()
    with CaptureQueriesContext(connection) as captured:
        label = post(buyer, order(reference=reference), key="k").json()
        post(buyer, order(reference=reference), key="k")
        buyer.get(f"{SHIPMENTS}/{label.get('id', 'none')}")
    assert_each_names_the_shop([query["sql"] for query in captured])


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_a_purchase_takes_13_statements_and_a_transaction(buyer: Caller) -> None:
    post(buyer, order())
    with CaptureQueriesContext(connection) as captured:
        assert post(buyer, order(), key="k").status_code == 201
    statements = [query["sql"] for query in captured]
    assert len(statements) == 13, statements
    assert (statements.count("BEGIN"), statements.count("COMMIT")) == (1, 1)
    assert [sql for sql in statements if "clock_timestamp()" in sql] == [statements[1]]  # the row's, for its lease
