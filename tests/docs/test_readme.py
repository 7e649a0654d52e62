"""Every example of the README's API, run as it stands there against the running demonstration."""

import json
import re
import shlex
import sys
from pathlib import Path

import orjson

from config.docs.guide import PAGES
from config.docs.openapi.document import example
from config.docs.openapi.views import as_json
from shops.api.errors.coded import CODES
from shops.api.errors.plain import PLAIN_ERRORS
from tests.docs.conftest import Demo, run
from tests.support.paths import SHIPMENTS
from tests.support.processes import ROOT

CURL = shlex.join([sys.executable, str(Path(__file__).with_name("curl.py"))])
README = ROOT / "README.md"
PURCHASE = re.compile(r'-H "Idempotency-Key: ([^"]+)".*?-d \'(.*?)\'', re.DOTALL)
LABEL = re.compile(r'(?<="id":")0[0-9A-Z]{14}')
# What is another each time, and what stands for it in both texts; a label's URL comes before what it contains.
VARYING = {
    r"https?://127\.0\.0\.1:\d+/files/labels/[^\"]+": "<url>",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z": "<time>",
    r'(?<="trackingNumber":")XU\d{9}FR': "<number>",
    r"\b0[0-9A-Z]{14}\b": "<label>",
    r"\b1[78]\d{11}\b": "<milliseconds>",
    r"\b[0-9a-f]{32}\b": "<request>",
    r"r=\d+;t=\d+": "r=<left>;t=<seconds>",
}


def examples() -> list[tuple[str, str]]:
    """Each command of the README that asks the API, with the answer shown below it."""
    blocks = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", README.read_text(encoding="utf-8"), re.MULTILINE)
    commands = [command for block in blocks for command in re.split(r"^ {4}\$ ", block, flags=re.MULTILINE)[1:]]
    return [split(command) for command in commands if "/public/" in command]


def split(text: str) -> tuple[str, str]:
    """Tell a command, which ends where its quotes and backslashes do, from its answer."""
    lines = text.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        command = "".join(lines[:number])
        if is_whole(command):
            return command, "".join(lines[number:])
    raise ValueError(f"the command has no end: {text}")


def is_whole(command: str) -> bool:
    try:
        shlex.split(command)
    except ValueError:
        return False
    return not command.endswith("\\\n")


def comparable(text: str) -> str:
    for pattern, name in VARYING.items():
        text = re.sub(pattern, name, text)
    return text


def pieces(answer: str) -> list[str]:
    """The parts of a shown answer that must be there word for word: each header, and the body between three dots."""
    head, _, body = answer.rpartition("\n\n") if answer.startswith("    HTTP/") else ("", "", answer)
    joined = re.sub(r"\n {4} ?", "", f"\n{body}").strip()
    return [part for text in (*head.splitlines(), *joined.split("...")) if (part := text.strip(" ,"))]


def test_every_example_is_answered_as_shown(own_demo: Demo) -> None:
    shown_label = bought_label = "0"
    for command, shown in examples():
        own = command.replace(shown_label, bought_label).replace("curl ", f"{CURL} ", 1)
        output = own_demo.read(["sh", "-euc", own])
        missing = [piece for piece in pieces(comparable(shown)) if piece not in comparable(output)]
        assert missing == [], f"{command}{output}"
        assert ('"statusCode":' in output) == ('"statusCode":' in shown), f"{command}{output}"
        assert output != "[]", command
        if '"labelUrl"' in shown:
            shown_label, bought_label = LABEL.findall(shown)[0], LABEL.findall(output)[0]


def test_its_commands_run_beside_the_demonstration(demo: Demo) -> None:
    commands = re.findall(r"^ {4}\$ (.* manage\.py .*)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [command.split(" manage.py ")[1].split()[0] for command in commands] == ["create_webhook"]
    environment = {name: value for name, value in demo.environment.items() if name != "DEBUG"}
    for command in commands:
        printed = run(["sh", "-euc", command.replace(".venv/bin/python", shlex.quote(sys.executable))], environment)
        demo.command("revoke_webhook", printed.strip())


def test_the_examples_are_found() -> None:
    """One of each kind, in the README's order, and an error."""
    paths = [re.findall(r"/v1/tracking/([\w-]+)(\?\w+)?", command)[0] for command, _ in examples()]
    expected = [("parcels", ""), ("search", "?orderName"), ("search", "?email"), ("shipments", ""), ("shipments", "")]
    expected += [("shipments", "?createdFrom"), ("pickup-points", "?productCode")]
    assert paths == [*expected, ("parcels", "")]


def test_every_code_and_every_status_of_an_error_is_in_its_tables() -> None:
    errors = README.read_text(encoding="utf-8").partition("\n## Errors\n")[2].partition("\n## ")[0]
    rows = [row.split("|")[1:3] for row in errors.splitlines() if row.startswith("| ")]
    words = {word.strip(" `"): second.strip() for first, second in rows for word in first.split(",")}
    for entry in (*PLAIN_ERRORS.values(), *CODES.values()):
        assert {str(int(status)) for status in entry.statuses} <= words.keys(), entry.name
        if entry.code:
            code = re.sub("^(ALPHA|BETA)_", "..._", entry.code)
            assert words.get(code) == str(int(entry.statuses[0])), code


def test_the_status_without_a_valid_token_is_told_of_all_paths() -> None:
    description = orjson.loads(as_json())
    paths = [methods for path, methods in description["paths"].items() if path.startswith("/public/")]
    operations = [each for methods in paths for each in methods.values()]
    assert {each["tags"][0] for each in operations if "401" not in each["responses"]} == {"parcels"}
    for text in (
        README.read_text(encoding="utf-8"),
        PAGES[0].source.read_text(encoding="utf-8"),
        *(PLAIN_ERRORS[name].cause for name in ("token_missing", "token_invalid")),
    ):
        assert "403 for parcels, 401 for all else" in " ".join(text.split())


def test_a_key_stands_for_one_order_in_the_readme_the_guide_and_the_reference() -> None:
    """A reader who tries all of them would get a 422 otherwise."""
    texts = [path.read_text(encoding="utf-8") for path in (README, *(page.source for page in PAGES))]
    orders = [(key, json.loads(body)) for text in texts for key, body in PURCHASE.findall(text)]
    description = orjson.loads(as_json())
    (parameter,) = description["paths"][SHIPMENTS]["post"]["parameters"]
    orders += [(each["value"], example("order")) for each in parameter["examples"].values()]
    assert len(orders) > 3
    for key, order in orders:
        assert all(other == order for other_key, other in orders if other_key == key), key
