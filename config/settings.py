"""All settings, from the environment. With DEBUG off, an insecure, malformed or missing value stops the start."""

import os
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import django_stubs_ext
from environs import Env, EnvError, validate

from config import __version__, databases, framework, validators
from config.framework import *  # noqa: F403 - Django reads them here

django_stubs_ext.monkeypatch()  # makes ModelAdmin[Parcel] and the like work at run time

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"  # files of a first look
VERSION = __version__
env = Env()


def optional(name: str, check: Callable[[str], None], default: str = "") -> str:
    """Read a setting that may be empty, as compose gives a variable that has no value; any other text is checked."""
    return env.str(name, default) and env.str(name, default, validate=check)


def listed(name: str, check: Callable[[list[str]], None], default: Any = ...) -> list[str]:
    """Read a setting of texts separated by commas, which is needed where it has no default."""
    found: list[str] = env.list(name, default, subcast=str.strip, validate=check)
    return found


# --- Where and how it runs ---

DEBUG = env.bool("DEBUG", False)
if DEBUG:  # fixed values for a first look; otherwise there is no default
    SECRET_KEY = env.str("SECRET_KEY", validators.FIRST_LOOK_SECRET_KEY, validate=validators.first_look_secret)
    ALLOWED_HOSTS = listed("ALLOWED_HOSTS", validators.host_names, ["localhost", "127.0.0.1", "[::1]"])
else:
    SECRET_KEY = env.str("SECRET_KEY", validate=validators.secret)
    ALLOWED_HOSTS = listed("ALLOWED_HOSTS", validators.host_names)
# Sessions and local URLs signed with these earlier keys stay valid.
SECRET_KEY_FALLBACKS = listed("SECRET_KEY_FALLBACKS", validators.secrets, [])
# Host names of the admin, which the API is then not served under; none: the admin is served under all.
ADMIN_HOSTS = listed("ADMIN_HOSTS", partial(validators.hosts_among, allowed=ALLOWED_HOSTS), [])
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", 0, validate=validators.proxy_count)
HTTPS = env.bool("HTTPS", not DEBUG)
is_base_url = partial(validators.base_url, is_https=HTTPS)

# Probes use neither https nor the service's name.
HEALTH_PATHS = ("/livez", "/readyz")
SECURE_REDIRECT_EXEMPT = [rf"^{path[1:]}\Z" for path in HEALTH_PATHS]
DEVICE_COOKIE_NAME = "device"
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:  # browsers take such a name from this very host only, and over https
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
    DEVICE_COOKIE_NAME = "__Host-device"
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
if TRUSTED_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# --- The staff's pages ---

UNFOLD = framework.UNFOLD | {"SITE_URL": None if ADMIN_HOSTS else "/"}
LANGUAGE_COOKIE_NAME = "__Host-language" if HTTPS else "language"
LANGUAGE_COOKIE_SECURE, LANGUAGE_COOKIE_HTTPONLY, LANGUAGE_COOKIE_SAMESITE = HTTPS, True, "Lax"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600

# --- Staff's log-in (config.login) ---

ADMIN_MFA_REQUIRED = env.bool("ADMIN_MFA_REQUIRED", not DEBUG)
# The operator's name in the audit log, for a command; default: the operating system's user.
OPERATOR = env.str("OPERATOR", "", validate=validators.one_line)
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS
# One sign-on by OpenID Connect, beside the passwords (config.login.oidc); without an issuer there is none.
OIDC_ISSUER = optional("OIDC_ISSUER", validators.issuer)
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", "", validate=validators.login)
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", "", validate=validators.login)
OIDC_SCOPES = env.str("OIDC_SCOPES", "openid profile email", validate=validators.scopes).split()
OIDC_GROUPS_CLAIM = env.str("OIDC_GROUPS_CLAIM", "groups", validate=validators.claim)
OIDC_ROLES = validators.parse_roles(env.list("OIDC_ROLES", [], validate=validators.roles))
if OIDC_ISSUER and not (OIDC_CLIENT_ID and OIDC_CLIENT_SECRET and OIDC_ROLES):
    raise EnvError('Environment variable "OIDC_ISSUER" needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and OIDC_ROLES')
