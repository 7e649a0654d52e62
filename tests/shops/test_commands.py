"""The commands for shops and tokens; their standard output is a contract."""

import errno
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import Mock

import orjson
import pytest
from django.contrib.auth.models import User
from django.core.management import (
    CommandError,
    call_command,
    execute_from_command_line,
    get_commands,
    load_command_class,
)
from django.db import InternalError, OperationalError, connection
from django.utils import timezone
from psycopg.errors import DataCorrupted

from labels.models import LabelState, ShippingLabel
from parcels.models import Parcel
from shops import tokens
from shops.contracts.models import CarrierContract
from shops.management.base import Command
from shops.models import AccessToken, Shop
from shops.staff.audit.models import AuditEntry
from shops.webhooks.endpoints import create
from shops.webhooks.models import WebhookEndpoint
from tests.labels.factories import LabelFactory
from tests.labels.orders import SENDER
from tests.shops.commands import call, refused, run_here, standard_input
from tests.support.api import Caller
from tests.support.cases import in_one_test
from tests.support.factories import AccessTokenFactory, ParcelLineFactory, ShopFactory
from tests.support.paths import SEARCH
from tests.support.processes import ROOT, environment, run_command

pytestmark = pytest.mark.any_database

FOUND = SEARCH + "?orderName=1"


def counts() -> tuple[int, int, int]:
    return Shop.objects.count(), AccessToken.objects.count(), AccessToken.objects.exclude(revoked_at=None).count()


def assert_refused(name: str, *arguments: str) -> None:
    """Check that a command fails with one line and changes nothing."""
    before = counts()
    assert refused(name, *arguments)
    assert counts() == before


# --- As an operator runs them ---


def test_a_shop_and_a_token_made_by_the_commands_work(transactional_db: None) -> None:
    code, out, err = run_command("create_shop", "Café Œuvre")
    assert (code, err) == (0, "")
    shop = Shop.objects.get()
    assert out == f"{shop.id}\n"
    assert shop.name == "Café Œuvre"

    code, out, err = run_here("create_token", shop.id, "--name", "warehouse")
    token = AccessToken.objects.get()
    secret = out.removesuffix("\n")
    assert code == 0
    assert tokens.is_well_formed(secret)
    assert (token.digest, token.name, token.shop) == (tokens.digest(secret), "warehouse", shop)
    assert (token.expires_at, token.revoked_at) == (None, None)
    assert token.id in err
    assert secret not in err
    caller = Caller(shop, secret)
    assert caller.get(FOUND).status_code == 200

    code, out, err = run_here("revoke_token", secret)
    assert (code, out) == (0, "")
    assert len(err.splitlines()) == 1
    assert secret not in err
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert run_here("revoke_token", token.id) == (0, "", f"Token {token.id} was revoked before.\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["create_shop", "Shop", "--id", "a/b"],
        ["create_shop", "Shop\nand another"],
        ["create_token", "shop", "--name", "warehouse\u2028and office"],
        ["create_token", "shop", "--expires-in-days", "0"],
        ["revoke_token", "absent"],
    ],
)
def test_bad_input_is_one_line_on_standard_error_and_an_exit_code(transactional_db: None, arguments: list[str]) -> None:
    ShopFactory(id="shop")
    before = counts()
    assert_one_line(*run_here(*arguments))
    assert counts() == before


def test_an_argument_that_is_not_utf_8_is_bad_input(transactional_db: None) -> None:
    ShopFactory(id="shop")
    before = counts()
    assert_one_line(*run_command("create_shop", b"\xff"))
    assert_one_line(*run_here("revoke_token", "\udcff"))
    assert counts() == before


def assert_one_line(code: int, out: str, err: str) -> None:
    assert code != 0
    assert out == ""
    assert len(err.splitlines()) == 1


