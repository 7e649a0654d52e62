"""The collection of requests, sent from the file that the demonstration writes, as an editor's client sends it."""

import re
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from django.core.management import CommandError

from config.docs.collection import SOURCE, collection
from config.management.commands.demo import write_collection
from tests.docs.conftest import Demo
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS

TIMEOUT_S = 60
VARIABLE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Request:
    """A request of the file, its variables still in it."""

    title: str
    status: int
    method: str
    url: str
    headers: dict[str, str]
    body: str


def parse(text: str) -> tuple[dict[str, str], list[Request]]:
    """Return the file's variables, and its requests: each begins with ###, and a blank line ends its headers."""
    top, *parts = re.split(r"^### ", text, flags=re.MULTILINE)
    return dict(re.findall(r"^@(\w+) = (.+)$", top, flags=re.MULTILINE)), [parse_request(part) for part in parts]


def parse_request(part: str) -> Request:
    title, _, rest = part.strip().partition("\n")
    head, _, body = rest.partition("\n\n")
    first, *headers = head.splitlines()
    method, url = first.split(" ")
    return Request(title, int(title.rpartition(": ")[2]), method, url, dict(h.split(": ") for h in headers), body)


def send(request: Request, variables: dict[str, str]) -> requests.Response:
    def filled(text: str) -> str:
        return VARIABLE.sub(lambda match: variables[match[1]], text)

    return requests.request(
        request.method,
        filled(request.url),
        headers={name: filled(value) for name, value in request.headers.items()},
        data=request.body.encode() or None,
        timeout=TIMEOUT_S,
    )


def test_every_request_is_answered_with_the_status_in_its_title(demo: Demo) -> None:
    variables, sent = parse(demo.collection.read_text(encoding="utf-8"))
    assert {(request.method, request.url.partition("?")[0]) for request in sent} >= {
        ("GET", f"{{{{url}}}}{PARCELS}XU000000020FR"),
        ("GET", f"{{{{url}}}}{SEARCH}"),
        ("POST", f"{{{{url}}}}{SHIPMENTS}"),
        ("GET", f"{{{{url}}}}{SHIPMENTS}/{{{{label}}}}"),
    }
    answers = {request.title: send(request, variables) for request in sent}
    assert len(answers) == len(sent)
    assert {title: answer.status_code for title, answer in answers.items()} == {
        request.title: request.status for request in sent
    }
    assert all(isinstance(answer.json(), dict | list) for answer in answers.values())


def test_only_its_owner_reads_the_file_with_the_token(demo: Demo) -> None:
    assert stat.S_IMODE(demo.collection.stat().st_mode) == 0o600
    assert str(demo.collection) in demo.printed


def test_the_file_differs_from_the_repositorys_in_its_variables_only(demo: Demo) -> None:
    variables, _ = parse(demo.collection.read_text(encoding="utf-8"))
    assert variables == {"url": demo.url, "token": demo.token, "label": variables["label"]}
    assert collection(**variables) == demo.collection.read_text(encoding="utf-8")
    assert collection(**parse(SOURCE.read_text(encoding="utf-8"))[0]) == SOURCE.read_text(encoding="utf-8")


def test_a_variable_that_the_file_does_not_have_is_refused() -> None:
    with pytest.raises(AssertionError, match="shop"):
        collection(shop="own")


def test_the_postman_collection_has_every_operation_and_sends_it_as_described(demo: Demo) -> None:
    made = requests.get(f"{demo.url}/docs/postman.json", timeout=TIMEOUT_S).json()
    described = requests.get(f"{demo.url}/openapi.json", timeout=TIMEOUT_S).json()["paths"]
    operations = {(method.upper(), path) for path, methods in described.items() for method in methods}
    sent = [item["request"] for folder in made["item"] for item in folder["item"]]
    written = {
        (each["method"], re.sub(r":(\w+)", r"{\1}", each["url"]["raw"].removeprefix("{{url}}"))) for each in sent
    }
    assert written == operations
    assert made["variable"][0] == {"key": "url", "value": demo.url}
    for each in sent:
        path = "/".join(each["url"]["path"])
        for variable in each["url"]["variable"]:
            path = path.replace(f":{variable['key']}", variable["value"])
        query = {one["key"]: one["value"] for one in each["url"]["query"] if not one["disabled"]}
        headers = {one["key"]: one["value"] for one in each["header"]} | {"Authorization": f"Bearer {demo.token}"}
        body = each.get("body", {}).get("raw", "").encode() or None
        answer = requests.request(
            each["method"], f"{demo.url}/{path}", params=query, headers=headers, data=body, timeout=TIMEOUT_S
        )
        # The examples' own ids are nobody's.
        expected = {200, 201, 403, 404} | ({400} if path.endswith("webhooks") else set())
        assert answer.status_code in expected, (path, answer.text)


def test_the_demonstration_names_the_guide(demo: Demo) -> None:
    assert f"{demo.url}/docs\n" in demo.printed
    assert requests.get(f"{demo.url}/docs", timeout=TIMEOUT_S).status_code == 200


def test_a_file_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match=r"^--collection .*parcels\.http can't be written: .*exists"):
        write_collection(tmp_path / "file" / "parcels.http", token="token")


def test_the_page_hands_it_out_with_the_services_own_address(demo: Demo) -> None:
    response = requests.get(f"{demo.url}/docs/parcels.http", timeout=TIMEOUT_S)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.text == collection(url=demo.url)
