"""Lists by pages, and the cursor that leads from one page to the next.

A cursor holds the place of the last row that was shown, signed for the list, its shop and its filters: rows that are
made or removed meanwhile move nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

import orjson
from django.core import signing
from django.db.models import Field, QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from shops.api.query_fields import QuerySerializer, TextParameter, WholeNumberParameter, read_query
from shops.db.querysets import after

Place = Sequence[str]  # a row's values of the columns that a list is ordered by, as text

GOOD_FOR: Final = timedelta(days=1, microseconds=999_999)  # signed up to a second after its time says
MAX_LIMIT: Final = 100
DEFAULT_LIMIT: Final = 50
MAX_CURSOR_LENGTH: Final = 1000
NEWEST_FIRST: Final = ("created_at", "id")
EXPIRED: Final = "is older than a day. Begin the list again, without it."
UNREADABLE: Final = (
    "is altered, or was made for other filters. Send it unchanged, with the filters of the first page, or begin the"
    " list again, without it."
)


class PageSerializer(QuerySerializer):
    """The query of a list; those with filters add them."""

    limit = WholeNumberParameter(max_value=MAX_LIMIT, default=DEFAULT_LIMIT)
    cursor = TextParameter(max_length=MAX_CURSOR_LENGTH)

    def validate_cursor(self, cursor: str) -> Place:
        return place_of(cursor, self.context["scope"])


def signed(place: Place, scope: str) -> str:
    """Return the cursor of a place in a list; `scope` names the list, with its shop and filters."""
    return signing.dumps(list(place), salt=f"cursor:{scope}")


def place_of(cursor: str, scope: str, *, good_for: timedelta | None = GOOD_FOR) -> list[str]:
    """Return the place of a cursor; raise ValidationError, also for one of another scope."""
    try:
        place: list[str] = signing.loads(cursor, salt=f"cursor:{scope}", max_age=good_for)
    except signing.SignatureExpired:
        raise serializers.ValidationError(EXPIRED) from None
    except signing.BadSignature:
        raise serializers.ValidationError(UNREADABLE) from None
    return place


@dataclass(frozen=True)
class Page:
    """A page that is asked for: the filters' values, the row it begins after, if any, and the most rows it has."""

    filters: dict[str, Any]
    limit: int
    scope: str
    after: Place | None

    def answer(
        self,
        rows: QuerySet[Any],
        represent: Callable[[Any], dict[str, Any]],
        *,
        columns: tuple[str, str] = NEWEST_FIRST,
    ) -> dict[str, Any]:
        """Return the page's body: rows by two columns, the highest first; the second tells rows of one list apart."""
        if self.after:
            fields = {name: cast("Field[Any, Any]", rows.model._meta.get_field(name)) for name in columns}
            values = {name: fields[name].to_python(text) for name, text in zip(columns, self.after, strict=True)}
            rows = rows.filter(after(values, [f"-{name}" for name in columns]))
        found = list(rows.order_by(*(f"-{name}" for name in columns))[: self.limit + 1])
        shown = found[: self.limit]
        last = [getattr(shown[-1], name) for name in columns] if len(found) > self.limit else None
        place = last and [each.isoformat() if isinstance(each, datetime) else str(each) for each in last]
        return {"data": [represent(row) for row in shown], "next": place and signed(place, self.scope)}


def read_page(request: Request, kind: type[PageSerializer]) -> Page:
    """Read the query of a list for the shop that asks; raise ValidationError with every fault."""
    asked = {name: text for name, text in request.query_params.items() if name not in {"limit", "cursor"}}
    scope = orjson.dumps([request.path, str(request.user.pk), asked], option=orjson.OPT_SORT_KEYS).decode()
    filters = read_query(request, kind, scope=scope)
    return Page(limit=filters.pop("limit"), after=filters.pop("cursor", None), filters=filters, scope=scope)
