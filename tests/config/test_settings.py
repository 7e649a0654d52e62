"""Settings fail closed: with DEBUG off, a bad value stops the start; the message names the variable, not the value."""

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.signing import TimestampSigner
from environs import EnvError
from pytest_django.fixtures import Settings

from carriers import CARRIERS
from labels.pdfs import storage
from labels.pdfs.bucket import LabelBucket
from manage import in_words
from shops.contracts import bulkhead
from tests.support.cases import in_one_test
from tests.support.services import ENVIRONMENT, SETTINGS

ROOT = Path(__file__).parent.parent.parent
SETTINGS_FILE = ROOT / "config" / "settings.py"
SECRET_KEY = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
KEY = ENVIRONMENT["CREDENTIALS_KEYS"]
# The settings required to start in production.
PRODUCTION = {
    "SECRET_KEY": SECRET_KEY,
    "CREDENTIALS_KEYS": KEY,
    "ALLOWED_HOSTS": "api.example.com",
    "DATABASE_URL": "postgresql://tracking:hunter2@db.example.com:5432/tracking",
    "REDIS_URL": "rediss://:hunter2@redis.example.com:6379/0",
}
PORTS = ("METRICS_PORT", "WORK_METRICS_PORT")
# As compose gives a variable that has no value.
MAY_BE_EMPTY = (
    "ADMIN_URL DATABASE_REPLICA_URL DEFAULT_FROM_EMAIL EMAIL_HOST OIDC_ISSUER OTEL_EXPORTER_OTLP_ENDPOINT "
    "PUBLIC_BASE_URL REDIS_URL SANDBOX_URL SENTRY_DSN"
).split()
SENTINEL = "redis+sentinel://s1,[::1]:26380/main/1"
UNREADABLE = ("/nowhere/hunter2.pem", os.devnull)  # authorities' certificates: no file, and none in it
BUCKET = {"LABELS_BUCKET": "labels"}
BUCKET_KEYS = {"AWS_ACCESS_KEY_ID": "an-id", "AWS_SECRET_ACCESS_KEY": "a-secret"}
PUBLIC_KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="  # the default with DEBUG
# Values without blanks stand in one string.
BAD: dict[str, Sequence[str | None]] = {
    "SECRET_KEY": [
        *(None, "", "hunter2", "abcd" * 20, "django-insecure-hunter2" + SECRET_KEY, " " * 60, "not-a-secret-" * 5),
        *(SECRET_KEY + "\udcff", SECRET_KEY + "\n", SECRET_KEY + ",hunter2"),  # as a fallback the last two are others
    ],
    "SECRET_KEY_FALLBACKS": ["hunter2", f"{SECRET_KEY},hunter2", f"{SECRET_KEY},", SECRET_KEY + "\udcff"],
    "ALLOWED_HOSTS": [
        *(None, "", "a b"),
        *", * api.example.com,* https://api.example.com api.example.com:443 a/b . -".split(),
    ],
    "ADMIN_HOSTS": ["a b", "*", "staff.example.com", "api.example.com,staff.example.com", "https://api.example.com"],
    "OIDC_ISSUER": [
        *"hunter2 http://sso.example.com ftp://sso.example.com https://sso.example.com/?hunter2".split(),
        "https://sso.example.com",  # without a client
    ],
    "EMAIL_HOST": ["mail.example.com"],  # without a sender
    "EMAIL_PORT": ["0", "65536", "smtp"],
    **dict.fromkeys(
        "EMAIL_HOST_USER EMAIL_HOST_PASSWORD OIDC_CLIENT_ID OIDC_CLIENT_SECRET AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY "
        "AWS_SESSION_TOKEN".split(),
        ("hunter2\n", "hunter2\udcff", "hunter2é", " "),
    ),
    "DEFAULT_FROM_EMAIL": ["hunter2", "hunter2@", "a b@hunter2", "Parcels <hunter2>", "a@hunter2\n", "a@hunter2,"],
    "ADMIN_URL": ["hunter2", "https://staff.example.com/?hunter2", "http://hunter2.example.com"],
    "OIDC_SCOPES": ["", " ", "hunter2 email", "openid,hunter2", "openid2 hunter2"],
    "OIDC_GROUPS_CLAIM": ["", " "],
    "OIDC_ROLES": [
        *("logistics", "logistics=hunter2", "=Support", "logistics=Support,finance=superuser"),
        "hunter2=Support,finance=Accounting, hunter2 =Operations",
    ],
    "DATABASE_URL": [
        "",
        *"hunter2 /hunter2 postgresql:// mysql://u:hunter2@host/name".split(),
        *"postgresql://u:hunter2@host postgresql://u:hunter2@host/ postgresql://u:hunter2@host:port/name".split(),
        *"postgresql://u:hunter2@host:70000/name postgresql://u:hunter2@[::1/name".split(),
        *"sqlite:// sqlite:hunter2 sqlite:////etc/passwd/hunter2/db.sqlite3".split(),
        *("postgresql://u:hunter2@host/name\udcff", "postgresql://u:hunter2@host/name\n"),
    ],
    "DATABASE_REPLICA_URL": [
        *"hunter2 postgresql://u:hunter2@host,/name sqlite:///file".split(),
        *("postgresql://u:hunter2\udcff@host/name", "postgresql://u:hunter2@host/name\n"),
    ],
    "REDIS_URL": [
        *"hunter2 http://:hunter2@host redis:// redis:hunter2 redis://:hunter2@host:port/0".split(),
        *"redis://:hunter2@host:70000/0 redis://:hunter2@[::1/0 redis://:hunter2@host/0?foo=1".split(),
        *"redis://:hunter2@host/abc redis+sentinel://:hunter2@host:26379 redis+sentinel://:hunter2@host:26379/".split(),
        *"redis+sentinel://:hunter2@host:port/master/0 redis+sentinel://:hunter2@host:70000/master/0".split(),
        *"redis+sentinel://:hunter2@host,/master/0 redis+sentinel://:hunter2@[::1/master/0".split(),
        *"redis://host1,host2/0 redis://:hunter2@host1,host2:6379/0".split(),  # Sentinel's form, or a cluster's
        *"redis+sentinel://:hunter2@host/master/one redis+sentinel://:hunter2@host/master/0?ssl=hunter2".split(),
        "redis+sentinel://:hunter2@host/master/0?hunter2",
        "rediss://:hunter2@host/0?ssl_cert_reqs=CERT_NONE",  # redis-py's words are none, optional and required
        *"redis://:hunter2@host/0?protocol=9 redis://:hunter2@host/0?connection_class=hunter2".split(),
        "rediss+sentinel://:hunter2@host/master/0?ssl_cert_reqs=CERT_NONE",
        "redis+sentinel://:hunter2@host/master/0?ssl_ca_certs=/etc/passwd",  # without TLS
        *(f"rediss{rest}?ssl_ca_certs={file}" for rest in ("://h/0", "+sentinel://h/m/0") for file in UNREADABLE),
    ],
    "OPERATOR": [" ", "hunter2\n", "hunter2\x1b[31m", "hunter2\udcff"],
    "RATE_LIMIT": [
        *("", "100 / 60s", "100/60s\n", "\u0661/60s"),
        *"100 0/60s -1/60s 100/0s 100/60 100/60x 1e2/60s 100/32d 100/99999d".split(),
    ],
    "TRUSTED_PROXIES": ["", *"-1 101 99999999999999999999 1.5 one 10.0.0.1".split()],
    **dict.fromkeys(("ADMIN_MFA_REQUIRED", "HTTPS", "DEBUG"), ("", "maybe", "2")),
    "LOG_FORMAT": ["", "xml", "JSON"],
    "CREDENTIALS_KEYS": [None, "", "hunter2", f"{KEY},hunter2", "x" * 44, PUBLIC_KEY],
    "ALPHA_URL": [
        *("", "http://a b/"),
        *"hunter2 ftp://host/ //host/ http://[x http://h:port/ http://h:99999/ http://h/#f".split(),
    ],
    **dict.fromkeys(
        "ALPHA_TRACKING_URL ALPHA_POINTS_URL ALPHA_QUICKCOST_URL BETA_POINTS_URL BETA_ACCOUNT_URL BETA_DELIVERY_URL "
        "BETA_TRACKING_URL AWS_S3_ENDPOINT_URL OTEL_EXPORTER_OTLP_ENDPOINT".split(),
        ("hunter2", "ftp://host/"),
    ),
    "SANDBOX_URL": [
        *"hunter2 ftp://host/ http://host/?hunter2 https://ws.chronopost.fr/x https://WS.Colissimo.fr. ".split(),
        "http://anything.chronopost.fr:8100",
    ],
    **dict.fromkeys(("ALPHA_TRACKING_RATE", "BETA_TRACKING_RATE"), ("", "0", "1e-9", "-1", "nan", "inf", "2/s")),
    **dict.fromkeys(("CARRIER_CONCURRENCY", "SERVE_WORKERS"), ("", "0", "-1", "1.5")),
    "TRACKING_PACE": ["", "0", "1e-9", "-1", "nan", "inf"],
    "WORK_METRICS_PORT": ["65536", "http"],
    "BETA_URL": ["", *"hunter2 ftp://host/ http://[x http://h:port/".split()],
    "PUBLIC_BASE_URL": "hunter2 ftp://host/ http://[x http://host/?hunter2 http://hunter2".split(),
    "ADMIN_PICTURE_HOSTS": ["*", "https://cdn.example.com", "cdn.example.com; script-src *", "CDN.example.com", "cdn"],
    "LABELS_DIR": [""],
    "LABELS_BUCKET": ["hunter2!", "a b"],
    "CARRIER_TIMEOUT": ["", "0", "-1", "nan", "inf", "1e9", "20s"],
    **dict.fromkeys(("SERVE_HOST", "METRICS_HOST"), ("", "127.0.0.1\n", "127.0.0.1\udcff", "127.0.0.1:80", '"::"')),
    "SERVE_PORT": ["", "0", "65536", "http"],
    "KEEP_ALIVE": ["", "0"],
    "KEEP_AUDIT_DAYS": ["", "89", "never", "36501"],
    "STOP_TIMEOUT": ["", "0", "60s"],
    "METRICS_PORT": ["-1", "65536", "tcp://10.0.0.1:9090"],
    **{
        f"KEEP_{what}_DAYS": ["", "0", "-1", "1.5", "36501", "30d"]
        for what in ("PARCELS", "LABEL_ADDRESSES", "LABEL_PDFS", "TOKENS")
    },
    "SENTRY_DSN": "hunter2 https://host/1 https://hunter2@host https://hunter2@host/one ftp://hunter2@host/1".split(),
    "AWS_S3_ADDRESSING_STYLE": ["", "hunter2"],
    **dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), ("", "eu west hunter2", "eu-west-1\n")),
}


