"""A migration that waits for a table's lock gives up, as everybody else waits behind it."""

import psycopg
import pytest
from django.db import OperationalError, connection, models, transaction

from config.postgresql import base
from shops.models import Shop
from tests.support.processes import environment, run_command
from tests.support.sql import execute, value

pytestmark = [pytest.mark.real_services, pytest.mark.django_db(transaction=True)]
NAME = models.CharField(max_length=10, null=True)
NAME.set_attributes_from_name("another")


@pytest.mark.parametrize("is_atomic", [True, False])
def test_it_gives_up_and_changes_nothing(monkeypatch: pytest.MonkeyPatch, *, is_atomic: bool) -> None:
    monkeypatch.setattr(base, "LIMIT_LOCK_WAIT", base.LIMIT_LOCK_WAIT.replace("'5s'", "'300ms'"))
    execute("SET statement_timeout = '5s'")  # without a limit it would wait for ever
    try:
        with psycopg.connect(environment()["DATABASE_URL"]) as reader:
            reader.execute("SELECT * FROM shops_shop")
            editor = connection.schema_editor(atomic=is_atomic)
            with pytest.raises(OperationalError, match="lock timeout"), editor as opened:
                opened.add_field(Shop, NAME)
    finally:
        execute("RESET statement_timeout")
    with connection.cursor() as cursor:
        columns = [column.name for column in connection.introspection.get_table_description(cursor, "shops_shop")]
    assert "another" not in columns


def test_an_operators_own_limit_stays_and_nothing_else_is_limited() -> None:
    shown = "from django.db import connection; print(*connection.cursor().execute('SHOW lock_timeout').fetchone())"
    code, out, _ = run_command("shell", "-v", "0", "-c", shown, PGOPTIONS="-c lock_timeout=1min")
    assert (code, out) == (0, "1min\n")  # as docs/runbook/install.md says
    with connection.schema_editor(atomic=False):
        assert value("SHOW lock_timeout") == "0"
    with connection.schema_editor(atomic=True):
        assert value("SHOW lock_timeout") == "5s"
    assert value("SHOW lock_timeout") == "0"
    with transaction.atomic():
        execute("SET LOCAL lock_timeout = '1min'")
        with connection.schema_editor(atomic=True):
            assert value("SHOW lock_timeout") == "1min"
