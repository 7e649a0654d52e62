"""JSON text that the database itself makes of a row's columns, byte for byte as orjson would."""

from typing import Any, Final

from django.db.models import Func, IntegerField, TextField

from shops.db.fields import JSONTextField

# A text as a JSON string; null for NULL. PostgreSQL keeps no column that is made with its usual functions, as they are
# not immutable.
QUOTED: Final = {"postgresql": "(json_object(ARRAY['', {}]) -> '')::text", "sqlite": "json_quote({})"}
UNQUOTED: Final = "COALESCE(CAST({} AS text), 'null')"


class JSONMembers(Func):
    """Members of a JSON object, separated by commas: columns of text, integers or JSON text, by the members' names."""

    def __init__(self, **columns: str) -> None:
        self.names = tuple(columns)
        super().__init__(*columns.values(), output_field=TextField())

    def as_sql(self, compiler: Any, connection: Any, **context: Any) -> Any:  # type: ignore[override]  # takes no template
        columns = zip(self.names, self.source_expressions, strict=True)
        members = [f'"{name}":\' || {value(column, compiler, connection)}' for name, column in columns]
        return "'" + " || ',".join(members), ()


def value(column: Any, compiler: Any, connection: Any) -> str:
    """Return the SQL of a column's value as JSON."""
    is_text = not isinstance(column.output_field, JSONTextField | IntegerField)
    sql, _ = compiler.compile(column)
    return (QUOTED[connection.vendor] if is_text else UNQUOTED).format(sql)
