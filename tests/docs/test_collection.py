"""The collection of requests, sent from the file that the demonstration writes, as an editor's client sends it."""

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from config.docs.collection import SOURCE, collection
from tests.docs.conftest import Demo

TIMEOUT_S = 30
VARIABLE = re.compile(r"\{\{([^}]+)\}\}")
FROM_ANSWER = re.compile(r"(\w+)\.response\.body\.\$\.(\w+)")


@dataclass(frozen=True)
class Request:
    """A request of the file, its variables still in it."""

    title: str
    status: int
    name: str
    method: str
    url: str
    headers: dict[str, str]
    body: str


def parse(text: str) -> tuple[dict[str, str], list[Request]]:
    """Return the file's variables, and its requests: each begins with ###, and a blank line ends its headers."""
    top, *parts = re.split(r"^### ?", text, flags=re.MULTILINE)
    return dict(re.findall(r"^@(\w+) = (.+)$", top, flags=re.MULTILINE)), [parse_request(part) for part in parts]


def parse_request(part: str) -> Request:
    title, *lines = part.strip().splitlines()
    names = [line.removeprefix("# @name ") for line in lines if line.startswith("# @name ")]
    head, _, body = "\n".join(line for line in lines if not line.startswith("#")).partition("\n\n")
    first, *headers = head.splitlines()
    method, url = first.split(" ")
    status = int(title.rpartition(": ")[2])
    return Request(title, status, "".join(names), method, url, dict(line.split(": ") for line in headers), body)


def filled(text: str, variables: dict[str, str], answers: dict[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        from_answer = FROM_ANSWER.fullmatch(match[1])
        return str(answers[from_answer[1]][from_answer[2]]) if from_answer else variables[match[1]]

    return VARIABLE.sub(value, text)


def send(request: Request, variables: dict[str, str], answers: dict[str, Any]) -> requests.Response:
    return requests.request(
        request.method,
        filled(request.url, variables, answers),
        headers={name: filled(value, variables, answers) for name, value in request.headers.items()},
        data=request.body.encode() or None,
        timeout=TIMEOUT_S,
    )


def answered(demo: Demo) -> Iterator[tuple[Request, requests.Response]]:
    variables, sent = parse(demo.collection.read_text(encoding="utf-8"))
    answers: dict[str, Any] = {}
    for request in sent:
        response = send(request, variables, answers)
        if request.name:
            answers[request.name] = response.json()
        yield request, response


def test_every_request_is_answered_with_the_status_in_its_title(demo: Demo) -> None:
    responses = list(answered(demo))
    assert len(responses) > 15
    wrong = [
        f"{request.title}, not {answer.status_code}" for request, answer in responses if not is_right(request, answer)
    ]
    assert wrong == []


def is_right(request: Request, response: requests.Response) -> bool:
    if response.headers["Content-Type"] == "application/pdf":
        return response.status_code == request.status and response.content.startswith(b"%PDF-")
    body = response.json()
    return response.status_code == request.status == (body.get("statusCode") if is_error(response) else request.status)


def is_error(response: requests.Response) -> bool:
    return response.status_code >= 400


def test_only_its_owner_reads_the_file_with_the_token(demo: Demo) -> None:
    assert stat.S_IMODE(demo.collection.stat().st_mode) == 0o600
    assert str(demo.collection) in demo.printed


def test_the_file_differs_from_the_repositorys_in_address_and_token_only(demo: Demo) -> None:
    variables, _ = parse(demo.collection.read_text(encoding="utf-8"))
    assert variables == {"url": demo.url, "token": demo.token}
    assert collection(**variables) == demo.collection.read_text(encoding="utf-8")
    assert collection(**parse(SOURCE.read_text(encoding="utf-8"))[0]) == SOURCE.read_text(encoding="utf-8")


def test_a_variable_that_the_file_does_not_have_is_refused() -> None:
    with pytest.raises(AssertionError, match="shop"):
        collection(shop="own")


def test_the_page_hands_it_out_with_the_services_own_address(demo: Demo) -> None:
    response = requests.get(f"{demo.url}/docs/parcels.http", timeout=TIMEOUT_S)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.text == collection(url=demo.url)
