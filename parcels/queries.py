"""Hot queries, compiled once: the ORM writes their SQL on first use, and later runs reuse it."""

from collections.abc import Callable

from django.db import connections
from django.db.models import QuerySet
from psycopg.pq import Format

from parcels.models import DOCUMENT, Parcel
from shops.db import replicas
from shops.db.prepared import Argument

SEARCH_LIMIT = 50


class PreparedQuery:
    """A queryset compiled once, which yields the documents of parcels.

    They are read from a replica if there is one, so they may lag behind the primary.
    """

    # The SQL, and the name of the argument for each of its parameters.
    statement: tuple[str, list[str]] | None = None

    def __init__(self, build: Callable[..., QuerySet[Parcel]], *names: str) -> None:
        self.build = build
        self.names = names

    def documents(self, **arguments: str) -> list[bytes]:
        if any("\0" in value for value in arguments.values()):
            return []  # no stored text has a NUL, and PostgreSQL rejects one in a comparison
        return replicas.read(lambda alias: self.run(alias, arguments))

    def run(self, alias: str, arguments: dict[str, str]) -> list[bytes]:
        sql, names = self.statement = self.statement or self.compile(alias)
        with connections[alias].cursor() as cursor:
            cursor.cursor.format = Format.BINARY  # PostgreSQL's text format has bytes in hexadecimal
            cursor.execute(sql, [arguments[name] for name in names])
            return [document for (document,) in cursor.fetchall()]

    def compile(self, alias: str) -> tuple[str, list[str]]:
        queryset = self.build(*map(Argument, self.names)).values_list(DOCUMENT)
        sql, parameters = queryset.query.get_compiler(alias).as_sql()
        return sql, list(parameters)


def newest(shop: str) -> QuerySet[Parcel]:
    return Parcel.objects.for_shop(shop).filter(is_withdrawn=False).newest_first()


BY_NUMBER = PreparedQuery(
    lambda shop, number: Parcel.objects.for_shop(shop).with_number(shop, number)[:1], "shop_id", "number"
)
BY_ORDER = PreparedQuery(
    lambda shop, order: newest(shop).filter(order_number=order)[:SEARCH_LIMIT], "shop_id", "order_number"
)
BY_EMAIL = PreparedQuery(
    lambda shop, email: newest(shop).filter(customer_email=email)[:SEARCH_LIMIT], "shop_id", "email"
)
BY_BOTH = PreparedQuery(
    lambda shop, order, email: newest(shop).filter(order_number=order, customer_email=email)[:SEARCH_LIMIT],
    "shop_id",
    "order_number",
    "email",
)


def find(*, shop_id: str, number: str) -> bytes | None:
    """Find the shop's newest parcel that has this tracking number."""
    return next(iter(BY_NUMBER.documents(shop_id=shop_id, number=number)), None)


def search(*, shop_id: str, order_number: str | None, email: str | None) -> bytes:
    """Find the shop's newest parcels, at most `SEARCH_LIMIT`, by order number, e-mail or both; return an array."""
    if order_number and email:
        found = BY_BOTH.documents(shop_id=shop_id, order_number=order_number, email=email)
    elif order_number:
        found = BY_ORDER.documents(shop_id=shop_id, order_number=order_number)
    elif email:
        found = BY_EMAIL.documents(shop_id=shop_id, email=email)
    else:
        raise ValueError("an order number or an e-mail is needed")
    return b"[%b]" % b",".join(found)
