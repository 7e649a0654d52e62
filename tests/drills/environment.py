"""Where a drill plays: a database, the sandbox and the service as processes, and a shop that buys."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self

import django
from django.core.management import call_command

from tests.support.paths import SHIPMENTS
from tests.support.processes import free_port
from tests.support.services import ENVIRONMENT, postgresql, redis_server
from tests.support.waiting import until

ROOT = Path(__file__).parent.parent.parent
SHOP = "drill"
START_TIMEOUT_S = 60
ANSWER_TIMEOUT_S = 120
SENDER = {
    "firstName": "Zoé", "lastName": "Lefèvre", "address1": "3 rue de l'Église", "city": "Lyon", "zip": "69002",
    "countryCode": "FR", "phone": "+33472001122",
}  # fmt: skip
RECIPIENT = {
    "firstName": "Søren", "lastName": "Grünwald", "address1": "128 boulevard Œdipe", "city": "Paris", "zip": "75011",
    "countryCode": "FR", "phone": "+33612345678", "email": "soren@mail.example",
}  # fmt: skip
PRODUCTS = {"alpha": "alpha-18", "beta": "beta_domicile_sans_signature_france"}
ACCOUNTS = {"alpha": ("19869502", "255562"), "beta": ("804735", "s3cret-Pass")}


@dataclass(frozen=True)
class Answer:
    """What a client saw; status 0 where the connection ended without an answer."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str]
    duration_s: float

    @property
    def outcome(self) -> str:
        """The status with the error's code, or with what tells a replay from a purchase."""
        if not self.status:
            return "no answer"
        if self.status == 201:
            return "201 replayed" if "idempotent-replayed" in self.headers else "201"
        return f"{self.status} {self.body.get('code', '')}".strip()


def order(key: str, carrier: str, parcels: int = 1, **fields: Any) -> dict[str, Any]:
    """A label order that names its key, so that a row tells which it is of when the key has been released."""
    return {
        "orderId": key,
        "carrierCode": carrier,
        "productCode": PRODUCTS[carrier],
        "destinationAddress": RECIPIENT,
        "parcels": [{"weight": 1.25}] * parcels,
    } | fields


def call(port: int, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
    """Ask once over a connection of its own."""
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_TIMEOUT_S)
    started_s = time.monotonic()
    try:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json"} | (headers or {}))
        response = connection.getresponse()
        text = response.read()
        found = {name.lower(): value for name, value in response.getheaders()}
        is_json = found.get("content-type", "").startswith("application/json")
        content_read = json.loads(text) if is_json else {}
        return Answer(response.status, content_read, found, time.monotonic() - started_s)
    except (HTTPException, OSError):
        return Answer(0, {}, {}, time.monotonic() - started_s)
    finally:
        connection.close()


