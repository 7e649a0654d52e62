"""The query of a request, read as strictly as a body: an unknown parameter is a fault, as is one that is empty."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from urllib.parse import quote

from rest_framework import serializers
from rest_framework.request import Request

from carriers.products import PARIS
from shops.api.field_faults import Fault
from shops.api.serializer_fields import ObjectSerializer, StringField

MAX_NAMED: Final = 5  # unknown parameters, each cut to as many characters as a name may have
MAX_NAME_LENGTH: Final = 40
DAY = re.compile(r"[12][0-9]{3}-[0-9]{2}-[0-9]{2}")
# An offset may lack its minutes or its colon: libraries write +01 and +0100, too.
OFFSET = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
MOMENT = re.compile(rf"{DAY.pattern}T[0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]{{1,9}})?)?{OFFSET}")


class TextParameter(StringField):
    """A text that is compared exactly."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_length=1, required=False, **kwargs)


class WholeNumberParameter(StringField):
    def __init__(self, *, max_value: int, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.max_value = max_value

    def to_internal_value(self, data: Any) -> Any:
        number = int(data) if re.fullmatch(r"[0-9]{1,9}", data) else 0
        if not 1 <= number <= self.max_value:
            raise serializers.ValidationError(f"must be a whole number from 1 to {self.max_value}.")
        return number


class MomentParameter(StringField):
    """A time with its offset, or a day, which is the whole one in Europe/Paris: an end is that of the day."""

    def __init__(self, *, is_end: bool = False, is_in_body: bool = False, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.is_end = is_end
        self.escaping = "" if is_in_body else " (the + of an offset is escaped as %2B)"

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        with suppress(ValueError):  # the 30th of February
            if DAY.fullmatch(text):
                day = date.fromisoformat(text) + timedelta(days=self.is_end)
                return datetime.combine(day, time(), PARIS)
            if MOMENT.fullmatch(text):
                return datetime.fromisoformat(text)
        raise serializers.ValidationError(
            f"must be ISO 8601 with an offset, such as 2026-11-21T04:24:48Z{self.escaping}, or a day, YYYY-MM-DD,"
            " from 1000 to 2999."
        )


class QuerySerializer(ObjectSerializer):
    """A query, whose fields are its parameters; every fault in it is reported at once."""

    def rule_faults(self, data: dict[str, Any]) -> Iterator[Fault]:
        only = f", only {', '.join(self.fields)}" if self.fields else ""
        for name in [name for name in data if name not in self.fields][:MAX_NAMED]:
            yield [printable(name)], f"is no parameter here{only}."
        for name in self.context["twice"][:MAX_NAMED]:
            yield [printable(name)], "is given twice."


def read_query(request: Request, kind: type[QuerySerializer] = QuerySerializer, **context: Any) -> dict[str, Any]:
    """Return the values of a query, read with this context; raise ValidationError with every fault."""
    parameters = request.query_params
    twice = [name for name, values in parameters.lists() if len(values) > 1]
    values: dict[str, Any] = kind(context={"twice": twice, **context}).run_validation(parameters.dict())
    return values


def printable(name: str) -> str:
    return quote(name[:MAX_NAME_LENGTH], safe="")
