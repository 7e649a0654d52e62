"""A database's URL: its hosts, its options, and the defaults."""

import sqlite3
from contextlib import closing
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from environs import ValidationError

from config import databases
from labels.lifecycle.db_retry import DB_RETRY_TIMEOUT_S, PAUSE_S

REPLICAS = "postgresql://u:p@h1:5433,h2/db"


@pytest.mark.parametrize(
    ("netloc", "hosts", "ports"),
    [
        ("h1,h2", "h1,h2", "5432,5432"),
        ("h1:5433,h2:5434,h3", "h1,h2,h3", "5433,5434,5432"),
        ("[::1]:5433,[2001:db8::1],192.0.2.1:6432", "::1,2001:db8::1,192.0.2.1", "5433,5432,6432"),
        ("%2Frun%2FOne,%2Frun%2FTwo:5433", "/run/One,/run/Two", "5432,5433"),
    ],
)
def test_all_hosts_of_a_url_are_used(netloc: str, hosts: str, ports: str) -> None:
    config = databases.parse(f"postgresql://user:p%40ss,word@{netloc}/db?sslmode=require")
    assert (config["HOST"], config["PORT"]) == (hosts, ports)
    assert (config["USER"], config["PASSWORD"], config["NAME"]) == ("user", "p@ss,word", "db")
    assert config["OPTIONS"] == {"sslmode": "require"}


def test_a_url_with_one_host_is_parsed_as_usual() -> None:
    config = databases.parse("postgresql://user:p%40ss@host:5433/db")
    assert (config["HOST"], config["PORT"], config["USER"], config["PASSWORD"]) == ("host", 5433, "user", "p@ss")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2@h1,/db",
        "postgresql://u:hunter2@,h2/db",
        "postgresql://u:hunter2@h1:0,h2/db",
        "postgresql://u:hunter2@h1:70000,h2/db",
        "postgresql://u:hunter2@h1:port,h2/db",
        "postgresql://u:hunter2@[::1,h2/db",
        "postgresql://u:hunter2@h1,h2/",
        "postgresql://u:hunter2@h1,h2",
        "postgresql://u:hunter2@h1/db?timeout=soon",
        "postgresql://u:hunter2@h1/db?timeout=0",
        "postgresql://u:hunter2@h1/db?timeout=-1",
        "postgresql://u:hunter2@h1/db?timeout=true",
        "postgresql://u:hunter2@h1/db?pgbouncer=maybe",
        "postgresql://u:hunter2@h1/db?prepare_threshold=none",
    ],
)
def test_a_bad_url_is_refused_and_not_shown(url: str) -> None:
    for check in (databases.database_url, partial(databases.replica_url, primary_url="postgresql://u:p@h/db")):
        with pytest.raises(ValidationError) as caught:
            check(url)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("option", ["conn_max_age=60", "pool=true", "cursor_factory=hunter2", "ssl=1", "timeout=0"])
def test_an_option_that_is_none_is_told_as_one(option: str) -> None:
    with pytest.raises(ValidationError, match="only options of libpq, timeout=SECONDS and pgbouncer=true"):
        databases.database_url(f"postgresql://u:hunter2@h1/db?sslmode=require&{option}")


def test_sqlite_has_no_replicas() -> None:
    with pytest.raises(ValidationError, match="SQLite has no replicas"):
        databases.replica_url(REPLICAS, primary_url="sqlite:///file")


def test_what_a_large_import_leaves_beside_sqlites_file_is_cut_back(tmp_path: Path) -> None:
    config = databases.primary(f"sqlite:///{tmp_path}/db.sqlite3")
    with closing(sqlite3.connect(config["NAME"], isolation_level=None)) as database:
        database.executescript(config["OPTIONS"]["init_command"])
        database.execute("CREATE TABLE written (value)")
        database.execute("INSERT INTO written VALUES (zeroblob(40000000))")
        for value in range(2):
            database.execute("INSERT INTO written VALUES (?)", [value])
        assert (tmp_path / "db.sqlite3-wal").stat().st_size < 20_000_000


def test_an_order_waits_for_sqlites_writer_no_longer_than_for_postgresql() -> None:
    wait_s = options(databases.primary("sqlite:///file"))["timeout"] + PAUSE_S
    assert ceil(DB_RETRY_TIMEOUT_S / wait_s) * wait_s <= DB_RETRY_TIMEOUT_S + 1


def test_a_write_waits_for_sqlites_writer_for_as_long_as_the_url_says() -> None:
    assert options(databases.primary("sqlite:///file?timeout=90"))["timeout"] == 90


def options(config: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = config["OPTIONS"]
    return made


def test_the_primary_is_the_writable_one_of_several_hosts() -> None:
    assert options(databases.primary(REPLICAS))["target_session_attrs"] == "read-write"
    assert "target_session_attrs" not in options(databases.primary("postgresql://u:p@h/db"))
    chosen = databases.primary(REPLICAS + "?target_session_attrs=primary")
    assert options(chosen)["target_session_attrs"] == "primary"


def test_replicas_share_the_load_and_a_recovered_one_is_used_again() -> None:
    config = databases.replica(REPLICAS)
    assert options(config)["target_session_attrs"] == "prefer-standby"
    assert options(config)["load_balance_hosts"] == "random"
    assert 0 < config["CONN_MAX_AGE"] <= 600


def test_every_wait_for_a_database_is_bounded() -> None:
    for config in (databases.primary(REPLICAS), databases.replica(REPLICAS)):
        assert 0 < options(config)["connect_timeout"] <= 2
        assert 0 < options(config)["timeout"] <= 10
        assert 0 < options(config)["tcp_user_timeout"] <= 15_000
        waits_s = [options(config)[f"keepalives_{name}"] for name in ("idle", "interval", "count")]
        assert waits_s[0] + waits_s[1] * waits_s[2] <= 30
    assert options(databases.primary("postgresql://u:p@h/db?timeout=3&connect_timeout=5"))["timeout"] == 3


def test_behind_pgbouncer_a_connection_keeps_no_state() -> None:
    config = databases.primary("postgresql://u:p@h/db?pgbouncer=true")
    assert options(config)["prepare_threshold"] is None
    assert config["DISABLE_SERVER_SIDE_CURSORS"] is True
    newer = databases.primary("postgresql://u:p@h/db?pgbouncer=true&prepare_threshold=1")
    assert options(newer)["prepare_threshold"] == 1
    direct = databases.primary("postgresql://u:p@h/db")
    assert (options(direct)["prepare_threshold"], direct["DISABLE_SERVER_SIDE_CURSORS"]) == (1, False)
