"""Serializer fields that take a JSON value of their own type only: ``1`` is no string, ``true`` no number."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from rest_framework import serializers

MAX_SAFE_INTEGER = 2**53 - 1  # beyond it, readers that keep numbers as doubles (JavaScript) see another value
WHOLE = "non_field_errors"  # DRF's name for the object itself
MESSAGES: dict[str, Any] = {
    "required": "is required.",
    "null": "must not be null.",
}


class StrictField(serializers.Field[Any, Any, Any, Any]):
    """A field that accepts the exact Python types that a JSON parser makes of its JSON type."""

    json_type = "a value"
    python_types: tuple[type, ...] = (object,)
    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> Any:
        if type(data) not in self.python_types:  # not isinstance: a bool is an int to Python
            raise serializers.ValidationError(f"must be {self.json_type}, not {type_name(data)}.")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class StringField(StrictField):
    """A JSON string, at most `max_length` characters, kept as it is: no trimming; NUL is refused."""

    json_type = "a string"
    python_types = (str,)

    def __init__(self, *, max_length: int = 1000, min_length: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_length = max_length
        self.min_length = min_length

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        if len(text) < self.min_length:
            raise serializers.ValidationError("must not be empty.")
        if len(text) > self.max_length:
            raise serializers.ValidationError(f"must have at most {self.max_length} characters.")
        if "\0" in text:
            raise serializers.ValidationError("must not contain a NUL character.")
        return text


class ChoiceField(StringField):
    """One of a few strings."""

    def __init__(self, choices: Sequence[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.choices = choices

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if text not in self.choices:
            raise serializers.ValidationError(f"must be one of {', '.join(self.choices)}.")
        return text


class NumberField(StrictField):
    """A JSON number, an integer staying an integer."""

    json_type = "a number"
    python_types = (int, float)


class IntegerField(StrictField):
    """A JSON integer that every reader can hold exactly."""

    json_type = "an integer"
    python_types = (int,)

    def __init__(self, *, min_value: int = -MAX_SAFE_INTEGER, max_value: int = MAX_SAFE_INTEGER, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.min_value = min_value
        self.max_value = max_value

    def to_internal_value(self, data: Any) -> int:
        number: int = super().to_internal_value(data)
        if not self.min_value <= number <= self.max_value:
            raise serializers.ValidationError(f"must be from {self.min_value} to {self.max_value}.")
        return number


class BooleanField(StrictField):
    """A JSON boolean."""

    json_type = "a boolean"
    python_types = (bool,)


class ListOfField(serializers.ListField):
    """A JSON array whose elements are each of one field."""

    default_error_messages = MESSAGES | {"max_length": "must have at most {max_length} elements."}

    def to_internal_value(self, data: Any) -> list[Any]:
        values: list[Any] = super().to_internal_value(checked_array(data))
        return values


class StrictListSerializer(serializers.ListSerializer[Any]):
    """A JSON array of objects."""

    default_error_messages = MESSAGES

    def to_internal_value(self, data: Any) -> list[Any]:
        values: list[Any] = super().to_internal_value(checked_array(data))
        return values


def checked_array(data: Any) -> Any:
    """Refuse what is no JSON array."""
    if type(data) is not list:
        raise serializers.ValidationError(f"must be an array, not {type_name(data)}.")
    return data


Path = list[Any]  # names in an object, indices in an array
Fault = tuple[Path, str]


class ObjectSerializer(serializers.Serializer[Any]):
    """A JSON object: what is not declared is left out, what is declared is of its type.

    Rules between fields are looked at even when a field by itself is at fault, so that all faults come at once.
    """

    default_error_messages = MESSAGES

    class Meta:
        list_serializer_class = StrictListSerializer

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """DRF says of a body that is null that there is none."""
        return self.to_internal_value(data) if data is None and self.parent is None else super().run_validation(data)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if type(data) is not dict:
            whole = "" if self.parent else "The JSON as a whole "
            raise serializers.ValidationError({WHOLE: [f"{whole}must be an object, not {type_name(data)}."]})
        errors: dict[Any, Any] = {}
        values: dict[str, Any] = {}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            errors = dict(error.detail)  # type: ignore[arg-type]  # of an object it is a dict
        for path, text in self.rule_faults(data):
            add_fault(errors, path, text)
        if errors:
            raise serializers.ValidationError(errors)
        return values

    def rule_faults(self, data: dict[str, Any]) -> Iterable[Fault]:
        """The faults that lie between fields; a field of the wrong type or missing is for its own check to report."""
        return ()


def add_fault(errors: dict[Any, Any], path: Path, text: str) -> None:
    """Report a fault at a JSON path, unless the field itself was found at fault already."""
    *outer, last = path
    for step in outer:
        inner = by_step(errors.get(step, {}))
        errors[step] = inner
        errors = inner
    found = errors.setdefault(last, [text])
    if by_step(found).get(WHOLE) is None:  # faults inside of it only
        errors[last] = by_step(found) | {WHOLE: [text]}


def by_step(detail: Any) -> dict[Any, Any]:
    """The faults in a DRF error detail by name or index; an array's come as a list of one dict an item."""
    if isinstance(detail, dict):
        return detail
    if all(isinstance(item, dict) for item in detail):
        return {index: item for index, item in enumerate(detail) if item}
    return {WHOLE: detail}


class ArrayField(StrictField):
    """A JSON array of anything."""

    json_type = "an array"
    python_types = (list,)

    def to_internal_value(self, data: Any) -> Any:
        return writable(super().to_internal_value(data))


class AnyField(StrictField):
    """Any JSON value."""

    def to_internal_value(self, data: Any) -> Any:
        return writable(data)


def writable(data: Any) -> Any:
    """Refuse what could be read but not be written again: orjson takes 1,024 levels in and gives 254 out."""
    try:
        orjson.dumps(data)
    except orjson.JSONEncodeError:
        raise serializers.ValidationError("is nested too deeply.") from None
    return data


def type_name(data: Any) -> str:
    """Name the JSON type of a parsed value."""
    names = {
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a number",
        list: "an array",
        dict: "an object",
    }
    return "null" if data is None else names.get(type(data), type(data).__name__)


def faults(detail: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each fault of a DRF error detail with the JSON path of its field, such as ``parcels[0].weight``."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            step = "" if name == WHOLE else f"[{name}]" if isinstance(name, int) else f".{name}"
            yield from faults(inner, (path + step).lstrip("."))
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            yield from faults(inner, f"{path}[{index}]" if isinstance(inner, dict) else path)
    else:
        yield path, str(detail)


def describe_faults(detail: Any) -> str:
    """All faults of a DRF error detail in one line."""
    return " ".join(f"{path}: {text}" if path else text for path, text in faults(detail))
