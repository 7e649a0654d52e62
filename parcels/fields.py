"""A model field for the nested parts of a parcel."""

from typing import TYPE_CHECKING, Any

import orjson
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression

if TYPE_CHECKING:
    TextField = models.TextField[Any, Any]
else:
    TextField = models.TextField


class JSONTextField(TextField):
    """A JSON value kept as compact text, in the order of its keys, so that an answer can take it in unparsed.

    PostgreSQL's ``jsonb`` would reorder keys, write numbers its own way and be formatted anew at each read.
    """

    def from_db_value(self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper) -> Any:
        return None if value is None else orjson.loads(value)

    def to_python(self, value: Any) -> Any:
        return value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else orjson.dumps(value).decode()

    def value_to_string(self, obj: models.Model) -> str:
        return orjson.dumps(self.value_from_object(obj)).decode()
