"""deploy/roles.sql on a real PostgreSQL: one role migrates, the other serves and works, and can change no table."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from carriers.sandbox.server import SandboxServer
from tests.labels.backups import postgresql_program
from tests.labels.orders import order
from tests.support.http import ask
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.processes import ROOT, run_command, served, start_command

pytestmark = [pytest.mark.real_services, pytest.mark.django_db(transaction=True)]
DATABASE = "roles_of_the_service"
# Everything that writes, as the service's role; the last line of output is a token, the one before it a session.
WORK = """
import io
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
shop = io.StringIO()
call_command("create_shop", "Roles", "--id", "roles", stdout=shop)
call_command("set_sender_address", "roles", "{folder}/sender.json", stdout=shop)
call_command("configure_carrier", "roles", "alpha", "--account-number", "19869502", "--password-stdin",
             "--all-products", stdout=shop)
call_command("import_parcels", "roles", "{samples}", "--silent", stdout=shop)
for command in ("refresh_tracking", "reconcile_labels", "apply_retention", "encrypt_credentials"):
    call_command(command, stdout=shop)
call_command("export_customer", "roles", "nobody@example.com", stdout=shop)
call_command("erase_customer", "roles", "nobody@example.com", stdout=shop)
browser = Client()
browser.force_login(User.objects.create_superuser("ada"))
assert browser.post("/admin/auth/group/add/", {{"name": "staff"}}).status_code == 302
call_command("create_token", "roles")
"""


@dataclass(frozen=True)
class Database:
    """A database set up by roles.sql."""

    host: str

    def url(self, role: str) -> str:
        return f"postgresql://{role}@/{DATABASE}?host={self.host}"

    def as_setting(self, role: str) -> str:
        return f"postgresql://{role}@{self.host.replace('/', '%2F')}/{DATABASE}"


@pytest.fixture
def database(transactional_db: None) -> Iterator[Database]:
    admin = os.environ["DATABASE_URL"]
    made = Database(host=admin.rpartition("host=")[2])
    name = sql.Identifier(DATABASE)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
        url = urlsplit(admin)._replace(path=f"/{DATABASE}").geturl()
        passwords = {"OWNER_PASSWORD": "a", "SERVICE_PASSWORD": "b", "BACKUP_PASSWORD": "c"}
        command = [postgresql_program("psql"), "--quiet", "--file", str(ROOT / "deploy" / "roles.sql"), url]
        for _ in range(2):  # the roles may be there, as after a restore
            subprocess.run(command, env=dict(os.environ) | passwords, check=True)
        yield made
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
        connection.execute("DROP ROLE parcels_owner, parcels, parcels_backup")


def test_one_role_migrates_and_the_other_serves_and_works_without_owning_anything(
    database: Database, tmp_path: Path
) -> None:
    assert run_command("migrate", "--verbosity", "0", DATABASE_URL=database.as_setting("parcels_owner"))[0] == 0
    (tmp_path / "sender.json").write_text(json.dumps(order()["originAddress"]))
    samples = ROOT / "tests" / "data" / "parcels.ndjson"
    with SandboxServer() as sandbox:
        settings = {"DATABASE_URL": database.as_setting("parcels"), "LABELS_DIR": str(tmp_path / "labels")}
        settings |= sandbox.urls
        script = WORK.format(folder=tmp_path, samples=samples)
        code, output, errors = run_command("shell", "-v", "0", "-c", script, stdin=b"255562\n", **settings)
        assert (code, output.startswith("pts_")) == (0, True), errors
        check_service(output.strip(), settings, tmp_path)
        check_work(settings)
    check_rights(database)


def check_service(token: str, settings: dict[str, str], folder: Path) -> None:
    bearer = ("Authorization", f"Bearer {token}")
    body = json.dumps(order()).encode()
    number = json.loads((ROOT / "tests" / "data" / "parcels.ndjson").read_text().partition("\n")[0])["trackingId"]
    with served(folder / "log", settings) as server:
        assert ask(server.port, "GET", "/readyz")[0] == 200
        assert ask(server.port, "GET", PARCELS + number, [bearer])[0] == 200
        assert ask(server.port, "GET", f"{SEARCH}?orderName=1", [bearer])[0] == 200
        assert ask(server.port, "POST", SHIPMENTS, [bearer, ("Content-Type", "application/json")], body)[0] == 201


def check_work(settings: dict[str, str]) -> None:
    """Let `work` run its tasks once, and end it."""
    with start_command("work", **settings) as process:
        assert process.stderr
        lines: list[str] = []
        while not any('"asked"' in line for line in lines):
            lines.append(process.stderr.readline().decode())
            assert lines[-1], lines
        process.send_signal(signal.SIGTERM)
        rest = process.communicate()[1].decode()
    assert process.returncode == 0
    assert "permission denied" not in "".join([*lines, rest])


def check_rights(database: Database) -> None:
    with psycopg.connect(database.url("parcels"), autocommit=True) as connection:
        owners = connection.execute("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'").fetchall()
        assert owners == [("parcels_owner",)]
        powers = connection.execute(
            "SELECT bool_or(rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication)"
            " FROM pg_roles WHERE rolname IN ('parcels', 'parcels_owner')"
        ).fetchone()
        assert powers == (False,)
        copies = "SELECT rolreplication, rolsuper FROM pg_roles WHERE rolname = 'parcels_backup'"
        assert connection.execute(copies).fetchone() == (True, False)
        groups = connection.execute("SELECT name FROM auth_group WHERE name <> 'staff' ORDER BY name").fetchall()
        assert groups == [("Accounting",), ("Accounts",), ("Operations",), ("Reporting",), ("Support",)]
        assert connection.execute("SELECT count(*) > 5 FROM shops_auditentry").fetchone() == (True,)
        for statement in (
            "DROP TABLE shops_shop",
            "ALTER TABLE shops_shop ADD COLUMN x int",
            "TRUNCATE shops_shop CASCADE",
            "TRUNCATE shops_auditentry",
            "UPDATE shops_auditentry SET actor = 'eve'",
            "DELETE FROM shops_auditentry",
            "ALTER TABLE shops_auditentry DISABLE TRIGGER ALL",
            "CREATE TABLE x (y int)",
            "CREATE TEMPORARY TABLE x (y int)",
            "CREATE FUNCTION x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "SET ROLE parcels_owner",
            "COPY shops_shop TO PROGRAM 'true'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
