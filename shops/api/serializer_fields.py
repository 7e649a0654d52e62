"""Serializer fields with strict JSON types: ``1`` is no string, ``true`` no number."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from types import NoneType
from typing import Any

import orjson
from rest_framework import serializers

from shops.api.field_faults import REQUIRED, WHOLE, Fault, add_fault, name_near_fields

MAX_SAFE_INTEGER = 2**53 - 1  # beyond it, readers that store numbers as doubles (JavaScript) lose digits
# Of JSON's types, by those that a parser returns.
NAMES: dict[type, str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    list: "an array",
    dict: "an object",
    NoneType: "null",
}
MESSAGES: dict[str, Any] = {"required": REQUIRED, "null": "must not be null."}


class StrictField(serializers.Field[Any, Any, Any, Any]):
    """A field that accepts only the Python types that a JSON parser returns for its JSON type."""

    python_types: tuple[type, ...] = (object,)
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> Any:
        if type(data) not in self.python_types:  # not isinstance: a bool is an int to Python
            raise self.wrong_type(data)
        return data

    def wrong_type(self, data: Any) -> serializers.ValidationError:
        return serializers.ValidationError(f"must be {NAMES[self.python_types[-1]]}, not {NAMES[type(data)]}.")


class StringField(StrictField):
    """A JSON string of at most `max_length` characters, not trimmed; NUL is refused."""

    python_types = (str,)

    def __init__(self, *, max_length: int = 1000, min_length: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_length = max_length
        self.min_length = min_length

    def to_internal_value(self, data: Any) -> str:
        if type(data) is not str:
            raise self.wrong_type(data)
        if len(data) < self.min_length:
            raise serializers.ValidationError("must not be empty.")
        if len(data) > self.max_length:
            raise serializers.ValidationError(f"must have at most {self.max_length} characters.")
        if "\0" in data:
            raise serializers.ValidationError("must not contain a NUL character.")
        return data


class TextField(StringField):
    """A string that is not blank."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not text.strip():
            raise serializers.ValidationError("must not be empty.")
        return text


class CodeField(StringField):
    """A string of a given form, or an empty one where the field may be left out."""

    def __init__(self, pattern: str, form: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pattern = re.compile(pattern)
        self.form = form

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if (text or self.required) and not self.pattern.fullmatch(text):
            raise serializers.ValidationError(f"must be {self.form}.")
        return text


class ChoiceField(StringField):
    def __init__(self, choices: Sequence[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.choices = choices

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if text not in self.choices:
            raise serializers.ValidationError(f"must be one of {', '.join(self.choices)}.")
        return text


class DateField(StringField):
    """A calendar day, ``YYYY-MM-DD``, read as a date."""

    form = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=10, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        with suppress(ValueError):  # the 30th of February
            if self.form.fullmatch(text):
                return date.fromisoformat(text)
        raise serializers.ValidationError("must be a day, YYYY-MM-DD.")


class NumberField(StrictField):
    """A JSON number; an integer stays an integer, and has at most 64 bits unless other bounds are given."""

    python_types: tuple[type, ...] = (int, float)

    def __init__(self, *, min_value: int = -(2**63), max_value: int = 2**64 - 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.min_value = min_value
        self.max_value = max_value

    def to_internal_value(self, data: Any) -> Any:
        number = super().to_internal_value(data)
        if not self.min_value <= number <= self.max_value:
            raise serializers.ValidationError(f"must be from {self.min_value} to {self.max_value}.")
        return number


class AmountField(NumberField):
    """A JSON number above 0 and at most `max_value`, of a unit; read as decimal text, which is exact."""

    def __init__(self, *, max_value: int, unit: str, **kwargs: Any) -> None:
        super().__init__(max_value=max_value, **kwargs)
        self.unit = unit

    def to_internal_value(self, data: Any) -> str:
        number = StrictField.to_internal_value(self, data)
        if not 0 < number <= self.max_value:
            raise serializers.ValidationError(f"must be above 0 and at most {self.max_value} {self.unit}.")
        return str(number)


class IntegerField(NumberField):
    """A JSON integer that every reader can represent exactly."""

    python_types = (int,)

    def __init__(self, *, min_value: int = -MAX_SAFE_INTEGER, max_value: int = MAX_SAFE_INTEGER, **kwargs: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **kwargs)


class BooleanField(StrictField):
    python_types = (bool,)


class ListOfField(serializers.ListField):
    """A JSON array whose elements share one field."""

    default_error_messages = MESSAGES | {"max_length": "must have at most {max_length} elements."}

    def to_internal_value(self, data: Any) -> list[Any]:
        """Refuse too many elements before any is read: thousands of them are one fault."""
        array = checked_array(data)
        if self.max_length is not None and len(array) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        values: list[Any] = super().to_internal_value(array)
        return values


class StrictListSerializer(serializers.ListSerializer[Any]):
    default_error_messages = MESSAGES

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        text = f"must have {kwargs.get('min_length')} to {kwargs.get('max_length')} elements."
        self.error_messages |= dict.fromkeys(("min_length", "max_length"), text)

    def to_internal_value(self, data: Any) -> list[Any]:
        values: list[Any] = super().to_internal_value(checked_array(data))
        return values


def checked_array(data: Any) -> Any:
    if type(data) is not list:
        raise serializers.ValidationError(f"must be an array, not {NAMES[type(data)]}.")
    return data


class ObjectSerializer(serializers.Serializer[Any]):
    """A JSON object without undeclared fields; rules between fields are checked beside faults of the fields."""

    default_error_messages = MESSAGES

    class Meta:
        list_serializer_class = StrictListSerializer

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Refuse a body that is null; DRF would take it for a missing one."""
        return self.to_internal_value(data) if data is None and self.parent is None else super().run_validation(data)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if type(data) is not dict:
            whole = "" if self.parent else "The JSON as a whole "
            raise serializers.ValidationError({WHOLE: [f"{whole}must be an object, not {NAMES[type(data)]}."]})
        errors: dict[Any, Any] = {}
        values: dict[str, Any] = {}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            errors = dict(error.detail)  # type: ignore[arg-type]  # of an object it is a dict
        name_near_fields(errors, [name for name in data if name not in self.fields])
        for path, text in self.rule_faults(data):
            add_fault(errors, path, text)
        if errors:
            raise serializers.ValidationError(errors)
        return values

    def rule_faults(self, data: dict[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields. Missing fields and wrong types are reported by the fields themselves."""
        return ()


class ArrayField(StrictField):
    python_types = (list,)

    def to_internal_value(self, data: Any) -> Any:
        return writable(super().to_internal_value(data))


class AnyField(StrictField):
    def to_internal_value(self, data: Any) -> Any:
        return writable(data)


def writable(data: Any) -> Any:
    """Refuse a value that could be read (1,024 levels, any digits) and that orjson does not write (254, 64 bits)."""
    try:
        orjson.dumps(data)
    except orjson.JSONEncodeError:
        raise serializers.ValidationError("is nested too deeply, or has an integer of over 64 bits.") from None
    return data
