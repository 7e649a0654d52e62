"""A drill's environment: a database, the sandbox and the service as processes, and a shop that buys."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from carriers.sandbox.routes import urls
from tests.drills.forks import close_connections
from tests.drills.shop import new_key, open_shop, order
from tests.support import migrated
from tests.support.http import Answer, call
from tests.support.paths import SHIPMENTS
from tests.support.processes import ROOT, Server, free_port
from tests.support.programs import Process
from tests.support.services import ENVIRONMENT, migrated_postgresql, redis_server

Ask = Callable[..., tuple[int, Any]]  # path and body, none for a GET; status and body


class Environment:
    """The drill's processes and their settings, which Django in this process shares."""

    def __init__(self, folder: Path, sandbox_port: int, token: str) -> None:
        self.folder = folder
        self.sandbox_port = sandbox_port
        self.token = token

    @property
    def labels_dir(self) -> Path:
        return self.folder / "labels"

    @property
    def variables(self) -> dict[str, str]:
        return dict(os.environ)

    @property
    def postmaster(self) -> int:
        """The process id of PostgreSQL."""
        return int((self.folder / "pg" / "postmaster.pid").read_text().split()[0])

    @contextmanager
    def setting(self, variables: dict[str, str]) -> Iterator[None]:
        """Change settings for processes that are started in the block."""
        before = self.variables
        os.environ.update(variables)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def ledger(self) -> list[dict[str, Any]]:
        """Return what the carriers made and will bill."""
        rows: list[dict[str, Any]] = call(self.sandbox_port, "GET", "/ledger").body
        return rows

    def requests(self) -> dict[str, int]:
        """Return the number of requests to each of the carriers' paths."""
        counts: dict[str, int] = call(self.sandbox_port, "GET", "/control/requests").body
        return counts

    @contextmanager
    def faults(self, *faults: dict[str, Any]) -> Iterator[None]:
        """Inject faults into the carriers' answers while the block runs."""
        try:
            for fault in faults:
                answer = call(self.sandbox_port, "POST", "/control/faults", fault)
                assert answer.status == 201, answer
            yield
        finally:
            call(self.sandbox_port, "DELETE", "/control/faults")

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def ask(self, port: int, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request of the shop's over a connection of its own."""
        return call(port, method, path, body, self.bearer | headers)

    def asking(self, port: int) -> "Ask":
        """Return a function that sends requests of the shop's to a port, and returns the status and the body."""

        def ask(path: str, body: Any = None) -> tuple[int, Any]:
            answer = self.ask(port, "GET" if body is None else "POST", path, body)
            return answer.status, answer.body

        return ask

    def buy(self, port: int, key: str, body: dict[str, Any], **headers: str) -> Answer:
        return self.ask(port, "POST", SHIPMENTS, body, **{"Idempotency-Key": key} | headers)

    @contextmanager
    def served(self, *, workers: int = 1, threads: int | None = None) -> Iterator[Server]:
        """Serve as in production, by default with its number of threads."""
        with Server(self.variables, self.folder / "service.log", workers=workers, threads=threads) as server:
            # Otherwise the first worker would get all requests.
            server.wait_until(lambda: server.log_text().count("Started worker-") >= workers)
            yield server

    def granian(
        self, application: str, *, workers: int = 1, threads: int, log: str = "service.log", **variables: str
    ) -> Process:
        """Serve a WSGI application with granian itself."""
        command = ["granian", "--interface", "wsgi", "--workers", str(workers), "--blocking-threads", str(threads)]
        return self.module([*command, application], variables, log=log)

    def forking_server(self, **variables: str) -> Process:
        """Serve the kill points from forked children, each replaced as soon as it is killed."""
        return self.module(["tests.drills.forking_server"], variables)

    def module(
        self, words: list[str], variables: dict[str, str], *, port: int = 0, log: str = "service.log"
    ) -> Process:
        """Run a Python module that serves on a port, by default a free one."""
        port = port or free_port()
        command = [sys.executable, "-m", *words, "--port", str(port)]
        return Process(command, self.variables | variables, self.folder / log, port=port)

    def working(self, log: str = "work.log") -> Process:
        """Run the background process."""
        return Process([sys.executable, "manage.py", "work"], self.variables, self.folder / log)

    def reconcile(self, processes: int = 2) -> None:
        """Run the command in several processes at once."""

        def run(_: int) -> None:
            command = [sys.executable, "manage.py", "reconcile_labels"]
            with (self.folder / "service.log").open("ab") as log:
                subprocess.run(command, cwd=ROOT, env=self.variables, stdout=log, stderr=log, check=True)

        with ThreadPoolExecutor(processes) as pool:
            list(pool.map(run, range(processes)))

    def buy_control(self, port: int, carrier: str = "alpha") -> None:
        """Buy a label as other customers do: only where its parcel is found does "not found" mean something."""
        key = new_key()
        self.buy(port, key, order(key, carrier))

    @staticmethod
    def end_pauses() -> None:
        """Let the minutes pass that the reconciliation waits before it takes up the same purchase again."""
        from labels.models import UNFINISHED, ShippingLabel

        now = timezone.now()
        paused = ShippingLabel.objects.filter(state__in=UNFINISHED, ask_again_at__gt=now)
        paused.update(ask_again_at=now - timedelta(seconds=1))


@contextmanager
def environment(database: str, settings: dict[str, object], *, redis: bool = False) -> Iterator[Environment]:
    """Start everything but the service; `settings` are environment variables."""
    os.register_at_fork(before=close_connections)  # a forked process would share them
    with ExitStack() as stack:
        folder = temporary_folder(stack)
        sandbox_port = free_port()
        set_variables(folder, sandbox_settings(sandbox_port))
        if database == "postgresql":
            os.environ["DATABASE_URL"] = stack.enter_context(migrated_postgresql(folder / "pg"))
        else:
            migrated.copy_to(folder / "db.sqlite3")
        if redis:
            os.environ["REDIS_URL"] = stack.enter_context(redis_server(folder / "redis.sock"))
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.support.quick_settings"
        os.environ.update({name: str(value) for name, value in settings.items()})
        stack.enter_context(sandbox(folder, sandbox_port))
        yield Environment(folder, sandbox_port, open_shop())


def temporary_folder(stack: ExitStack) -> Path:
    """Make a folder for a drill, whose processes SIGTERM ends, too."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drill-", ignore_cleanup_errors=True)))


def set_variables(folder: Path, carriers: dict[str, str]) -> None:
    """Set this process's environment for SQLite, without Redis and with files in `folder`."""
    for name in ("REDIS_URL", "LABELS_BUCKET", "DEBUG"):
        os.environ.pop(name, None)
    os.environ.update(ENVIRONMENT | carriers)
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    os.environ["RATE_LIMIT"] = "100000000/60s"  # counted, never reached
    os.environ["LABELS_DIR"] = str(folder / "labels")
    os.environ["DATABASE_URL"] = f"sqlite:///{folder / 'db.sqlite3'}"


def sandbox(folder: Path, port: int) -> Process:
    command = [sys.executable, "-m", "carriers.sandbox", "--port", str(port)]
    command += ["--pace", "1"]  # a parcel that is on its way can't be cancelled
    return Process(command, os.environ, folder / "sandbox.log", port=port)


def sandbox_settings(port: int) -> dict[str, str]:
    """Return the settings that send the service to the sandbox."""
    return urls(f"http://127.0.0.1:{port}")


def tracking_settings() -> dict[str, object]:
    """Return the settings that send questions about parcels to `tests.drills.tracking_stub`, at a free port."""
    url = f"http://127.0.0.1:{free_port()}"
    return {"ALPHA_TRACKING_URL": f"{url}/alpha", "BETA_TRACKING_URL": f"{url}/beta"}


def lease_settings(timeout_s: float, margin_s: float, wait_s: float, calls: int = 16) -> dict[str, object]:
    """Return the settings of how long purchases last and are waited for, and how many a process makes at once."""
    waits: dict[str, object] = {"RECONCILE_WAIT": wait_s, "SETTLE_WAIT": wait_s}
    return waits | {"CARRIER_TIMEOUT": timeout_s, "LEASE_MARGIN": margin_s, "CARRIER_CONCURRENCY": calls}


def bucket_settings(port: int) -> dict[str, str]:
    """Return the settings of a bucket whose endpoint is a port of this machine."""
    return {
        "LABELS_BUCKET": "labels",
        "AWS_S3_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "drill",
        "AWS_SECRET_ACCESS_KEY": "drill",
    }