class Process:
    """A process in a session of its own, which ends with all its children."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as output:
            self.log_begins_at = output.tell()
            self.popen = subprocess.Popen(
                command, cwd=ROOT, env=environment, start_new_session=True, stdout=subprocess.PIPE, stderr=output
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.kill()

    def said(self) -> bytes:
        """What it has written to its log, which it shares with those before it."""
        return self.log.read_bytes()[self.log_begins_at :]

    def wait_until_it_said(self, text: bytes, *, times: int) -> None:
        """Raise RuntimeError if it ends first, as it does where another listens on its port already."""
        until(lambda: self.said().count(text) >= times or self.popen.poll() is not None)
        if self.popen.poll() is not None:
            raise RuntimeError(f"the server did not start:\n{self.said().decode()[-2000:]}")

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        assert self.popen.stdout
        self.popen.stdout.close()


def wait_for(port: int, process: Process) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.popen.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"the server did not start:\n{process.log.read_text()[-2000:]}")


class Stage:
    """The environment of a drill's processes; Django in this process sees the same."""

    def __init__(self, folder: Path, stack: ExitStack, sandbox_port: int) -> None:
        self.folder = folder
        self.stack = stack
        self.sandbox_port = sandbox_port
        self.token = ""

    @property
    def labels_dir(self) -> Path:
        return self.folder / "labels"

    @property
    def environment(self) -> dict[str, str]:
        return dict(os.environ)

    @contextmanager
    def setting(self, variables: dict[str, str]) -> Iterator[None]:
        """Let processes that are started in the block see other settings."""
        before = self.environment
        os.environ.update(variables)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def ledger(self) -> list[dict[str, Any]]:
        """What the carriers made and will bill."""
        connection = HTTPConnection("127.0.0.1", self.sandbox_port, timeout=ANSWER_TIMEOUT_S)
        connection.request("GET", "/ledger")
        rows: list[dict[str, Any]] = json.loads(connection.getresponse().read())
        connection.close()
        return rows

    def arm(self, **fault: Any) -> None:
        answer = call(self.sandbox_port, "POST", "/control/faults", fault)
        assert answer.status == 201, answer

    def disarm(self) -> None:
        call(self.sandbox_port, "DELETE", "/control/faults")

    def buy(self, port: int, key: str, body: dict[str, Any], **headers: str) -> Answer:
        sent = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": key}
        return call(port, "POST", SHIPMENTS, body, sent | headers)

    @contextmanager
    def served(self, *, workers: int = 1, threads: int | None = None) -> Iterator[tuple[int, Process]]:
        """Serve as in production, with as many threads as it has of itself; yield the port and the process."""
        command = [sys.executable, "manage.py", "serve", "--workers", str(workers)]
        command += ["--threads", str(threads)] if threads else []
        with self.listening(command) as (port, process):
            process.wait_until_it_said(b"Started worker-", times=workers)  # not one alone has all requests
            yield port, process

    @contextmanager
    def hooked(self, *, threads: int) -> Iterator[tuple[int, Process]]:
        """Serve what a request can kill, on granian itself; yield the port and the process."""
        command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--blocking-threads", str(threads)]
        with self.listening([*command, "tests.drills.hooked:application"], DRILL_KILLS_GROUP="1") as server:
            yield server

    @contextmanager
    def listening(self, command: list[str], **variables: str) -> Iterator[tuple[int, Process]]:
        port = free_port()
        options = ["--host", "127.0.0.1", "--port", str(port)]
        with Process([*command, *options], self.environment | variables, self.folder / "service.log") as process:
            wait_for(port, process)
            yield port, process

    @contextmanager
    def warm(self) -> Iterator[int]:
        """Serve from forked children, of which the next is there when one is killed; yield the port."""
        command = [sys.executable, "-m", "tests.drills.warm"]
        environment = self.environment | {"DJANGO_SETTINGS_MODULE": "config.settings"}
        with Process(command, environment, self.folder / "service.log") as process:
            assert process.popen.stdout
            line = process.popen.stdout.readline()
            if not line:
                raise RuntimeError(f"the server did not start:\n{process.log.read_text()[-2000:]}")
            yield int(line)

    def reconcile(self, processes: int = 2) -> None:
        """Run the command in several processes at once."""

        def run(_: int) -> None:
            command = [sys.executable, "manage.py", "reconcile_labels"]
            with (self.folder / "service.log").open("ab") as log:
                subprocess.run(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, check=True)

        with ThreadPoolExecutor(processes) as pool:
            list(pool.map(run, range(processes)))


@contextmanager
def stage(database: str, settings: dict[str, object], *, redis: bool = False) -> Iterator[Stage]:
    """Set everything up but the service; `settings` are environment variables."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends a drill ends its processes
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drill-", ignore_cleanup_errors=True)))
        stack.callback(shutil.rmtree, folder / "labels", ignore_errors=True)
        for name in ("REDIS_URL", "LABELS_BUCKET", "DEBUG"):
            os.environ.pop(name, None)
        os.environ.update(ENVIRONMENT | {"XDG_RUNTIME_DIR": str(folder), "RATE_LIMIT": "100000000/60s"})
        os.environ["LABELS_DIR"] = str(folder / "labels")
        os.environ["DATABASE_URL"] = f"sqlite:///{folder / 'db.sqlite3'}"
        if database == "postgresql":
            os.environ["DATABASE_URL"] = stack.enter_context(postgresql(folder / "pg"))
        if redis:
            os.environ["REDIS_URL"] = stack.enter_context(redis_server(folder / "redis.sock"))
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        os.environ["ALPHA_URL"], os.environ["ALPHA_TRACKING_URL"] = f"{url}/alpha/shipping", f"{url}/alpha/tracking"
        os.environ["BETA_URL"] = f"{url}/beta/2.0"
        os.environ.update({name: str(value) for name, value in settings.items()})
        command = [sys.executable, "-m", "carriers.sandbox", "--port", str(port), "--ledger", str(folder / "ledger")]
        wait_for(port, stack.enter_context(Process(command, dict(os.environ), folder / "sandbox.log")))
        made = Stage(folder, stack, port)
        made.token = open_shop()
        yield made


def open_shop() -> str:
    """Make the tables, the shop and its contracts; return a token."""
    django.setup()
    from django.db import connections

    from carriers.products import PRODUCTS as CATALOGUE
    from shops.contracts.models import CarrierContract
    from shops.models import AccessToken, Shop

    call_command("migrate", verbosity=0)
    shop = Shop.objects.create(id=SHOP, name="Drill", sender_address=SENDER)
    for carrier, (account, password) in ACCOUNTS.items():
        products = {code: None for code, product in CATALOGUE.items() if product.carrier == carrier}
        contract = CarrierContract(shop=shop, carrier_code=carrier, account_number=account, products=products)
        contract.set_secret(password=password)
        contract.save()
    token = AccessToken.issue(shop=shop)[1]
    connections.close_all()
    return token


def new_key() -> str:
    return secrets.token_hex(8)