# Hosts of pictures that the admin's pages may load; a shop can name any host.
ADMIN_PICTURE_HOSTS = listed("ADMIN_PICTURE_HOSTS", validators.picture_hosts, [])

# --- The database ---

SQLITE_DEFAULT = f"sqlite:///{VAR_DIR / 'db.sqlite3'}"
DATABASE_URL = env.str("DATABASE_URL", SQLITE_DEFAULT, validate=databases.database_url)
DATABASE_REPLICA_URL = optional("DATABASE_REPLICA_URL", partial(databases.replica_url, primary_url=DATABASE_URL))
DATABASES = {"default": databases.primary(DATABASE_URL)}
if DATABASE_REPLICA_URL:  # parcels are read from it (shops.db.replicas)
    DATABASES["replica"] = databases.replica(DATABASE_REPLICA_URL)

# --- The rate limit ---

RATE_LIMIT = validators.parse_rate(env.str("RATE_LIMIT", "100/60s", validate=validators.rate))
REDIS_URL = optional("REDIS_URL", validators.redis_url)
CACHES = {
    "default": framework.PROCESS_CACHE,  # counts while Redis does not answer, too
    # A list, as Django splits a string at commas into several servers.
    "rate_limit": framework.REDIS_CACHE | {"LOCATION": [REDIS_URL]}
    if REDIS_URL
    else framework.PROCESS_CACHE | {"LOCATION": "rate_limit"},
}
RATELIMIT_USE_CACHE = "rate_limit"
# W001: django-ratelimit does not know Django's own Redis cache, which counts atomically.
SILENCED_SYSTEM_CHECKS = ["django_ratelimit.W001"]
if not REDIS_URL:
    # E003: the in-process counter is exact in one process; config.apps warns that it is not shared.
    SILENCED_SYSTEM_CHECKS.append("django_ratelimit.E003")

# --- Carriers and labels ---

CARRIER_URLS = {
    "alpha": {
        "ALPHA_URL": "https://ws.chronopost.fr/shipping-cxf/ShippingServiceWS",
        "ALPHA_TRACKING_URL": "https://ws.chronopost.fr/tracking-cxf/TrackingServiceWS",
        "ALPHA_POINTS_URL": "https://ws.chronopost.fr/recherchebt-ws-cxf/PointRelaisServiceWS",
        "ALPHA_QUICKCOST_URL": "https://ws.chronopost.fr/quickcost-cxf/QuickcostServiceWS",
    },
    "beta": {
        "BETA_URL": "https://ws.colissimo.fr/sls-ws/SlsServiceWSRest/2.0",
        "BETA_TRACKING_URL": "https://ws.colissimo.fr/tracking-timeline-ws/rest/tracking/timelineCompany",
        "BETA_POINTS_URL": "https://ws.colissimo.fr/pointretrait-ws-cxf/rest/v2/pointretrait",
        "BETA_DELIVERY_URL": "https://ws.colissimo.fr/tunnel-commande/rest/TunnelCommandeWS/getDateLivraison",
        "BETA_ACCOUNT_URL": "https://ws.colissimo.fr/api-ewe/v1/rest/additionalinformations",
    },
}


def endpoints(urls: dict[str, str]) -> dict[str, Any]:
    """Read a carrier's URLs; where the first is changed, its further services have none by default, so aren't asked."""
    (first, default), *further = urls.items()
    url = env.str(first, default, validate=validators.http_url)
    read: dict[str, str | None] = {first: url}
    for name, usual in further:
        read[name] = optional(name, validators.http_url, usual if url == default else "") or None
    return {name.partition("_")[2].lower(): each for name, each in read.items()}


