"""Querysets that all apps share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, Self, TypeVar

from django.db import connection, models
from django.db.models import Q
from django.db.models.functions import Cast, StrIndex
from django.db.models.lookups import GreaterThan

from shops.db.bulk import batches

Found = TypeVar("Found")


class ForShop(models.QuerySet[Any]):
    """Rows that belong to shops; every query for a shop's request starts with `for_shop`."""

    def for_shop(self, shop_id: str) -> Self:
        return self.filter(shop=shop_id)

    def live(self) -> Self:
        """Leave out test shops' rows: all that is counted, listed in a file or paid for starts with it."""
        return self.filter(shop__is_test=False)

    def listing_any_of(self, column: str, values: Iterable[str]) -> Self:
        """Find rows whose JSON list has one of these values, of letters and digits: on PostgreSQL along the index."""
        if connection.features.supports_json_field_contains:
            return self.filter(any_of(Q(**{f"{column}__contains": [value]}) for value in values))
        text = Cast(column, models.TextField())
        places = (StrIndex(text, models.Value(f'"{value}"')) for value in values)
        return self.filter(any_of(Q(GreaterThan(place, 0)) for place in places))


def any_of(conditions: Iterable[Q]) -> Q:
    return reduce(or_, conditions, Q(pk__in=[]))


def rows_with(ids: Iterable[str], rows: models.QuerySet[Any, Found]) -> Iterator[Found]:
    """Yield those of the rows that have one of these ids, asked for in batches."""
    for some in batches(ids):
        yield from rows.filter(id__in=some)


def after(row: Mapping[str, Any], order: Sequence[str]) -> Q:
    """Return the condition of the rows that come after this one, by its values, in an order that is total."""
    later, equal = Q(pk__in=[]), Q()
    for name in order:
        field = name.removeprefix("-")
        lookup = "lt" if name.startswith("-") else "gt"
        later |= equal & Q(**{f"{field}__{lookup}": row[field]})
        equal &= Q(**{field: row[field]})
    first = order[0].removeprefix("-")
    bound = "lte" if order[0].startswith("-") else "gte"
    return Q(**{f"{first}__{bound}": row[first]}) & later  # the bound lets an index be entered at the right place
