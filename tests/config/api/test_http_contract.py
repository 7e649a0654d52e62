"""Headers of every answer; the contents of log lines, and what they must not contain."""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.db import connection

from config.api import fast_path
from config.ops.logs import JsonFormatter, TextFormatter
from tests.support.api import Caller, Nobody, Response
from tests.support.factories import import_parcel
from tests.support.paths import SEARCH

FORMATTERS: dict[str, type[logging.Formatter]] = {"json": JsonFormatter, "text": TextFormatter}


@contextmanager
def formatted(caplog: pytest.LogCaptureFixture, kind: str) -> Iterator[None]:
    """Write the captured log as the service would."""
    handler, before = caplog.handler, caplog.handler.formatter
    handler.setFormatter(FORMATTERS[kind]())
    yield
    handler.setFormatter(before)


def answers(own: Caller, nobody: Nobody) -> list[Response]:
    """One answer of each kind there is."""
    found = import_parcel(own.shop)
    responses = [
        own.look_up(found["trackingId"]),
        own.search(orderName=found["orderNumber"]),
        own.request("HEAD", SEARCH),
        own.look_up("absent"),
        own.get(SEARCH),
        own.request("POST", SEARCH),
        own.get("/public/unknown"),
        own.get(SEARCH, headers={"Host": "evil.example"}),
        nobody.get(SEARCH),
    ]
    assert [response.status_code for response in responses] == [200, 200, 400, 404, 400, 405, 404, 400, 403]
    return responses


def test_every_answer_has_an_id_of_its_own_and_a_length_is_not_stored_and_sets_no_cookie(
    own: Caller, nobody: Nobody
) -> None:
    seen = answers(own, nobody)
    ids = [response["X-Request-Id"] for response in seen]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[0-9a-f-]{32,36}", id_) for id_ in ids)
    assert {response["Cache-Control"] for response in seen} == {"no-store"}
    for response in seen:
        assert ("Allow" in response.headers) == (response.status_code == 405)
        if response.request["REQUEST_METHOD"] != "HEAD":
            assert response["Content-Length"] == str(len(response.content))
        assert not response.cookies


def test_a_request_id_that_a_client_sends_is_not_taken_over(nobody: Nobody) -> None:
    response = nobody.get(SEARCH, headers={"X-Request-Id": "forged"})
    assert "forged" not in str(response.headers)


@pytest.mark.parametrize("kind", FORMATTERS)
def test_a_request_has_one_line_with_its_id_and_facts(kind: str, own: Caller, caplog: pytest.LogCaptureFixture) -> None:
    with formatted(caplog, kind):
        response = own.look_up("absent")
    lines = [line for line in caplog.text.splitlines() if "service.request" in line]
    assert len(lines) == 1
    for fact in ("GET", "404", "own", response["X-Request-Id"]):
        assert fact in lines[0]
    if kind == "json":
        line: dict[str, Any] = json.loads(lines[0])
        assert line["request_id"] == response["X-Request-Id"]
        assert (line["method"], line["status"], line["shop"], line["level"]) == ("GET", 404, "own", "INFO")
        assert line["duration_ms"] >= 0


def test_what_the_fast_path_logs_has_the_id_of_djangos_answer(
    own: Caller, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_path, "found_for_shop", Mock(side_effect=RuntimeError))
    with formatted(caplog, "json"):
        response = own.look_up("absent")
    lines = [json.loads(line) for line in caplog.text.splitlines()]
    assert [line["message"] for line in lines] == ["fast path failed", "request"]
    assert {line["request_id"] for line in lines} == {response["X-Request-Id"]}


@pytest.mark.parametrize("kind", FORMATTERS)
def test_no_line_holds_a_token_a_customers_data_or_a_query(
    kind: str, own: Caller, nobody: Nobody, caplog: pytest.LogCaptureFixture
) -> None:
    parcel = import_parcel(own.shop, trackingId="NUMBER-7", orderNumber="ORDER-7", customerEmail="some.one@example.com")
    with formatted(caplog, kind):
        assert own.look_up("NUMBER-7").status_code == 200
        assert own.look_up("NUMBER-8").status_code == 404
        assert own.search(orderName="ORDER-7", email="some.one@example.com").status_code == 200
        assert own.get(SEARCH + "?email=&other=some.one@example.com").status_code == 400
        assert own.request("POST", SEARCH, data=b'{"email": "some.one@example.com"}').status_code == 405
        assert own.get("/public/some.one@example.com").status_code == 404
        assert own.get(SEARCH, headers={"Host": "some.one.example.com"}).status_code == 400
        assert nobody.get(SEARCH, headers={"Authorization": f"Bearer {own.token}x"}).status_code == 403
        with connection.execute_wrapper(refuse_with_customer_data):
            assert own.look_up("NUMBER-7").status_code == 500
            assert own.search(email="some.one@example.com").status_code == 500
    assert caplog.text.count("service.request") == 12  # the fast path's two failures are lines of their own
    hidden = [own.token, own.token[4:34], "some.one", "NUMBER-", "ORDER-", "Authorization"]
    hidden += [parcel["destination"]["lastName"], parcel["destination"]["address1"]]
    for text in hidden:
        assert text not in caplog.text


def refuse_with_customer_data(execute: Any, sql: str, params: Any, many: Any, context: Any) -> None:
    """Fail as PostgreSQL does, which quotes values: those of the statement are a number or an e-mail here."""
    raise RuntimeError(f"DETAIL: Key=({params})")


def test_the_models_and_the_migrations_agree(db: None) -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