CARRIER_ENDPOINTS = {carrier: endpoints(urls) for carrier, urls in CARRIER_URLS.items()}
# The sandbox of test shops, whose clients are built from it alone; empty: they can't order.
carriers_urls = [url for urls in CARRIER_ENDPOINTS.values() for url in urls.values() if url]
usual_urls = [url for urls in CARRIER_URLS.values() for url in urls.values()]
is_sandbox = partial(validators.sandbox_url, default_urls=usual_urls, urls=carriers_urls)
SANDBOX_URL = optional("SANDBOX_URL", is_sandbox).rstrip("/")
CARRIER_TIMEOUT = env.float("CARRIER_TIMEOUT", 20.0, validate=validators.above_zero)
CARRIER_CONCURRENCY = env.int("CARRIER_CONCURRENCY", 4, validate=validators.above_zero)
# Calls a second to each carrier's tracking service, of all processes together (parcels.tracking.limits).
TRACKING_RATES = {
    "alpha": env.float("ALPHA_TRACKING_RATE", 2.0, validate=validators.pace),
    "beta": env.float("BETA_TRACKING_RATE", 2.0, validate=validators.pace),
}
TRACKING_PACE = env.float("TRACKING_PACE", 1.0, validate=validators.pace)
# An order without a PDF settles itself after this time, if its carrier bills no label that is not used.
SETTLE_WAIT_S = env.float("SETTLE_WAIT", 1800.0, validate=validators.above_zero)

# --- Webhooks ---

WEBHOOK_ALLOW_PRIVATE = env.bool("WEBHOOK_ALLOW_PRIVATE", False)

# --- Mail (config.desk.morning); without a host there is none ---

EMAIL_HOST = optional("EMAIL_HOST", validators.host)
EMAIL_PORT = env.int("EMAIL_PORT", 587, validate=validators.port)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", "", validate=validators.login)
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", "", validate=validators.login)
EMAIL_USE_SSL = EMAIL_PORT == 465  # noqa: PLR2004 - the port where TLS begins with the first byte (RFC 8314)
EMAIL_USE_TLS = not EMAIL_USE_SSL  # STARTTLS
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = optional("DEFAULT_FROM_EMAIL", validators.sender)
ADMIN_URL = optional("ADMIN_URL", is_base_url)  # start of the links in e-mails
if EMAIL_HOST and not (DEFAULT_FROM_EMAIL and ADMIN_URL):
    raise EnvError('Environment variable "EMAIL_HOST" needs DEFAULT_FROM_EMAIL and ADMIN_URL')

# --- Secrets and storage ---

if DEBUG:
    CREDENTIALS_KEYS = listed("CREDENTIALS_KEYS", validators.fernet_keys, [validators.FIRST_LOOK_CREDENTIALS_KEY])
else:
    CREDENTIALS_KEYS = listed("CREDENTIALS_KEYS", validators.own_fernet_keys)
STORAGE_TIMEOUT_S = 15.0  # of a bucket: a deadline over all attempts
PUBLIC_BASE_URL = optional("PUBLIC_BASE_URL", is_base_url)
LABELS_BUCKET = env.str("LABELS_BUCKET", "", validate=validators.bucket)
LABELS_DIR = env.str("LABELS_DIR", str(VAR_DIR / "labels"), validate=[] if LABELS_BUCKET else validators.folder)


def aws_keys() -> dict[str, str | None]:
    """Read both keys of an account, or none: boto3 then uses the machine's role."""
    names = {"access_key": "AWS_ACCESS_KEY_ID", "secret_key": "AWS_SECRET_ACCESS_KEY"}
    keys = {option: env.str(name, "", validate=validators.login) or None for option, name in names.items()}
    missing = [name for option, name in names.items() if keys[option] is None]
    if len(missing) == 1:
        raise EnvError(f'Environment variable "{missing[0]}" not set: the two AWS keys go together')
    return keys