def run_writing_to(output: str, *arguments: str) -> tuple[int, str]:
    """Run a command with its standard output sent elsewhere by the shell; return its exit code and standard error."""
    command = ["sh", "-c", f'exec "$0" "$@" {output}', sys.executable, "manage.py", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    lines = [line for line in done.stderr.decode().splitlines(keepends=True) if '"service.start"' not in line]
    return done.returncode, "".join(lines)


MAKING: dict[str, tuple[list[str], bytes]] = {
    "a shop": (["create_shop", "Shop"], b""),
    "a token": (["create_token", "shop"], b""),
    "a contract": (
        ["configure_carrier", "shop", "beta", "--account-number", "842137", "--password-stdin", "--all-products"],
        b"secret",
    ),
    "a reset": (["reset_second_factor", "ada"], b""),
    "parcels": (["import_parcels", "shop", "-"], orjson.dumps(ParcelLineFactory())),
}


class Full(StringIO):
    """A stream of a disk that is full."""

    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(("stream", "error"), [(Full(), OSError), (None, AttributeError)])
@pytest.mark.parametrize("name", ["create_token", "create_webhook", "revoke_token", "set_sender_address"])
def test_nothing_is_changed_if_what_is_told_of_it_can_not_be_read(
    name: str, stream: StringIO | None, error: type[Exception], db: None, tmp_path: Path
) -> None:
    token = AccessTokenFactory(shop=ShopFactory(id="shop", sender_address=None))
    file = tmp_path / "sender.json"
    file.write_bytes(orjson.dumps(SENDER))
    further = {"create_webhook": ["https://192.0.43.7/"], "set_sender_address": [str(file)]}
    before = counts()
    with redirect_stderr(stream), pytest.raises(error):
        call_command(name, *([token.id] if name == "revoke_token" else ["shop", *further.get(name, [])]))
    assert (counts(), WebhookEndpoint.objects.count(), AuditEntry.objects.count()) == (before, 0, 0)
    assert Shop.objects.get().sender_address is None


def test_what_is_done_for_good_is_no_failure_if_nobody_can_read_of_it(transactional_db: None) -> None:
    label = LabelFactory(carrier_code="beta", product_code="beta", state=LabelState.GENERATED)
    endpoint, _ = create(shop=label.shop, url="https://example.com/")
    with redirect_stderr(None):
        call_command("revoke_webhook", endpoint.id)
    assert run_writing_to("2>/dev/full", "cancel_label", label.id) == (0, "")
    assert ShippingLabel.objects.get().state == LabelState.CANCELLED
    assert WebhookEndpoint.objects.exclude(revoked_at=None).exists()


def test_no_token_is_created_if_it_can_not_be_printed(transactional_db: None) -> None:
    ShopFactory(id="shop")
    code, err = run_writing_to(">/dev/full", "create_token", "shop")
    assert (code, err) == (1, "CommandError: standard output: No space left on device\n")
    assert AccessToken.objects.count() == 0


@pytest.mark.parametrize(("arguments", "stdin"), MAKING.values(), ids=MAKING)
def test_nothing_is_created_if_its_identifier_can_not_be_printed(db: None, arguments: list[str], stdin: bytes) -> None:
    ShopFactory(id="shop")
    User.objects.create_user("ada")
    with (
        redirect_stdout(None),
        standard_input(stdin),
        pytest.raises(CommandError, match=r"^standard output: is closed$"),
    ):
        call_command(*arguments)
    assert [model.objects.count() for model in (Shop, AccessToken, CarrierContract, Parcel)] == [1, 0, 0, 0]
    assert not AuditEntry.objects.exists()


def test_every_command_of_ours_reports_errors_in_one_line() -> None:
    names = {name: app for name, app in get_commands().items() if app in {"config", "shops", "parcels", "labels"}}
    assert len(names) >= 15
    for name, app in names.items():
        assert isinstance(load_command_class(app, name), Command), name


@pytest.mark.parametrize("arguments", [["openapi", "--x"], ["create_shop", "Shop", "more\nof it"]])
def test_unknown_arguments_are_one_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["manage.py", *arguments])
    with pytest.raises(SystemExit):
        execute_from_command_line(["manage.py", *arguments])
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)


# --- create_shop ---