@pytest.fixture(autouse=True)
def production(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {*SETTINGS, *ENVIRONMENT} - {"DJANGO_SETTINGS_MODULE"}:
        monkeypatch.delenv(name, raising=False)
    for name, value in PRODUCTION.items():
        monkeypatch.setenv(name, value)


def test_every_setting_is_documented_once() -> None:
    readme, others = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/settings.md"))
    tables = readme.partition("\n## Settings\n")[2].partition("\n## ")[0] + others
    rows = re.findall(r"^\| (`[A-Z0-9_]+`(?:, `[A-Z0-9_]+`)*) \|(.*)\|$", tables, re.MULTILINE)
    named = [name for names, _ in rows for name in re.findall("`(.*?)`", names)]
    of_bucket = {name for name in SETTINGS if name.startswith("AWS_")}
    assert sorted(named) == sorted(SETTINGS - of_bucket - {"SUDO_USER"})
    assert all(f"`{name}`" in tables for name in of_bucket)


def load() -> dict[str, Any]:
    return runpy.run_path(str(SETTINGS_FILE))


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command with only these environment variables."""
    return subprocess.run(
        [sys.executable, "-W", "error", "manage.py", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("sandbox", ["", "http://127.0.0.1:9"])
def test_calls_that_hang_at_each_service_leave_threads(
    sandbox: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_URL", sandbox)
    settings.SANDBOX_URL = sandbox
    settings.CARRIER_CONCURRENCY = load()["CARRIER_CONCURRENCY"]
    services = [service for carrier in CARRIERS.values() for service in carrier.services]
    modes = (False, True) if sandbox else (False,)
    assert sum(bulkhead.size(each, is_test=mode) for mode in modes for each in services) < load()["SERVE_THREADS"]


@in_one_test("name, value", [(name, value) for name, values in BAD.items() for value in values])
def test_a_bad_value_stops_the_start_and_is_not_shown(name: str, value: str | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if value is None:
            patch.delenv(name)
        else:
            patch.setenv(name, value)
        if not name.startswith("LABELS_"):
            patch.setenv("LABELS_BUCKET", "labels")  # so that the settings of a bucket are read too
        with pytest.raises(EnvError) as caught:
            load()
    assert name in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert SECRET_KEY not in str(caught.value)


def test_a_bad_setting_is_told_in_words() -> None:
    ended = manage("check", **PRODUCTION, RATE_LIMIT="often")
    assert (ended.returncode, ended.stdout) == (1, "")
    said = "needs COUNT/PERIOD, such as 100/60s, the period at most 31 days"
    assert ended.stderr == f'Not started: Environment variable "RATE_LIMIT" invalid: {said}\n'


def test_a_password_that_splits_its_url_is_told_of() -> None:
    for name, url in {"DATABASE_URL": "postgresql://u:a/b@host/name", "REDIS_URL": "redis://:a#b@host/0"}.items():
        ended = manage("check", **PRODUCTION | {name: url})
        assert ended.stderr.startswith(f'Not started: Environment variable "{name}" invalid: needs ')
        assert ended.stderr.endswith("; in a password %23 is #, %2F is /, %3F is ?\n")


def test_a_file_of_authorities_that_is_none_is_told_as_one() -> None:
    said = "names a file of certificates that can't be read"
    for file in UNREADABLE:
        ended = manage("check", **PRODUCTION | {"REDIS_URL": f"rediss://host/0?ssl_ca_certs={file}"})
        assert ended.stderr == f'Not started: Environment variable "REDIS_URL" invalid: {said}\n'


@pytest.mark.parametrize(
    ("name", "value", "module"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318", "opentelemetry.exporter.otlp"),
        ("SENTRY_DSN", "https://hunter2@sentry.example.com/1", "sentry_sdk"),
    ],
)
def test_a_setting_of_packages_that_are_not_installed_stops_the_start(
    name: str, value: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "")
    assert "reports" not in load()["LOGGING"]["handlers"]
    monkeypatch.setenv(name, value)
    assert load()[name] == value
    for loaded in [each for each in sys.modules if each.startswith(module)]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EnvError, match=rf"{name}.*not installed: see requirements-extras\.txt"):
        load()


def test_a_carriers_further_services_follow_its_first_url(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load()
    assert loaded["CARRIER_ENDPOINTS"] == {
        "alpha": {
            "url": "https://ws.chronopost.fr/shipping-cxf/ShippingServiceWS",
            "tracking_url": "https://ws.chronopost.fr/tracking-cxf/TrackingServiceWS",
            "points_url": "https://ws.chronopost.fr/recherchebt-ws-cxf/PointRelaisServiceWS",
            "quickcost_url": "https://ws.chronopost.fr/quickcost-cxf/QuickcostServiceWS",
        },
        "beta": {
            "url": "https://ws.colissimo.fr/sls-ws/SlsServiceWSRest/2.0",
            "tracking_url": "https://ws.colissimo.fr/tracking-timeline-ws/rest/tracking/timelineCompany",
            "points_url": "https://ws.colissimo.fr/pointretrait-ws-cxf/rest/v2/pointretrait",
            "delivery_url": "https://ws.colissimo.fr/tunnel-commande/rest/TunnelCommandeWS/getDateLivraison",
            "account_url": "https://ws.colissimo.fr/api-ewe/v1/rest/additionalinformations",
        },
    }
    for name in ("ALPHA_URL", "BETA_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/a")
    assert load()["CARRIER_ENDPOINTS"] == {
        "alpha": {"url": "http://127.0.0.1:9/a", "tracking_url": None, "points_url": None, "quickcost_url": None},
        "beta": {"url": "http://127.0.0.1:9/a", "tracking_url": None, "points_url": None, "account_url": None}
        | {"delivery_url": None},
    }
    for name in ("ALPHA_POINTS_URL", "BETA_POINTS_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/p")
    endpoints = load()["CARRIER_ENDPOINTS"]
    assert [endpoints[name]["points_url"] for name in ("alpha", "beta")] == ["http://127.0.0.1:9/p"] * 2
    assert endpoints["alpha"]["tracking_url"] is None


def test_the_sandbox_of_test_shops_is_nowhere_where_a_carrier_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHA_URL", "http://relay.example:8100/alpha")
    for url in ("http://relay.example:8100", "http://RELAY.example:8100/other", "http://relay.example.:8100"):
        monkeypatch.setenv("SANDBOX_URL", url)
        with pytest.raises(EnvError, match="SANDBOX_URL"):
            load()
    monkeypatch.setenv("SANDBOX_URL", "http://relay.example:8101/")
    assert load()["SANDBOX_URL"] == "http://relay.example:8101"


def test_a_replica_is_a_second_database_for_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(load()["DATABASES"]) == ["default"]
    monkeypatch.setenv("DATABASE_REPLICA_URL", "postgresql://tracking:hunter2@db1.example.com,db2.example.com/tracking")
    replica = load()["DATABASES"]["replica"]
    assert replica["HOST"] == "db1.example.com,db2.example.com"


@pytest.mark.parametrize("is_on", [True, False])
def test_https_is_on_where_debug_is_off_unless_it_is_switched_off(is_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_on:
        monkeypatch.setenv("HTTPS", "0")
    loaded = load()
    for name in ("SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE"):
        assert loaded[name] is is_on
    for name in ("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME"):
        assert loaded.get(name, "").startswith("__Host-") is is_on
    assert loaded["SECURE_HSTS_SECONDS"] >= 365 * 24 * 3600 if is_on else loaded["SECURE_HSTS_SECONDS"] == 0


@pytest.mark.parametrize("name", ["ADMIN_URL", "PUBLIC_BASE_URL"])
def test_links_are_https_unless_the_service_serves_plain_http(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "HTTPS://parcels.example.com")
    assert load()[name] == "HTTPS://parcels.example.com"
    monkeypatch.setenv(name, "http://parcels.example.com")
    with pytest.raises(EnvError, match=rf"{name}.*needs an https URL"):
        load()
    monkeypatch.setenv("HTTPS", "0")
    assert load()[name] == "http://parcels.example.com"


@pytest.mark.parametrize(
    ("given", "setting", "expected"),
    [
        ({}, "DEBUG", False),
        ({}, "DATABASES default NAME", "tracking"),
        ({}, "ADMIN_MFA_REQUIRED", True),
        ({"DEBUG": "1"}, "ADMIN_MFA_REQUIRED", False),
        ({}, "ADMIN_HOSTS", []),
        (
            {"ALLOWED_HOSTS": "api.example.com, .example.org", "ADMIN_HOSTS": "staff.example.org"},
            "ADMIN_HOSTS",
            ["staff.example.org"],
        ),
        (
            {"ALLOWED_HOSTS": "Staff.Example.com", "ADMIN_HOSTS": "Staff.Example.com"},
            "ADMIN_HOSTS",
            ["Staff.Example.com"],
        ),
        ({}, "ALLOWED_HOSTS", ["api.example.com"]),
        ({"ALLOWED_HOSTS": "a.example,.b.example,[::1]"}, "ALLOWED_HOSTS", ["a.example", ".b.example", "[::1]"]),
        ({"ALLOWED_HOSTS": " a.example, b.example "}, "ALLOWED_HOSTS", ["a.example", "b.example"]),
        ({"SECRET_KEY_FALLBACKS": f"{SECRET_KEY}, {SECRET_KEY}"}, "SECRET_KEY_FALLBACKS", [SECRET_KEY] * 2),
        ({"CREDENTIALS_KEYS": f"{KEY}, {KEY}"}, "CREDENTIALS_KEYS", [KEY] * 2),
        ({}, "RATE_LIMIT", (100, 60)),
        ({"RATE_LIMIT": "1/s"}, "RATE_LIMIT", (1, 1)),
        ({"RATE_LIMIT": "5/31d"}, "RATE_LIMIT", (5, 31 * 86_400)),
        ({"RATE_LIMIT": "5000/h"}, "RATE_LIMIT", (5000, 3600)),
        ({"RATE_LIMIT": "20/2m"}, "RATE_LIMIT", (20, 120)),
        ({}, "TRUSTED_PROXIES", 0),
        ({"TRUSTED_PROXIES": "2"}, "TRUSTED_PROXIES", 2),
        ({}, "SECURE_PROXY_SSL_HEADER", None),  # the forwarded scheme is believed only behind a trusted proxy
        ({"TRUSTED_PROXIES": "1"}, "SECURE_PROXY_SSL_HEADER", ("HTTP_X_FORWARDED_PROTO", "https")),
        *(({name: port}, name, int(port or 0)) for name in PORTS for port in ("", "0", "9100")),
        *(({"EMAIL_PORT": port}, "EMAIL_USE_SSL", port == "465") for port in ("465", "587", "25")),
        *(({"EMAIL_PORT": port}, "EMAIL_USE_TLS", port != "465") for port in ("465", "587", "25")),
        ({"OIDC_ROLES": "a=Support, b c=Accounts"}, "OIDC_ROLES", {"a": "Support", "b c": "Accounts"}),
        *(({"REDIS_URL": url}, "REDIS_URL", url) for url in ("redis://localhost", SENTINEL)),
        *(({name: ""}, name, "") for name in MAY_BE_EMPTY),
        *((BUCKET, f"STORAGES labels OPTIONS {name}", None) for name in ("access_key", "secret_key")),
        (BUCKET | BUCKET_KEYS, "STORAGES labels OPTIONS access_key", "an-id"),
        (BUCKET | BUCKET_KEYS, "STORAGES labels OPTIONS secret_key", "a-secret"),
    ],
)
def test_what_is_given_is_set_and_the_rest_has_its_default(
    given: dict[str, str], setting: str, expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    found: Any = load()
    for name in setting.split():
        found = found.get(name)
    assert (type(found), found) == (type(expected), expected)


def test_an_empty_folder_of_metrics_is_none_and_not_the_working_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    load()
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ


def test_the_folder_of_metrics_is_of_the_server_alone() -> None:
    counting = "from prometheus_client import Counter; Counter('name', 'help').inc()"
    ended = manage("shell", "-c", counting, **PRODUCTION, PROMETHEUS_MULTIPROC_DIR="/proc/nowhere")
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("host", ["mail.example.com:587", "smtp://mail.example.com", "mail example", "-", "mail\udcff"])
def test_a_mail_server_is_a_host_alone(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEFAULT_FROM_EMAIL", "parcels@example.com")
    monkeypatch.setenv("ADMIN_URL", "https://staff.example.com")
    for good in ("mail.example.com", "smtp_relay", "192.0.2.1", "2001:db8::1"):
        monkeypatch.setenv("EMAIL_HOST", good)
        assert load()["EMAIL_HOST"] == good
    monkeypatch.setenv("EMAIL_HOST", host)
    with pytest.raises(EnvError, match=r"EMAIL_HOST.*needs a host name or an IP address"):
        load()


def test_a_first_look_needs_only_debug(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PRODUCTION:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DEBUG", "1")
    loaded = load()
    assert "*" not in loaded["ALLOWED_HOSTS"]
    assert loaded["DATABASES"]["default"]["ENGINE"] == "django.db.backends.sqlite3"


def test_a_first_look_with_an_empty_key_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", "1")
    monkeypatch.setenv("SECRET_KEY", "")
    with pytest.raises(EnvError) as caught:
        load()
    assert in_words(caught.value) == 'Environment variable "SECRET_KEY" invalid: needs a key'


def test_the_deployment_check_is_clean_in_production() -> None:
    decided = {f"KEEP_{what}_DAYS": "never" for what in ("PARCELS", "LABEL_ADDRESSES", "LABEL_PDFS")}
    done = manage("check", "--deploy", "--fail-level", "WARNING", KEEP_TOKENS_DAYS="90", **PRODUCTION, **decided)
    assert (done.returncode, done.stderr) == (0, "")


def test_defaults_of_a_single_machine_and_days_that_nobody_has_decided_cause_warnings(tmp_path: Path) -> None:
    changed = {"DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3", "REDIS_URL": "", "KEEP_TOKENS_DAYS": "never"}
    done = manage("check", **PRODUCTION | changed)
    assert done.returncode == 0
    assert "DATABASE_URL is SQLite" in done.stderr
    assert "REDIS_URL is not set" in done.stderr
    assert "KEEP_PARCELS_DAYS is not set" in done.stderr
    assert "KEEP_TOKENS_DAYS" not in done.stderr


@pytest.mark.parametrize(
    ("given", "missing"),
    [("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")],
)
@pytest.mark.parametrize("other", [None, ""])
def test_one_key_of_a_bucket_without_the_other_stops_the_start(
    given: str, missing: str, other: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELS_BUCKET", "labels")
    monkeypatch.setenv(given, "hunter2")
    if other is not None:
        monkeypatch.setenv(missing, other)
    with pytest.raises(EnvError) as caught:
        load()
    assert missing in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_bucket_is_private_signed_with_version_4_and_bounded_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELS_BUCKET", "labels")
    labels = load()["STORAGES"]["labels"]
    assert labels["BACKEND"] == "labels.pdfs.bucket.LabelBucket"
    bucket = LabelBucket(**labels["OPTIONS"])
    config: Any = bucket.client_config
    assert config.signature_version == "s3v4"
    assert (bucket.querystring_auth, bucket.querystring_expire) == (True, 900)
    assert bucket.default_acl is None
    assert config.retries["total_max_attempts"] * (config.connect_timeout + config.read_timeout) <= 15
    assert (config.request_checksum_calculation, config.response_checksum_validation) == ("when_required",) * 2


def test_signatures_of_an_earlier_key_are_valid_while_the_key_is_listed() -> None:
    rotated = PRODUCTION | {"SECRET_KEY": SECRET_KEY[::-1], "SECRET_KEY_FALLBACKS": SECRET_KEY}
    signed = [TimestampSigner(key=key, salt=storage.signer.salt).sign("a") for key in (SECRET_KEY, "x" * 50)]
    check = f"from labels.pdfs import storage\nfor link in {signed}: print(storage.name_in_link(link))"
    checked = manage("shell", "-v", "0", "-c", check, **rotated)
    assert (checked.stdout, "BadSignature" in checked.stderr) == ("a\n", True)
