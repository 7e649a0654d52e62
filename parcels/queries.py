"""Hot queries, compiled once, which return parcels as the database writes them."""

from collections.abc import Callable
from typing import Any

from django.db import connections
from django.db.models import QuerySet
from psycopg.pq import Format

from parcels.models import DOCUMENT, Parcel
from shops.db import replicas
from shops.db.prepared import PreparedQuery, argument, bound

SEARCH_LIMIT = 50


class Documents:
    """The documents of the parcels that a query finds.

    They are read from a replica if there is one, so they may lag behind the primary.
    """

    def __init__(self, build: Callable[[], QuerySet[Parcel]]) -> None:
        self.query = PreparedQuery(lambda: build().values_list(DOCUMENT))

    def read(self, **arguments: str) -> list[bytes]:
        if any("\0" in value for value in arguments.values()):
            return []  # no stored text has a NUL, and PostgreSQL rejects one in a comparison
        return replicas.read(lambda alias: self.run(alias, arguments))

    def run(self, alias: str, arguments: dict[str, str]) -> list[bytes]:
        _, sql, parameters, _ = self.query.compiled
        with connections[alias].cursor() as cursor:
            cursor.cursor.format = Format.BINARY  # PostgreSQL's text format has bytes in hexadecimal
            cursor.execute(sql, bound(parameters, arguments))
            return [document for (document,) in cursor.fetchall()]


def newest(**fields: Any) -> QuerySet[Parcel]:
    rows = Parcel.objects.for_shop(argument("shop_id")).filter(is_withdrawn=False, **fields)
    return rows.newest_first()[:SEARCH_LIMIT]


ORDER_NUMBER, EMAIL = argument("order_number"), argument("email")
BY_NUMBER = Documents(
    lambda: Parcel.objects.for_shop(argument("shop_id")).with_number(argument("shop_id"), argument("number"))[:1]
)
BY_ORDER = Documents(lambda: newest(order_number=ORDER_NUMBER))
BY_EMAIL = Documents(lambda: newest(customer_email=EMAIL))
BY_BOTH = Documents(lambda: newest(order_number=ORDER_NUMBER, customer_email=EMAIL))


def find(*, shop_id: str, number: str) -> bytes | None:
    """Find the shop's newest parcel that has this tracking number."""
    return next(iter(BY_NUMBER.read(shop_id=shop_id, number=number)), None)


def search(*, shop_id: str, order_number: str | None, email: str | None) -> bytes:
    """Find the shop's newest parcels, at most `SEARCH_LIMIT`, by order number, e-mail or both; return an array."""
    if order_number and email:
        found = BY_BOTH.read(shop_id=shop_id, order_number=order_number, email=email)
    elif order_number:
        found = BY_ORDER.read(shop_id=shop_id, order_number=order_number)
    elif email:
        found = BY_EMAIL.read(shop_id=shop_id, email=email)
    else:
        raise ValueError("an order number or an e-mail is needed")
    return b"[%b]" % b",".join(found)
