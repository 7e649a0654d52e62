"""Shows the service at work: makes a database with sample parcels, serves it, and prints what to paste."""

import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Any

import orjson
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from parcels.importing import ParcelImport
from parcels.samples import sample_parcels
from shops import commands
from shops.models import AccessToken, Shop

HOST = "127.0.0.1"
SHOP_ID = "demo"
PARCELS = 400
START_TIMEOUT_S = 30


class Command(commands.Command):
    """``demo [--port P]``."""

    help = "Migrate, fill with sample data, serve on this machine, print ready-to-paste curl lines. Ctrl-C ends it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        port: int = options["port"]
        check_port(port)
        call_command("migrate", verbosity=0)
        parcel = seed_parcels()
        token = fresh_token()
        password = fresh_password()
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with ExitStack() as stack:
            try:
                server = stack.enter_context(serve(port))
                wait_for(server, port)
                self.stdout.write(guide(f"http://{HOST}:{port}", token, parcel, password))
                self.stdout.flush()
                server.wait()
            except KeyboardInterrupt:
                self.stdout.write("\nThe demonstration has ended.")


def check_port(port: int) -> None:
    """Raise CommandError unless the port is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise CommandError(f"--port {port} can't be used: {error}") from None


def seed_parcels() -> dict[str, Any]:
    """Import the sample parcels; return one that has a history to look at."""
    shop, _ = Shop.objects.get_or_create(id=SHOP_ID, defaults={"name": "Atelier Nord"})
    samples = list(sample_parcels(PARCELS, now_ms=time.time_ns() // 1_000_000))
    run = ParcelImport(shop_id=shop.id, report=print)
    run.run((number, orjson.dumps(sample)) for number, sample in enumerate(samples, 1))
    return max(samples, key=lambda sample: len(sample["events"]))


def fresh_token() -> str:
    """Replace the token of an earlier demonstration, which nobody can read any more."""
    AccessToken.objects.filter(shop=SHOP_ID, name="demo").revoke()
    return AccessToken.issue(shop=Shop.objects.get(id=SHOP_ID), name="demo")[1]


def fresh_password() -> str:
    """Let `demo` into the admin, with a password of this demonstration only."""
    password = secrets.token_urlsafe(9)
    user, _ = get_user_model().objects.get_or_create(username="demo", defaults={"is_staff": True, "is_superuser": True})
    user.set_password(password)
    user.save()
    return password


def serve(port: int) -> "subprocess.Popen[bytes]":
    """Start the service as a process of its own, which a Ctrl-C in the terminal does not reach before us."""
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--host", HOST, "--port", str(port)]
    command += ["--workers", "1", "--blocking-threads", "4", "--log-level", "warning", "config.wsgi:application"]
    return Process(command, start_new_session=True)


class Process(subprocess.Popen[bytes]):
    """A process that leaving its `with` block ends."""

    def __exit__(self, *exc_info: Any) -> None:  # noqa: PYI036 - passed on as they are
        self.terminate()
        super().__exit__(*exc_info)


def wait_for(server: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.1)
    raise CommandError("the service did not start; the lines above say why")


def guide(url: str, token: str, parcel: dict[str, Any], password: str) -> str:
    order_number = parcel["orderNumber"].replace("#", "%23")
    email = parcel["customerEmail"].replace("+", "%2B")
    return f"""
The service is running at {url}. Paste these into another terminal:

  # a parcel by its tracking number
  curl -s -H 'Authorization: Bearer {token}' \\
    '{url}/public/v1/tracking/parcels/{parcel["trackingId"]}'

  # the parcels of an order
  curl -s -H 'Authorization: Bearer {token}' \\
    '{url}/public/v1/tracking/search?orderName={order_number}'

  # the parcels of a customer, newest first, with status, limits and request id
  curl -si -H 'Authorization: Bearer {token}' \\
    '{url}/public/v1/tracking/search?email={email}'

  # the staff's view: {url}/admin/ (user demo, password {password})

Ctrl-C ends it.
"""
