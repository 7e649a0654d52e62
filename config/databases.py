"""Django's settings for a database URL: one host or several, a primary or its replicas, a pooler between or none."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from environs import ValidationError

from config.hosts import split_host

POSTGRESQL = re.compile(r"(?P<scheme>postgres(?:ql)?)://(?:(?P<user>[^/?#]*)@)?(?P<hosts>[^@/?#]*)(?P<rest>[/?#].*)")
# When a connection is given up because the other side is silent, in libpq's parameters: seconds, but for the last.
BOUNDED: dict[str, Any] = {
    "connect_timeout": 2,  # for each host
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,  # milliseconds: how long what was sent may stay unacknowledged
}
# A statement of a request: seconds. A replica is given less time, as the primary is asked next.
PRIMARY_TIMEOUT_S = 10
REPLICA_TIMEOUT_S = 1
# After so long a connection to a replica is replaced by one to any of them: one that was away is read from again.
REPLICA_MAX_AGE_S = 300


def parse(url: str) -> dict[str, Any]:
    """Read a URL as dj_database_url does, and all of PostgreSQL's hosts, ``h1:5432,h2:5433``; raise ValueError."""
    parts = POSTGRESQL.fullmatch(url)
    if not parts or "," not in parts["hosts"]:
        return dict(dj_database_url.parse(url, conn_max_age=None, conn_health_checks=True))
    user = f"{parts['user']}@" if parts["user"] else ""
    config = parse(f"{parts['scheme']}://{user}{parts['rest']}")
    hosts = [split_host(host, 5432) for host in parts["hosts"].split(",")]
    return config | {
        "HOST": ",".join(unquote(name) for name, _ in hosts),
        "PORT": ",".join(str(port) for _, port in hosts),
    }


def primary(url: str) -> dict[str, Any]:
    """Connections stay open, and a dead one is noticed before use."""
    config = parse(url)
    if config["ENGINE"] == "django.db.backends.sqlite3":
        return sqlite(config)
    # Of several hosts the primary is the one that can be written to.
    choice = {"target_session_attrs": "read-write"} if "," in config["HOST"] else {}
    return postgresql(config, choice | {"timeout": PRIMARY_TIMEOUT_S})


def replica(url: str) -> dict[str, Any]:
    """Connects to any standby, or to the primary when none is left; in tests it is the database itself."""
    choice = {"target_session_attrs": "prefer-standby", "load_balance_hosts": "random"}
    config = postgresql(parse(url), choice | {"timeout": REPLICA_TIMEOUT_S})
    return config | {"CONN_MAX_AGE": REPLICA_MAX_AGE_S, "TEST": {"MIRROR": "default"}}


def sqlite(config: dict[str, Any]) -> dict[str, Any]:
    make_folder(Path(config["NAME"]))
    options = {
        "transaction_mode": "IMMEDIATE",  # a writer waits its turn instead of failing half-way
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL",
    }
    return config | {"OPTIONS": options}


def postgresql(config: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Complete what the URL leaves open. Its query takes libpq's parameters, and ``timeout``, ``pgbouncer``.

    Statements are prepared once a connection: a look-up costs PostgreSQL a third of what it costs unprepared. With
    ``pgbouncer=true``, in its transaction mode, the next statement may reach another connection, so nothing is
    prepared, no cursor is kept on the server, and nothing is asked for when connecting that PgBouncer would refuse.
    """
    given = config.get("OPTIONS", {})
    is_pooled = given.get("pgbouncer") is True
    options = BOUNDED | options | {"server_side_binding": True, "prepare_threshold": None if is_pooled else 1} | given
    return config | {"ENGINE": "config.postgresql", "DISABLE_SERVER_SIDE_CURSORS": is_pooled, "OPTIONS": options}


def database_url(value: str) -> None:
    check(value, r"(sqlite|postgres(ql)?)://", "sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME")
    if value.startswith("sqlite:"):
        make_folder(Path(parse(value)["NAME"]))


def make_folder(file: Path) -> None:
    """Make the folder of a file; raise ValidationError."""
    try:
        file.resolve().parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise ValidationError("needs a file in a folder that the service may write to") from None


def replica_url(primary_url: str) -> Callable[[str], None]:
    """Make the check of a replica's URL, given its primary's."""

    def check_replica(value: str) -> None:
        if value and primary_url.startswith("sqlite:"):
            raise ValidationError("needs a DATABASE_URL of PostgreSQL, as SQLite has no replicas")
        if value:
            check(value, r"postgres(ql)?://", "postgresql://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME")

    return check_replica


def check(value: str, scheme: str, form: str) -> None:
    """Raise ValidationError unless the URL is of the scheme and names a database, with options that are known."""
    try:
        config = parse(value)
        is_known = bool(re.match(scheme, value) and urlsplit(value).path.strip("/")) and are_options_known(config)
    except ValueError:
        is_known = False
    if not is_known:
        raise ValidationError(f"needs {form}")


def are_options_known(config: dict[str, Any]) -> bool:
    """Tell whether the options that are ours are what they must be; libpq answers for its own when it connects."""
    options = config.get("OPTIONS", {})
    timeout, threshold = options.get("timeout", 1), options.get("prepare_threshold", 1)
    is_number = [isinstance(value, int) and not isinstance(value, bool) for value in (timeout, threshold)]
    return all(is_number) and timeout > 0 and isinstance(options.get("pgbouncer", False), bool)
