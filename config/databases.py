"""Builds DATABASES from URLs: a primary or replicas, on one host or several, direct or through PgBouncer."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from environs import ValidationError

# ``NAME:PORT``, ``192.0.2.1``, ``[2001:db8::1]:5432``.
HOST = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]]+))(?::(?P<port>[0-9]{1,5}))?")
POSTGRESQL = re.compile(r"(?P<scheme>postgres(?:ql)?)://(?:(?P<user>[^/?#]*)@)?(?P<hosts>[^@/?#]*)(?P<rest>[/?#].*)")
# libpq's own timeouts for a connection whose other side is silent, in seconds unless noted.
LIBPQ_TIMEOUTS: dict[str, Any] = {
    "connect_timeout": 2,  # for each host
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,  # milliseconds that sent data may stay unacknowledged
}
# Ours, psycopg's and Django's beside those of libpq.
OWN_OPTIONS = {
    *("timeout", "pgbouncer", "load_balance_hosts"),
    *("prepare_threshold", "assume_role", "isolation_level", "server_side_binding"),
}
ESCAPES = "in a password %23 is #, %2F is /, %3F is ?"  # unescaped, each splits the URL
# For a statement of a request. A replica's is shorter, because the primary is asked next.
PRIMARY_TIMEOUT_S = 10
REPLICA_TIMEOUT_S = 1
# A connection to a replica is replaced after this time, so that a replica that was down gets its share again.
REPLICA_MAX_AGE_S = 300


def split_host(text: str, default_port: int) -> tuple[str, int]:
    """Split a host into name and port; raise ValueError."""
    host = HOST.fullmatch(text)
    port = int(host["port"] or default_port) if host else 0
    if not host or not 0 < port < 2**16:
        raise ValueError("a host needs a name and may have a port")
    return host["ipv6"] or host["name"], port


def parse(url: str) -> dict[str, Any]:
    """Parse a URL as dj_database_url does, with several PostgreSQL hosts (``h1:5432,h2:5433``); raise ValueError."""
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
    """Build the settings of the primary: connections stay open, and are checked before use."""
    config = parse(url)
    if config["ENGINE"] == "django.db.backends.sqlite3":
        return sqlite(config)
    # The primary is the one of several hosts that accepts writes.
    choice = {"target_session_attrs": "read-write"} if "," in config["HOST"] else {}
    return postgresql(config, choice | {"timeout": PRIMARY_TIMEOUT_S})


def replica(url: str) -> dict[str, Any]:
    """Build the settings of the replicas: any standby, else the primary; in tests, the test database itself."""
    choice = {"target_session_attrs": "prefer-standby", "load_balance_hosts": "random"}
    config = postgresql(parse(url), choice | {"timeout": REPLICA_TIMEOUT_S})
    return config | {"CONN_MAX_AGE": REPLICA_MAX_AGE_S, "TEST": {"MIRROR": "default"}}


def sqlite(config: dict[str, Any]) -> dict[str, Any]:
    make_folder(Path(config["NAME"]))
    options = {
        "transaction_mode": "IMMEDIATE",  # a writer waits for its turn instead of failing half-way
        "timeout": config.get("OPTIONS", {}).get("timeout", PRIMARY_TIMEOUT_S),  # for its turn
        # What is written beside the file stays as long as the longest transaction, unless it is cut back.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216",
    }
    return config | {"OPTIONS": options}


def postgresql(config: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Add the defaults to a URL's settings. Its query takes libpq's parameters, ``timeout`` and ``pgbouncer``.

    Statements are prepared once per connection: a look-up costs PostgreSQL a third of what it costs unprepared. With
    ``pgbouncer=true`` (transaction mode) the next statement may reach another server connection: statements are not
    prepared, cursors are not kept on the server, and connecting sets no parameter that PgBouncer would refuse.
    """
    given = config.get("OPTIONS", {})
    is_pooled = given.get("pgbouncer") is True
    statements = {"server_side_binding": True, "prepare_threshold": None if is_pooled else 1}
    return config | {
        "ENGINE": "config.postgresql",
        "DISABLE_SERVER_SIDE_CURSORS": is_pooled,
        "OPTIONS": LIBPQ_TIMEOUTS | options | statements | given,
    }


def database_url(value: str) -> None:
    check_url(value, r"(sqlite|postgres(ql)?)://", "sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME")
    if value.startswith("sqlite:"):
        make_folder(Path(parse(value)["NAME"]))


def make_folder(file: Path) -> None:
    """Create the folder of a file; raise ValidationError."""
    try:
        file.resolve().parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise ValidationError("needs a file in a folder that the service may write to") from None


def replica_url(value: str, *, primary_url: str) -> None:
    if primary_url.startswith("sqlite:"):
        raise ValidationError("needs a DATABASE_URL of PostgreSQL, as SQLite has no replicas")
    check_url(value, r"postgres(ql)?://", "postgresql://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME")


def check_url(value: str, scheme: str, form: str) -> None:
    """Raise ValidationError unless the URL has the scheme, names a database and has valid options."""
    try:
        config = parse(value)
        names_one = value.isprintable() and re.match(scheme, value) and urlsplit(value).path.strip("/")
    except ValueError:
        names_one = False
    if not names_one:
        raise ValidationError(f"needs {form}; {ESCAPES}")
    if not are_options_valid(config):
        raise ValidationError("takes only options of libpq, timeout=SECONDS and pgbouncer=true")


def are_options_valid(config: dict[str, Any]) -> bool:
    """Validate our own options, and the names of libpq's; it validates their values when it connects."""
    options = config.get("OPTIONS", {})
    if options and config["ENGINE"] != "django.db.backends.sqlite3":
        from psycopg.pq import Conninfo  # noqa: PLC0415 - SQLite does without

        known = {option.keyword.decode() for option in Conninfo.get_defaults()}
        if not options.keys() <= known | OWN_OPTIONS:
            return False
    timeout, threshold = options.get("timeout", 1), options.get("prepare_threshold", 1)
    is_number = [isinstance(value, int) and not isinstance(value, bool) for value in (timeout, threshold)]
    return all(is_number) and timeout > 0 and isinstance(options.get("pgbouncer", False), bool)