def test_a_shop_can_be_given_its_id(db: None) -> None:
    assert call("create_shop", "Shop", "--id", "my-shop_1") == ("my-shop_1\n", "")
    assert Shop.objects.get().id == "my-shop_1"


def test_shops_may_share_a_name(db: None) -> None:
    assert call("create_shop", "Shop") != call("create_shop", "Shop")
    assert Shop.objects.count() == 2


def test_an_id_that_another_command_gives_meanwhile_is_one_line(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shop, "full_clean", lambda *_, **__: ShopFactory(id="taken", name="First"))
    assert refused("create_shop", "Second", "--id", "taken") == "id: there is a shop 'taken' already"
    assert Shop.objects.get().name == "First"


BAD: list[list[str]] = [
    *(["create_shop", "Shop", f"--id={bad}"] for bad in ("", " ", "a b", "a/b", "é", "a\n", "x" * 65, "a.b")),
    *(["create_shop", "Shop", f"--id={bad}"] for bad in ("\u0661", "-x", "taken")),
    *(["create_shop", bad] for bad in ("", "  ", "x" * 201)),
    *(
        ["create_token", "taken", "--expires-in-days", bad]
        for bad in ("0", "-1", "36501", "99999999999999999999", "1.5", "soon", "")
    ),
    ["create_token", "taken", "--name", "x" * 201],
    *(["create_token", bad] for bad in ("absent", "", "TAKEN", "taken ")),
]


@pytest.fixture
def taken(db: None) -> Shop:
    made: Shop = ShopFactory(id="taken", name="First")
    return made


@in_one_test("arguments", BAD)
def test_a_bad_argument_is_refused_and_changes_nothing(arguments: list[str], taken: Shop) -> None:
    assert_refused(*arguments)
    assert Shop.objects.get().name == "First"


# --- create_token ---


def test_a_token_can_expire(db: None) -> None:
    call("create_token", ShopFactory().id, "--expires-in-days", "30", "--name", "for a month")
    token = AccessToken.objects.get()
    assert token.name == "for a month"
    assert token.expires_at is not None
    assert abs(token.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)


# --- revoke_token ---


@pytest.mark.parametrize("by", ["secret", "id"])
def test_a_token_is_revoked_by_its_text_or_by_its_id(by: str, db: None) -> None:
    token, spared = AccessTokenFactory(), AccessTokenFactory()
    out, err = call("revoke_token", getattr(token, by))
    assert out == ""
    assert token.id in err
    assert token.secret not in err
    assert Caller(token.shop, token.secret).get(FOUND).status_code == 403
    assert Caller(spared.shop, spared.secret).get(FOUND).status_code == 200


def test_no_other_text_revokes_a_token(db: None) -> None:
    token = AccessTokenFactory()
    for text in ("", "absent", token.digest, token.secret[:-1], token.id.upper(), token.shop.id, "%"):
        assert_refused("revoke_token", text)


def test_a_database_that_can_not_be_reached_is_one_line_and_a_warning_in_the_log() -> None:
    code, out, err = run_command("create_shop", "Own", DATABASE_URL="postgresql://u:hunter2@127.0.0.1:1/none")
    assert (code, out) == (1, "")
    said, logged = sorted(err.splitlines())  # log lines are written in a thread of their own
    assert json.loads(logged)["logger"] == "database.hosts"
    assert said.startswith("CommandError: the database can't be used: ")
    assert "hunter2" not in err


def unreachable(*_: Any) -> NoReturn:
    raise OperationalError("connection failed: nobody listens")


def test_a_trace_of_a_database_that_can_not_be_reached_can_be_asked_for(transactional_db: None) -> None:
    with connection.execute_wrapper(unreachable), pytest.raises(OperationalError):  # which Python shows at its end
        run_here("create_shop", "Own", "--traceback")


def damaged(*_: Any) -> NoReturn:
    raise InternalError("invalid page in block 3 of relation base/16384/1259") from DataCorrupted()


