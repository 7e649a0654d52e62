"""Django's PostgreSQL backend with a health check that costs a system call instead of a round trip."""

import select
from typing import Any

from django.db import models
from django.db.backends.postgresql import base
from django.db.backends.postgresql.schema import DatabaseSchemaEditor

from shops.fields import ByCodePoint


class SchemaEditor(DatabaseSchemaEditor):
    """Makes no second index for LIKE on a column whose first one, in code point order, serves that too."""

    def _create_like_index_sql(self, model: type[models.Model], field: "models.Field[Any, Any]") -> Any:
        return None if isinstance(field, ByCodePoint) else super()._create_like_index_sql(model, field)  # type: ignore[misc]  # the types leave it out


class DatabaseWrapper(base.DatabaseWrapper):
    """Asks the server ``SELECT 1`` only when something lies unread on the connection.

    A server that ended the connection (a restart, a failover) has sent its farewell or at least the end of the
    stream, so an idle socket with nothing to read is alive as far as this side can know.
    """

    SchemaEditorClass = SchemaEditor

    def is_usable(self) -> bool:
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()
