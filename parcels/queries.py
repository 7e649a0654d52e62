"""The hot queries in plain SQL, which return parcels as the database writes them."""

from typing import Any

from django.db import connections

from shops.db import replicas

SEARCH_LIMIT = 50
# A parcel as the API answers it: one JSON text, with the fields of `ParcelSerializer` in their order.
DOCUMENT = """
    '{' || p.document_start || ',"destination":' || p.destination || ',"lineItems":' || p.line_items || ',"events":'
    || p.events || ',"createdAt":' || p.created_at || ',"updatedAt":' || p.updated_at || '}'
"""
BY_NUMBER = f"""
    SELECT {DOCUMENT} FROM parcels_parcelnumber n JOIN parcels_parcel p ON p.id = n.parcel_id AND p.shop_id = n.shop_id
    WHERE n.shop_id = %s AND n.number = %s AND NOT p.is_withdrawn
    ORDER BY n.created_at DESC, n.parcel_id DESC LIMIT 1
"""  # noqa: S608 - its own constants, here and below  # nosec B608
NEWEST = f"SELECT {DOCUMENT} FROM parcels_parcel p WHERE p.shop_id = %s AND NOT p.is_withdrawn"  # noqa: S608  # nosec B608
LIMITED = f" ORDER BY p.created_at DESC, p.id DESC LIMIT {SEARCH_LIMIT}"


def find(*, shop_id: str, number: str) -> bytes | None:
    """Find the shop's newest parcel that has this tracking number."""
    return next(iter(read(BY_NUMBER, shop_id, number)), None)


def search(*, shop_id: str, order_number: str | None, email: str | None) -> bytes | None:
    """Find the shop's newest parcels, at most `SEARCH_LIMIT`; return an array, or None if neither is given."""
    filters = {" AND p.order_number = %s": order_number, " AND p.customer_email = %s": email}
    given = {condition: value for condition, value in filters.items() if value}
    if not given:
        return None
    return b"[%b]" % b",".join(read(f"{NEWEST}{''.join(given)}{LIMITED}", shop_id, *given.values()))


def read(sql: str, *values: str) -> list[bytes]:
    """Read documents from a replica if there is one, so they may lag behind the primary."""
    if any("\0" in value for value in values):
        return []  # no stored text has a NUL, and PostgreSQL rejects one in a comparison
    return replicas.read(lambda alias: documents(alias, sql, values))


def documents(alias: str, sql: str, values: tuple[str, ...]) -> list[bytes]:
    connection: Any = connections[alias]
    if connection.vendor == "postgresql" and not (connection.queries_logged or connection.execute_wrappers):
        return connection.first_column(sql, values)  # type: ignore[no-any-return]  # our backend's
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [document.encode() for (document,) in cursor.fetchall()]