def test_a_database_that_is_damaged_is_one_line(transactional_db: None) -> None:
    with connection.execute_wrapper(damaged):
        code, _, err = run_here("create_shop", "Own")
    said = "CommandError: the database can't be used: invalid page in block 3 of relation base/16384/1259\n"
    assert (code, err) == (1, said)


def test_a_database_without_tables_is_one_line_that_says_what_to_do(transactional_db: None, tmp_path: Path) -> None:
    url = environment()["DATABASE_URL"]
    empty = (
        f"sqlite:///{tmp_path / 'empty.sqlite3'}"
        if connection.vendor == "sqlite"
        else f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3Dnowhere"
    )
    code, out, err = run_command("create_shop", "Own", DATABASE_URL=empty)
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("CommandError: the database can't be used: ")
    assert "shops_shop" in err
    assert err.endswith(" (run `manage.py migrate` first)\n")


@pytest.mark.real_services
def test_a_database_that_is_a_standby_is_one_line(transactional_db: None) -> None:
    ShopFactory(id="own")
    url = environment()["DATABASE_URL"]
    standby = f"{url}{'&' if '?' in url else '?'}options=-cdefault_transaction_read_only%3Don"
    code, out, err = run_command("create_token", "own", DATABASE_URL=standby)
    said = "CommandError: the database can't be used: cannot execute INSERT in a read-only transaction\n"
    assert (code, out, err) == (1, "", said)


@in_one_test(
    "arguments", [["migrate"], ["createsuperuser", "--noinput", "--username=a", "--email="], ["changepassword", "a"]]
)
def test_a_database_that_can_not_be_reached_is_one_line_of_djangos_commands_too(
    arguments: list[str], transactional_db: None
) -> None:
    assert connection.features.supports_json_field  # asked once: of an open connection that fails it would be no
    with connection.execute_wrapper(unreachable):
        code, _, err = run_here(*arguments)
    assert code == 1
    assert "CommandError: the database can't be used: connection failed: " in err
    assert "Traceback" not in err


def test_an_export_is_utf_8_whatever_the_terminal_is(transactional_db: None) -> None:
    ShopFactory(id="own")
    code, out, err = run_here("export_customer", "own", "zoë@example.com")
    assert (code, err) == (0, "")
    assert orjson.loads(out)["email"] == "zoë@example.com"


def test_an_operators_name_that_is_not_utf_8_is_still_a_name(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "ad\udce9le")
    call("create_shop", "Own")
    assert AuditEntry.objects.get().actor == "ad?le"


def test_an_operator_without_a_name_is_recorded_by_the_users_id(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_USER", raising=False)
    monkeypatch.setattr("getpass.getuser", Mock(side_effect=KeyError))
    call("create_shop", "Own")
    assert AuditEntry.objects.get().actor == f"uid {os.getuid()}"


def test_a_database_that_is_none_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no database, but longer than the head of one" * 10)
    # Django leaves the connection open, of which Python 3.13 warns.
    warnings = "error,ignore::ResourceWarning"
    code, out, err = run_command("create_shop", "Own", DATABASE_URL=f"sqlite:///{file}", PYTHONWARNINGS=warnings)
    assert (code, out, err) == (1, "", "CommandError: the database can't be used: file is not a database\n")


FILES = {
    "absent": ("absent.json", "No such file or directory"),
    "empty": ("", "Is a directory"),
    "two lines": ("a\nb", "No such file or directory"),
    "unreadable": ("/proc/self/mem", "Input/output error"),
}


@pytest.mark.parametrize("command", ["set_sender_address", "import_parcels"])
@pytest.mark.parametrize(("name", "why"), FILES.values(), ids=FILES)
def test_a_file_that_can_not_be_read_is_one_line(command: str, name: str, why: str, db: None) -> None:
    assert refused(command, ShopFactory().id, name) == f"FILE: {name!r}: {why}"


@pytest.mark.parametrize("command", ["set_sender_address", "import_parcels"])
def test_a_closed_standard_input_is_one_line(command: str, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = ShopFactory()
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(CommandError, match="standard input: is closed"):
        call_command(command, shop.id, "-")
