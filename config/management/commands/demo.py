"""Runs a demonstration: sample parcels, the carriers' sandbox, the service, and curl lines to paste."""

import fcntl
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import orjson
import requests
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from carriers.sandbox.journeys import PACE_NAME, pace_of
from carriers.sandbox.server import SandboxServer
from config.docs.collection import collection
from config.docs.openapi.document import example
from config.management.receiver import Receiver
from config.ops.serving import check_port
from parcels.importing.reading import ParcelImport
from parcels.samples import sample_parcels
from shops.api.paths import TRACKING
from shops.contracts.models import CarrierContract
from shops.contracts.terms import products_of
from shops.management import base
from shops.models import AccessToken, Shop
from shops.webhooks import endpoints
from shops.webhooks.models import WebhookEndpoint

HOST = "127.0.0.1"
SHOP_ID, TEST_SHOP_ID = "demo", "demo-test"
PARCELS = 400
START_TIMEOUT_S = 60
WAKE_S = 0.5
# A parcel in transit is asked about every 5 seconds instead of every 2 hours.
TRACKING_PACE = 1440
SETTLE_WAIT = "60"  # seconds, in place of half an hour
# The description's example, sent from the shop's own address.
ORDER = {name: value for name, value in example("order").items() if name != "originAddress"}
# The first point's code, in the answer of a search that was kept.
FIRST_POINT = r"""sed 's/^{"data":\[{"pickupPointCode":"\([^"]*\)".*/\1/' points.json"""
TEXT = Path(__file__).parent.with_name("demo.txt")


class Command(base.Command):
    """Migrate, fill with sample data, serve on this machine, print ready-to-paste curl lines. Ctrl-C ends it."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--collection", type=Path, default=settings.VAR_DIR / "parcels.http", metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        port: int = options["port"]
        check_port(HOST, port)
        try:
            pace = pace_of(os.environ.get(PACE_NAME, ""))
        except ValueError:
            raise CommandError(f"{PACE_NAME} {os.environ[PACE_NAME]!r} is not a number above 0") from None
        url = f"http://{HOST}:{port}"
        at_end(interrupt_once)
        if not settings.DEBUG:
            name = connection.settings_dict["NAME"]
            self.stderr.write(f"DEBUG is off: adding sample data and a superuser `demo` to the database {name!r}.")
        try:
            with ExitStack() as stack:
                stack.enter_context(single_instance())
                write_collection(options["collection"], url=url)  # before anything else is made
                call_command("migrate", verbosity=0)
                token = seed_shop(SHOP_ID)
                test_token = seed_shop(TEST_SHOP_ID, is_test=True)
                parcel = seed_parcels()
                password = fresh_password()
                receiver = Receiver(HOST, self.print)
                seed_webhook(receiver)
                sandbox = stack.enter_context(SandboxServer(HOST, pace=pace))
                tests = stack.enter_context(SandboxServer(HOST, pace=pace))
                environment = settings_for(port, sandbox) | {"SANDBOX_URL": tests.url}
                server = stack.enter_context(
                    manage(["serve", "--host", HOST, "--port", str(port), "--workers", "1"], environment)
                )
                wait_for(server, port)
                stack.enter_context(manage(["work"], environment))
                label = buy_label(url, token)
                write_collection(options["collection"], url=url, token=token, label=label["id"])
                places = {"sandbox_url": sandbox.url, "collection_path": options["collection"]}
                self.print(guide(url, token, parcel, label, password=password, test_token=test_token, **places))
                stack.enter_context(receiver)  # what has arrived meanwhile is shown below these lines
                while server.poll() is None:
                    time.sleep(WAKE_S)  # a signal just before a wait begins does not interrupt it
        except KeyboardInterrupt:
            self.print("\nThe demonstration has ended.")


def interrupt_once(*_: Any) -> None:
    """Begin to end; a further signal would cut short what ends the processes, and leave them running."""
    at_end(signal.SIG_IGN)
    raise KeyboardInterrupt


def at_end(handler: Any) -> None:
    for signum in (signal.SIGINT, signal.SIGTERM):  # a shell's background job ignores SIGINT
        signal.signal(signum, handler)


@contextmanager
def single_instance() -> Iterator[None]:
    """Raise CommandError if another demonstration uses the same file: they would revoke each other's token."""
    if connection.vendor != "sqlite":
        yield
        return
    with Path(f"{connection.settings_dict['NAME']}.demo").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError(f"another demonstration is running on {connection.settings_dict['NAME']}") from None
        yield


def seed_shop(shop_id: str, *, is_test: bool = False) -> str:
    """Make a shop with all that it needs; return its token, which replaces that of an earlier demonstration."""
    shop, _ = Shop.objects.get_or_create(id=shop_id, defaults={"name": "Atelier Nord", "is_test": is_test})
    seed_contracts(shop_id)
    AccessToken.objects.filter(shop=shop, name="demo").revoke()
    return AccessToken.issue(shop=shop, name="demo")[1]


