"""Old and new values of a change, as JSON has them; of a secret it is recorded only that it changed."""

import re
from typing import Any

from django.db.models import Model, QuerySet

SECRET = re.compile(r"password|secret|credential|api_key")
CHANGED = "changed"
Changes = dict[str, list[Any]]


def of_form(form: Any) -> Changes:
    """Return the changes that an admin's form makes, by field."""
    cleaned = getattr(form, "cleaned_data", {})
    secrets = {name: change(name, None, None) for name in form.changed_data if SECRET.search(name)}
    old = {name: form[name].initial for name in form.changed_data if name in cleaned and name not in secrets}
    return between(old, cleaned) | secrets


def between(old: dict[str, Any], new: dict[str, Any]) -> Changes:
    """Return the values that differ, of the fields that are named in `old`."""
    pairs = {name: change(name, value, new[name]) for name, value in old.items() if name in new}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def of_new(row: Model, *names: str) -> Changes:
    return {name: change(name, None, getattr(row, name)) for name in names}


def change(name: str, old: Any, new: Any) -> list[Any]:
    return [None, CHANGED] if SECRET.search(name) else [plain(old), plain(new)]


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a row is its key, a set of rows their names."""
    if value is None or isinstance(value, bool | int | str | dict):
        return value
    if isinstance(value, Model):
        return value.pk
    if isinstance(value, list | tuple | set | QuerySet):
        return sorted(map(str, value))
    return str(value)