def label_storage(bucket: str) -> dict[str, Any]:
    """Configure the storage of PDFs: a private bucket, or a folder that only the service's account can read."""
    if not bucket:
        return {"BACKEND": "labels.pdfs.folder.LabelFolder", "OPTIONS": {"location": LABELS_DIR}}
    style: Any = env.str("AWS_S3_ADDRESSING_STYLE", "auto", validate=validate.OneOf(["auto", "path", "virtual"]))
    return {
        "BACKEND": "labels.pdfs.bucket.LabelBucket",
        "OPTIONS": {
            "bucket_name": bucket,
            **aws_keys(),
            "security_token": env.str("AWS_SESSION_TOKEN", None, validate=validators.login),
            "region_name": env.str("AWS_REGION", None, validate=validators.region)
            or env.str("AWS_DEFAULT_REGION", "us-east-1", validate=validators.region),
            "endpoint_url": optional("AWS_S3_ENDPOINT_URL", validators.http_url) or None,
            "addressing_style": style,
        },
    }


STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},  # nothing is uploaded
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "labels": label_storage(LABELS_BUCKET),
}

# --- Days that `apply_retention` keeps data; None is for ever ---


KEEP_SUGGESTED_DAYS: dict[str, int] = {}  # what most would choose, of the settings that nobody has decided


def days_kept(name: str, suggested: int) -> int | None:
    """Read a setting of days; `never` removes nothing, as does leaving it unset, which is warned of."""
    if name not in os.environ:
        KEEP_SUGGESTED_DAYS[name] = suggested
    if env.str(name, "") == "never":
        return None
    return env.int(name, None, validate=validators.whole_days)


KEEP_PARCELS_DAYS = days_kept("KEEP_PARCELS_DAYS", 400)
KEEP_LABEL_ADDRESSES_DAYS = days_kept("KEEP_LABEL_ADDRESSES_DAYS", 400)
KEEP_LABEL_PDFS_DAYS = days_kept("KEEP_LABEL_PDFS_DAYS", 400)
KEEP_TOKENS_DAYS = days_kept("KEEP_TOKENS_DAYS", 90)
KEEP_AUDIT_DAYS = env.int("KEEP_AUDIT_DAYS", 400, validate=validators.audit_days)

# --- Serving ---

SERVE_HOST = env.str("SERVE_HOST", "127.0.0.1", validate=validators.host)
SERVE_PORT = env.int("SERVE_PORT", 8000, validate=validators.port)
SERVE_WORKERS = env.int("SERVE_WORKERS", 2, validate=validators.above_zero)
# Calls to carriers that may hang at the same time, and as many requests that wait briefly for one to end; as many again
# at the sandbox.
LABEL_THREADS = (4 if SANDBOX_URL else 2) * len(CARRIER_ENDPOINTS) * CARRIER_CONCURRENCY
SERVE_THREADS = LABEL_THREADS + 8  # for all else
KEEP_ALIVE = env.int("KEEP_ALIVE", 75, validate=validators.above_zero)
STOP_TIMEOUT = env.int("STOP_TIMEOUT", 120, validate=validators.above_zero)
GRACEFUL_TIMEOUT = STOP_TIMEOUT - 15  # for requests in flight; the rest is for ending the workers that still hang
METRICS_HOST = env.str("METRICS_HOST", "127.0.0.1", validate=validators.host)
METRICS_PORT = int(optional("METRICS_PORT", validators.port_in_digits) or 0)
WORK_METRICS_PORT = int(optional("WORK_METRICS_PORT", validators.port_in_digits) or 0)
if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):  # the library would take an empty one for the working folder
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)

# --- Logs ---

LOG_FORMAT = env.str("LOG_FORMAT", "text" if DEBUG else "json", validate=validate.OneOf(["text", "json"]))
LOGGING = deepcopy(framework.LOGGING)
LOGGING["handlers"]["stderr"]["formatter"] = LOG_FORMAT

# --- Traces and error reports: both need requirements-extras.txt ---

OTEL_EXPORTER_OTLP_ENDPOINT = optional("OTEL_EXPORTER_OTLP_ENDPOINT", validators.tracing)
SENTRY_DSN = optional("SENTRY_DSN", validators.sentry_dsn)
if SENTRY_DSN:
    LOGGING["handlers"]["reports"] = {
        "class": "config.ops.error_reports.Handler",
        "dsn": SENTRY_DSN,
        "release": VERSION,
    }
    LOGGING["root"]["handlers"].append("reports")