def seed_parcels() -> dict[str, Any]:
    """Import the sample parcels; return the one with the most events."""
    samples = list(sample_parcels(PARCELS, now_ms=time.time_ns() // 1_000_000))
    run = ParcelImport(shop_id=SHOP_ID, report=print, is_silent=True)
    run.run((number, orjson.dumps(sample)) for number, sample in enumerate(samples, 1))
    return max(samples, key=lambda sample: len(sample["events"]))


def seed_contracts(shop_id: str) -> None:
    """Give a shop an address to send from, and contracts that the sandbox accepts."""
    Shop.objects.filter(id=shop_id).update(sender_address=example("sender"))
    for carrier, account_number, password in (("alpha", "19869502", "255562"), ("beta", "842137", "demo-255562")):
        contract, _ = CarrierContract.objects.get_or_create(shop_id=shop_id, carrier_code=carrier)
        contract.account_number = account_number
        contract.products = dict.fromkeys(products_of(carrier))
        contract.commercial_name = "Atelier Nord"
        contract.customs_description, contract.customs_hs_code = "Cosmetics", "330499"
        contract.customs_value_eur, contract.customs_shipping_cost_eur = Decimal("24.90"), Decimal("7.90")
        contract.set_secret(password=password)
        contract.save()


def seed_webhook(receiver: Receiver) -> None:
    """Send events to the receiver of this demonstration, and to no earlier one."""
    for earlier in WebhookEndpoint.objects.for_shop(SHOP_ID).not_revoked():
        endpoints.revoke(earlier)
    shop = Shop.objects.get(id=SHOP_ID)
    _, receiver.secret = endpoints.create(shop=shop, url=receiver.url)


def fresh_password() -> str:
    """Give the superuser `demo` a new password."""
    password = secrets.token_urlsafe(9)
    user, _ = get_user_model().objects.get_or_create(username="demo", defaults={"is_staff": True, "is_superuser": True})
    user.set_password(password)
    user.save()
    return password


def settings_for(port: int, sandbox: SandboxServer) -> dict[str, str]:
    """Return the environment of the service and of the background process."""
    return dict(os.environ) | {
        "ALLOWED_HOSTS": ",".join([HOST, *settings.ALLOWED_HOSTS]),
        "HTTPS": "0",
        **sandbox.urls,
        "PUBLIC_BASE_URL": f"http://{HOST}:{port}",
        "TRACKING_PACE": str(TRACKING_PACE),
        "SETTLE_WAIT": os.environ.get("SETTLE_WAIT", SETTLE_WAIT),
        "WEBHOOK_ALLOW_PRIVATE": "1",
    }


def manage(arguments: list[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    """Start a command in a session of its own, so that Ctrl-C reaches this command first."""
    command = [sys.executable, "manage.py", *arguments]
    return Process(command, cwd=settings.BASE_DIR, env=environment, start_new_session=True)


class Process(subprocess.Popen[bytes]):
    """A process that ends with its `with` block."""

    def __exit__(self, *exc_info: Any) -> None:  # noqa: PYI036 - passed on as they are
        self.terminate()
        super().__exit__(*exc_info)


def wait_for(server: "subprocess.Popen[bytes]", port: int) -> None:
    """Wait until the service listens; raise CommandError if it ends or takes too long."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.1)
    raise CommandError("the service did not start; the lines above say why")


def buy_label(url: str, token: str) -> dict[str, Any]:
    """Buy a sample label; return the answer. Raise CommandError."""
    endpoint, headers = f"{url}{TRACKING}/shipments", {"Authorization": f"Bearer {token}"}
    try:
        answer = requests.post(endpoint, json=ORDER, headers=headers, timeout=START_TIMEOUT_S)
        label: dict[str, Any] = answer.json()
    except requests.RequestException as error:
        raise CommandError(f"the service at {url} does not answer as it should: {type(error).__name__}") from None
    if answer.status_code != HTTPStatus.CREATED:
        raise CommandError(f"the sample label was not bought: {label['message']}")
    return label


def guide(url: str, token: str, parcel: dict[str, Any], label: dict[str, Any], **places: object) -> str:
    ordered = example("pickupOrder")
    place = ordered["destinationAddress"]
    heaviest_kg = max(parcel["weight"] for parcel in ordered["parcels"])
    wanted = {"productCode": ordered["productCode"], "zip": place["zip"], "city": place["city"]}
    order = orjson.dumps(ordered | {"pickupPointCode": "FIRST"}).decode().replace("'", "'\\''")
    return "\n" + TEXT.read_text("utf-8").format(
        url=url,
        api=f"{url}{TRACKING}",
        token=token,
        number=parcel["trackingId"],
        label_number=label["trackingNumber"],
        order_number=quote(parcel["orderNumber"]),
        email=quote(parcel["customerEmail"], safe="@"),
        search=urlencode(wanted | {"weight": heaviest_kg, "limit": 3}),
        order=order.replace("FIRST", f"""'"$({FIRST_POINT})"'"""),
        **places,
    )


def write_collection(path: Path, **variables: str) -> None:
    """Write the collection of requests; it holds the token, so only its owner may read it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)  # one that is there already too
            file.write(collection(**variables))
    except OSError as error:
        raise CommandError(f"--collection {path} can't be written: {error}") from None
