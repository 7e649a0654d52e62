"""Serializers compiled into Python functions, which read valid JSON over ten times as fast, for imports of millions."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from django.core.exceptions import ValidationError as InvalidValue
from rest_framework.serializers import ValidationError

from shops.api.serializer_fields import (
    AnyField,
    ArrayField,
    ChoiceField,
    ListOfField,
    NumberField,
    ObjectSerializer,
    StrictField,
    StrictListSerializer,
    StringField,
    writable,
)

Read = Callable[[Any], Any]


def is_typed(field: StrictField) -> str:
    return " or ".join(f"type(v) is {each.__name__}" for each in field.python_types)


# By the function of a field that reads a value: the condition for a value `v` that it returns as it is.
CONDITIONS: Final[dict[Any, Callable[[Any], str]]] = {
    StringField.to_internal_value: lambda field: (
        f"type(v) is str and {field.min_length} <= len(v) <= {field.max_length} and '\\0' not in v"
    ),
    ChoiceField.to_internal_value: lambda field: f"type(v) is str and v in { {str(each) for each in field.choices} }",
    NumberField.to_internal_value: lambda field: f"({is_typed(field)}) and {field.min_value} <= v <= {field.max_value}",
    ArrayField.to_internal_value: lambda _: "type(v) is list and (not v or writable(v) is v)",
    AnyField.to_internal_value: lambda _: "v is not None and writable(v) is v",
    StrictField.to_internal_value: is_typed,
}


class RefusedError(Exception):
    """A value that is invalid; the field's own `run_validation` names its faults."""


def compile_field(field: Any) -> Read:
    """Return a function that does what a field's `run_validation` does, without `rule_faults`; raise RefusedError."""
    program = Program()
    read = program.function(*program.reading(field), "return v")

    def read_or_refuse(value: Any) -> Any:
        try:
            return read(value)
        except (ValidationError, InvalidValue, KeyError):  # the last of a required member that is missing
            raise RefusedError from None

    return read_or_refuse


class Program:
    """The source of functions that read values, and the objects that it names."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {"RefusedError": RefusedError, "writable": writable}

    def name(self, value: Any) -> str:
        name = f"object_{len(self.objects)}"
        self.objects[name] = value
        return name

    def function(self, *lines: str) -> Read:
        """Compile the body of a function of `v`."""
        defined: dict[str, Any] = {}
        source = "\n    ".join(["def read(v):", *lines])
        exec(source, self.objects, defined)  # noqa: S102 - made of declarations, and never of what is read  # nosec B102
        read: Read = defined["read"]
        return read

    def reading(self, field: Any) -> Iterator[str]:
        """Yield the statements that validate `v` and replace it by what it is read as."""
        null = "v is not None and " if field.allow_null else ""
        if condition := CONDITIONS.get(type(field).to_internal_value):
            yield f"if {null}not ({condition(field)}): raise RefusedError"
        elif field.allow_null:
            yield f"if v is not None: v = {self.name(self.reader(field))}(v)"
        else:
            yield "if v is None: raise RefusedError"
            yield f"v = {self.name(self.reader(field))}(v)"
        for check in field.validators:
            yield f"if v is not None: {self.name(check)}(v)"

    def reader(self, field: Any) -> Read:
        if isinstance(field, ObjectSerializer):
            return self.object_reader(field)
        if isinstance(field, ListOfField | StrictListSerializer):
            return self.list_reader(field.child)
        read: Read = field.to_internal_value
        return read

    def list_reader(self, child: Any) -> Read:
        loop = ["    " + line for line in (*self.reading(child), "values.append(v)")]
        return self.function(
            "if type(v) is not list: raise RefusedError", "values = []", "for v in v:", *loop, "return values"
        )

    def object_reader(self, serializer: ObjectSerializer) -> Read:
        lines = ["if type(v) is not dict: raise RefusedError", "data, values = v, {}"]
        for field in serializer.fields.values():
            lines += [] if field.read_only else self.member(serializer, field)
        return self.function(*lines, f"return {self.name(serializer.validate)}(values)")

    def member(self, serializer: ObjectSerializer, field: Any) -> Iterator[str]:
        """Yield the statements that read a member of `data` into `values`."""
        key, (source,) = repr(field.field_name), field.source_attrs
        if field.required:
            yield f"v = data[{key}]"
            yield from self.reading(field)
        else:
            yield f"if {key} in data:"
            yield f"    v = data[{key}]"
            yield from ("    " + line for line in self.reading(field))
            yield f"else: v = {self.name(field.get_default)}()"
        if validate := getattr(serializer, f"validate_{field.field_name}", None):
            yield f"v = {self.name(validate)}(v)"
        yield f"values[{source!r}] = v"
