"""Serializers compiled into Python functions, which read valid JSON some fifteen times as fast, for imports of millions."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from django.core.exceptions import ValidationError as InvalidValue
from rest_framework.serializers import ValidationError

from shops.serializer_fields import (
    AnyField,
    ArrayField,
    ChoiceField,
    IntegerField,
    ListOfField,
    ObjectSerializer,
    StrictField,
    StrictListSerializer,
    StringField,
    writable,
)

Read = Callable[[Any], Any]


class RefusedError(Exception):
    """A value that is invalid; the field's own `run_validation` names its faults."""


def compile_field(field: Any) -> Read:
    """Return a function that returns what `run_validation` of a declared field does, or raises RefusedError."""
    program = Program()
    lines = list(program.read(field, "value"))
    read = program.function([*lines, "return value"])

    def read_or_refuse(value: Any) -> Any:
        try:
            return read(value)
        except (ValidationError, InvalidValue, KeyError):  # the last of a required member that is missing
            raise RefusedError from None

    return read_or_refuse


class Program:
    """The source of functions, and the objects that it names."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {"RefusedError": RefusedError, "writable": writable}
        self.numbers = count()

    def name(self, value: Any) -> str:
        """Return a new name for an object."""
        name = f"x{next(self.numbers)}"
        self.objects[name] = value
        return name

    def function(self, lines: list[str]) -> Read:
        """Compile the body of a function of `value`."""
        source = "\n    ".join(["def read(value):", *lines])
        defined: dict[str, Any] = {}
        exec(source, self.objects, defined)  # noqa: S102 - made of declarations only, and never of what is read
        read: Read = defined["read"]
        return read

    def read(self, field: Any, name: str) -> Iterator[str]:
        """Yield statements that read a field: its value before and after is in the variable `name`."""
        test = self.test(field, name)
        null = f"{name} is not None and " if field.allow_null else ""
        if test:
            yield f"if {null}not ({test}): raise RefusedError"
        elif field.allow_null:
            yield f"if {name} is not None: {name} = {self.call(field, name)}"
        else:
            yield f"if {name} is None: raise RefusedError"
            yield f"{name} = {self.call(field, name)}"
        for check in field.validators:
            yield f"if {name} is not None: {self.name(check)}({name})"

    def test(self, field: Any, name: str) -> str:
        """Return the condition for a valid value that is kept as it is; "" where the field's own function decides."""
        read = type(field).to_internal_value  # a subclass that has its own is not meant
        if read is StringField.to_internal_value:
            length = f"{field.min_length} <= len({name}) <= {field.max_length}"
            return f"type({name}) is str and {length} and '\\0' not in {name}"
        if read is ChoiceField.to_internal_value:
            return f"type({name}) is str and {name} in {self.name(frozenset(field.choices))}"
        if read is IntegerField.to_internal_value:
            return f"type({name}) is int and {field.min_value} <= {name} <= {field.max_value}"
        if read is ArrayField.to_internal_value:
            return f"type({name}) is list and (not {name} or writable({name}) is {name})"
        if read is AnyField.to_internal_value:
            return f"{name} is not None and writable({name}) is {name}"
        if read is StrictField.to_internal_value:
            return f"type({name}) in {self.name(frozenset(field.python_types))}"
        return ""

    def call(self, field: Any, name: str) -> str:
        """Return the call of a function that reads a value which is not null."""
        if isinstance(field, ObjectSerializer):
            return f"{self.name(self.object_reader(field))}({name})"
        if isinstance(field, ListOfField | StrictListSerializer):
            return f"{self.name(self.list_reader(field.child))}({name})"
        return f"{self.name(field.to_internal_value)}({name})"

    def list_reader(self, child: Any) -> Read:
        lines = ["if type(value) is not list: raise RefusedError", "values = []", "for each in value:"]
        lines += [f"    {line}" for line in (*self.read(child, "each"), "values.append(each)")]
        return self.function([*lines, "return values"])

    def object_reader(self, serializer: ObjectSerializer) -> Read:
        fields = [field for field in serializer.fields.values() if not field.read_only]
        names = {field.field_name: f"v{number}" for number, field in enumerate(fields)}
        lines = ["if type(value) is not dict: raise RefusedError"]
        for field in fields:
            lines += self.member(serializer, field, names[field.field_name])
        if type(serializer).rule_faults is not ObjectSerializer.rule_faults:
            lines.append(f"if any({self.name(serializer.rule_faults)}(value)): raise RefusedError")
        members = ", ".join(f"{field.source!r}: {names[field.field_name]}" for field in fields)
        validate = self.name(serializer.validate)
        return self.function([*lines, f"return {validate}({{{members}}})"])

    def member(self, serializer: ObjectSerializer, field: Any, name: str) -> Iterator[str]:
        """Yield statements that read a member of an object into the variable `name`."""
        assert field.source_attrs == [field.source], field.source
        if field.required:
            yield f"{name} = value[{field.field_name!r}]"
            yield from self.read(field, name)
        elif field.allow_null and field.default is None:
            yield f"{name} = value.get({field.field_name!r})"
            yield from self.read(field, name)
        else:
            yield f"if {field.field_name!r} in value:"
            yield f"    {name} = value[{field.field_name!r}]"
            yield from (f"    {line}" for line in self.read(field, name))
            yield f"else: {name} = {self.name(field.get_default)}()"
        if validate := getattr(serializer, f"validate_{field.field_name}", None):
            yield f"{name} = {self.name(validate)}({name})"
