"""Validators of settings; each raises ValidationError, which says what is needed and never shows the value."""

import re
from collections.abc import Iterable
from email.utils import parseaddr
from importlib.util import find_spec
from urllib.parse import urlsplit

from cryptography.fernet import Fernet
from django.core.mail.message import sanitize_address
from django.http.request import validate_host
from environs import ValidationError, validate
from redis.exceptions import RedisError

from config.databases import ESCAPES
from config.redis.connections import Pool
from config.role_names import ROLE_NAMES
from shops.api.http_url import is_http_url

# Public keys, for a first look on one's own machine.
FIRST_LOOK_SECRET_KEY = "not-a-secret-" * 5
FIRST_LOOK_CREDENTIALS_KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


def secret(value: str) -> None:
    """Refuse a public key, and one that Django's deployment check W009 calls insecure."""
    if value == FIRST_LOOK_SECRET_KEY:
        raise ValidationError("needs a key of your own: this one is public")
    if len(value) < 50 or len(set(value)) < 5 or value.startswith("django-insecure-"):  # noqa: PLR2004 - W009's figures
        raise ValidationError("needs 50 or more random characters")
    if "," in value or value != value.strip():  # it will be one of SECRET_KEY_FALLBACKS, which are split and stripped
        raise ValidationError("needs a key without a comma, and without blanks at its ends")
    if any("\ud800" <= char <= "\udfff" for char in value):  # Python's stand-in for a byte it can't decode
        raise ValidationError("needs valid UTF-8")  # nothing could be signed


def secrets(values: list[str]) -> None:
    for value in values:
        secret(value)


def host_names(values: list[str]) -> None:
    if not values or not all(
        re.fullmatch(r"\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\]", value) for value in values
    ):
        raise ValidationError("needs the host names the service answers to, comma-separated; * is not allowed")


def hosts_among(values: list[str], allowed: list[str]) -> None:
    """Refuse host names that ALLOWED_HOSTS does not admit."""
    if values:
        host_names(values)
    if not all(validate_host(value.lstrip(".").lower(), allowed) for value in values):
        raise ValidationError("needs host names that are in ALLOWED_HOSTS too")


def one_line(value: str) -> None:
    if not value.isprintable() or value.isspace():
        raise ValidationError("needs a name in one line, of printable characters")


def picture_hosts(values: list[str]) -> None:
    if not all(re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", value) for value in values):
        raise ValidationError("needs host names, in lower case and comma-separated, such as cdn.example.com")


REDIS = re.compile(r"rediss?://([^/?#]*@)?[^/?#@,]+(/[0-9]*)?(\?.*)?\Z|(rediss?\+sentinel|unix)://.")


def redis_url(value: str) -> None:
    try:
        is_valid = bool(REDIS.match(value) and Pool.from_url(value).make_connection())
    except OSError:
        raise ValidationError("names a file of certificates that can't be read") from None
    except (ValueError, TypeError, AttributeError, RedisError):  # of an unknown parameter, too
        is_valid = False
    if not is_valid:
        raise ValidationError(
            f"needs redis://HOST:PORT/DB, rediss://..., unix://... or redis+sentinel://...; {ESCAPES}"
        )


MAX_PERIOD_S = 31 * 86_400
SENTRY = re.compile(r"https?://[^/@\s]+@[^/@\s]+/([^/?#\s]+/)*[0-9]+")
RATE = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,4})?([smhd])")


def rate(value: str) -> None:
    if not RATE.fullmatch(value) or parse_rate(value)[1] > MAX_PERIOD_S:
        raise ValidationError("needs COUNT/PERIOD, such as 100/60s, the period at most 31 days")


def parse_rate(value: str) -> tuple[int, int]:
    """Split a rate such as ``100/60s`` or ``5000/h`` into requests and seconds."""
    requests, times, unit = RATE.fullmatch(value).groups()  # type: ignore[union-attr]  # it is validated
    return int(requests), int(times or 1) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]


def http_url(value: str) -> None:
    if not is_http_url(value) or not value.isascii() or "#" in value:
        raise ValidationError("needs an http or https URL")


def issuer(value: str) -> None:
    """Refuse an issuer without https, but for one on this machine."""
    http_url(value)
    is_local = urlsplit(value).hostname in {"127.0.0.1", "::1", "localhost"}
    if "?" in value or not (value.startswith("https://") or is_local):
        raise ValidationError("needs an https URL without a query")


def roles(values: list[str]) -> None:
    if not all(group and role in ROLE_NAMES for value in values for group, role in parse_roles([value]).items()):
        raise ValidationError(f"needs GROUP=ROLE, comma-separated; roles: {', '.join(ROLE_NAMES)}")
    if len(parse_roles(values)) < len(values):
        raise ValidationError("names a group twice: a group means one role")


def parse_roles(values: list[str]) -> dict[str, str]:
    """Split pairs such as `logistics=Operations`; a group may have a `=` too."""
    return {group.strip(): role.strip() for group, _, role in (value.rpartition("=") for value in values)}


def sandbox_url(value: str, default_urls: Iterable[str], urls: Iterable[str]) -> None:
    """Refuse a sandbox's address with a host of a carrier's domain, or the host and port of a carrier's URL."""
    http_url(value)
    host, domains = place(value)[0], {place(url)[0].partition(".")[2] for url in default_urls}
    if place(value) in map(place, urls) or any(f".{host}".endswith(f".{domain}") for domain in domains):
        raise ValidationError("needs an address of its own: a carrier is asked at this one")
    if "?" in value:
        raise ValidationError("needs a URL without a query")


def place(url: str) -> tuple[str, int]:
    """Return the host and the port of an http or https URL."""
    parts = urlsplit(url)
    return (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)


def tracing(value: str) -> None:
    http_url(value)
    check_extra("opentelemetry.exporter.otlp.proto.http")


def sentry_dsn(value: str) -> None:
    if not (is_http_url(value) and SENTRY.fullmatch(value)):
        raise ValidationError("needs a DSN of Sentry, such as https://KEY@sentry.example.com/1")
    check_extra("sentry_sdk")


def check_extra(module: str) -> None:
    """Refuse a setting of an extra that is not installed."""
    try:
        is_installed = find_spec(module) is not None
    except ModuleNotFoundError:  # nor is the package that it is in
        is_installed = False
    if not is_installed:
        raise ValidationError("needs packages that are not installed: see requirements-extras.txt")


def host(value: str) -> None:
    """Refuse a port or a scheme beside the name; the names of a container's network may have underscores."""
    if not re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9a-fA-F]*:[0-9a-fA-F:.]+)", value):
        raise ValidationError("needs a host name or an IP address, without a port")


def sender(value: str) -> None:
    """Refuse an address that no mail is sent from; a name may stand before it."""
    is_valid = value.isprintable() and bool(re.fullmatch(r"[^\s@]+@[^\s@]+", parseaddr(value)[1]))
    try:
        is_valid = is_valid and bool(sanitize_address(value, "utf-8"))  # as each e-mail does
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValidationError("needs an e-mail address, such as parcels@example.com")


def base_url(value: str, *, is_https: bool) -> None:
    """Check the start of our own links: where http is redirected, it has no place in them."""
    http_url(value)
    if "?" in value:
        raise ValidationError("needs an http or https URL that a path can be added to")
    if is_https and urlsplit(value).scheme != "https":
        raise ValidationError("needs an https URL, as HTTPS is on")


def fernet_keys(values: list[str]) -> None:
    try:
        is_valid = bool([Fernet(value) for value in values])
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValidationError("needs Fernet keys, comma-separated, newest first")


def own_fernet_keys(values: list[str]) -> None:
    fernet_keys(values)
    if FIRST_LOOK_CREDENTIALS_KEY in values:
        raise ValidationError("needs keys of your own: one of these is public")


def port_in_digits(value: str) -> None:
    if not (value.isascii() and value.isdecimal() and int(value[:6]) <= MAX_PORT):
        raise ValidationError(PORT)


MAX_PORT = 65_535
PORT = "needs a port, 1 to 65535"
above_zero = validate.Range(
    0, 86_400, min_inclusive=False, max_inclusive=False, error="needs a number above 0 and below 86400"
)
# A pace that is slower makes times that no clock can hold.
pace = validate.Range(0.001, 86_400, max_inclusive=False, error="needs a number of 0.001 or more, and below 86400")
proxy_count = validate.Range(0, 100, error="needs 0 to 100")
whole_days = validate.Range(1, 36_500, error="needs whole days, 1 to 36500")
audit_days = validate.Range(90, 36_500, error="needs whole days, 90 to 36500")  # the database refuses less
port = validate.Range(1, MAX_PORT, error=PORT)
folder = validate.Length(min=1, error="needs a folder")
claim = validate.Regexp(r"\S.*\Z", error="needs the name of a claim")
scopes = validate.Regexp(r"(.*\s)?openid(\s.*)?\Z", error="needs scopes, separated by spaces, with openid among them")
# Nothing else can be sent as one.
login = validate.Regexp(r"( *[!-~][ -~]*)?\Z", error="needs printable ASCII characters")
first_look_secret = validate.Length(min=1, error="needs a key")
region = validate.Regexp(r"[A-Za-z0-9-]+\Z", error="needs the name of a region")
bucket = validate.Regexp(r"([A-Za-z0-9._-]{3,255})?\Z", error="needs the name of a bucket")
