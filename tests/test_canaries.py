"""1,000 requests full of canaries leave none in a log, a metric, an error or Redis.

A canary is a word that occurs once. They are wherever a client can put text: on every route, on the way to every error,
with carriers, a database, a Redis and a storage that fail.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.contrib.auth.models import User
from django.test import Client

from carriers.sandbox.server import SandboxServer
from shops.models import Shop
from tests.labels.factories import ContractFactory
from tests.labels.orders import PRODUCT
from tests.support.canaries import (
    Answered,
    Asked,
    ask_all,
    ask_in_turn,
    bad_orders,
    bearing,
    canary,
    everywhere,
    failures,
    form,
    found_in,
    full_order,
    orders,
    phone,
    posted,
    reads,
    staffs,
    strangers,
)
from tests.support.factories import AccessTokenFactory, ShopFactory, import_parcel
from tests.support.paths import PARCELS
from tests.support.processes import Server, environment, free_port, run_command, served
from tests.support.programs import Process
from tests.support.sql import execute
from tests.support.telemetry import Receiver
from tests.support.waiting import until

pytestmark = pytest.mark.real_services
PAGES = (
    *("/livez", "/readyz", "/docs", "/docs/labels", "/docs/refusals", "/docs/reference", "/docs/changelog"),
    *("/docs/parcels.http", "/docs/search.json", "/llms.txt", "/openapi.json", "/openapi.yaml", "/"),
)
# Every status there is, but for the 409 of two requests at once.
EXPECTED = {200, 201, 302, 400, 401, 403, 404, 405, 413, 415, 422, 429, 500, 502}


def told(answers: Iterable[Answered]) -> list[tuple[str, str, list[bytes]]]:
    """The errors of the API, and the answers to probes, that show what a client wrote."""
    return [
        (answer.asked.method, answer.asked.target, found)
        for answer in answers
        if answer.status >= 400 and answer.asked.target.startswith(("/public/", "/files/", "/livez", "/readyz"))
        if (
            found := [
                each for each in found_in(answer.body + answer.head.encode()) if each.decode() != answer.asked.shown
            ]
        )
    ]


def stored() -> bytes:
    """All of Redis, keys and values."""
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as store:
        keys = store.keys("*")
        return b"\n".join([*keys, *(store.dump(key) or b"" for key in keys), *(value(store, key) for key in keys)])


def value(store: Any, key: bytes) -> bytes:
    """A string, or a hash's names and values."""
    if store.type(key) == b"hash":
        return b"\n".join(part for pair in store.hgetall(key).items() for part in pair)
    return store.get(key) or b""


def figures(server: Server) -> bytes:
    (answer,) = ask_in_turn(server.metrics_port, [Asked("GET", f"/metrics?{canary()}", everywhere())])
    return answer.body


@pytest.fixture
def sandbox() -> Iterator[dict[str, str]]:
    with SandboxServer() as server:
        yield {
            **{name: server.urls[name] for name in ("ALPHA_URL", "ALPHA_TRACKING_URL", "ALPHA_POINTS_URL", "BETA_URL")},
            "CARRIER_TIMEOUT": "2",
            "CARRIER_CONCURRENCY": "8",
        }


@pytest.fixture
def shop(transactional_db: None) -> Shop:
    made: Shop = ShopFactory(name=canary())
    ContractFactory(shop=made, carrier_code="alpha")
    ContractFactory(shop=made, carrier_code="beta", password=canary(), commercial_name=canary())
    return made


def session() -> str:
    """The cookie of a member of staff who has logged in."""
    client = Client()
    client.force_login(User.objects.create_superuser(canary(), f"{canary()}@mail.example", canary()))
    return client.cookies["sessionid"].value


def test_what_clients_write_and_what_is_secret_is_nowhere(shop: Shop, sandbox: dict[str, str], tmp_path: Path) -> None:
    token, staff = AccessTokenFactory(shop=shop).secret, session()
    reader = ShopFactory()
    reading = AccessTokenFactory(shop=reader).secret
    known = {"trackingId": canary(), "customerEmail": f"{canary()}@mail.example"}
    import_parcel(reader, **known)
    settings = sandbox | {"LABELS_DIR": str(tmp_path / "labels"), "RATE_LIMIT": "300/31d", "TRUSTED_PROXIES": "1"}
    answers: list[Answered] = []
    with served(tmp_path / "log", settings, threads=20, with_metrics=True) as server:
        answers += [failing_insert(server.port, token)]  # while every circuit breaker is closed
        answers += ask_all(server.port, [*orders(token), *bad_orders(token)])
        answers += ask_all(server.port, [*reads(reading, known), *strangers(), *staffs(staff)])
        answers += ask_all(server.port, failures(token))
        answers += ask_all(server.port, [Asked("GET", path, everywhere()) for path in PAGES])
        numbers = figures(server)
    _, out, errors = run_command("reconcile_labels")
    written, kept = server.log.read_bytes() + out.encode() + errors.encode(), stored()

    assert len(answers) >= 1000
    assert {answer.status for answer in answers} >= EXPECTED
    assert b"outcome_unknown" in written + numbers
    assert b"rate_limit" in kept or b":1:" in kept
    assert told(answers) == []
    assert (found_in(written), found_in(numbers), found_in(kept)) == ([], [], [])
    for secret in (token, token[4:34], reading, staff):
        assert secret.encode() not in written + numbers + kept
    # The same search finds what is there: the number that a 404 names by its specification, and what is put there.
    assert [answer for answer in answers if answer.asked.shown and answer.asked.shown.encode() in answer.body]
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as store:
        store.set(canary(), phone())
    assert len(set(found_in(stored()))) == 2


def test_nor_is_it_when_the_database_the_counter_and_the_storage_fail(
    shop: Shop, sandbox: dict[str, str], tmp_path: Path
) -> None:
    token, closed = AccessTokenFactory(shop=shop).secret, f"127.0.0.1:{free_port()}"
    failing = sandbox | {
        "CARRIER_TIMEOUT": "20",
        "REDIS_URL": f"redis://:{canary()}@{closed}/0",
        "LABELS_BUCKET": canary().lower(),
        "AWS_S3_ENDPOINT_URL": f"http://{closed}",
        "AWS_ACCESS_KEY_ID": canary(),
        "AWS_SECRET_ACCESS_KEY": canary(),
    }
    without = failing | {"DATABASE_URL": f"postgresql://{canary()}:{canary()}@{closed}/{canary()}"}
    seen: Counter[int] = Counter()
    for settings in (failing, without):
        with served(tmp_path / "log", settings, threads=8, with_metrics=True) as server:
            requests = [posted(token, full_order(product)) for product in PRODUCT.values()]
            requests += [Asked("GET", PARCELS + (number := canary()), bearing(token), shown=number) for _ in range(3)]
            requests += [Asked("GET", f"/admin/login/?{canary()}", everywhere())]
            requests += [Asked("POST", "/admin/login/", *form({"username": canary()}, Cookie=f"sessionid={canary()}"))]
            requests += [Asked("GET", "/admin/", everywhere()), Asked("GET", "/readyz", everywhere())]
            answers = ask_all(server.port, requests)
            assert (told(answers), found_in(figures(server))) == ([], [])
        seen.update(answer.status for answer in answers)
        assert found_in(server.log.read_bytes()) == []
    assert seen[500] == 2 + 3 + 2
    assert [answer.status for answer in answers].count(503) == 2 + 1  # orders and /readyz, without a database


def test_nor_does_it_leave_with_traces_and_error_reports(shop: Shop, sandbox: dict[str, str], tmp_path: Path) -> None:
    """The worker sends the rest at its end, after SIGTERM."""
    token = AccessTokenFactory(shop=shop).secret
    requests = [posted(token, full_order(product)) for product in PRODUCT.values()]
    requests += [
        posted(token, full_order(PRODUCT["alpha"], reference=f"FAULT {fault}"))
        for fault in ("reset", "html200", "cutoff")
    ]
    requests += [
        *(posted(token, full_order("relais")), posted(token, full_order("alpha-13"), **{"Idempotency-Key": "K" * 300})),
        *(Asked("GET", f"{PARCELS}{canary()}?{canary()}", bearing(token)), Asked("GET", f"/{canary()}", everywhere())),
    ]
    with Receiver() as receiver:
        settings = sandbox | receiver.settings | {"LABELS_DIR": str(tmp_path / "labels"), "RATE_LIMIT": "300/31d"}
        with served(tmp_path / "log", settings, threads=8) as server:
            answers = [failing_insert(server.port, token), *ask_in_turn(server.port, requests)]
        sent = receiver.everything()
    assert {answer.status for answer in answers} == {201, 400, 404, 500, 502}
    names = Counter(span.name for span in receiver.spans())
    assert names.keys() == {"order", "reserve", "carrier", "point", "call", "finish", "store"}
    assert names["store"] == 3
    assert [report["transaction"] for report in receiver.reports()] == ["labels"]
    assert found_in(sent) == []
    for secret in (token, token[4:34]):
        assert secret.encode() not in sent


def test_a_server_that_logs_what_clients_write_is_found_out(shop: Shop, tmp_path: Path) -> None:
    """The control: the same requests, and an access log as servers commonly write it."""
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port := free_port())]
    shown = "%(path)s?%(query_string)s %(header{User-Agent})s"
    command += ["--access-log", "--access-log-fmt", shown, "config.wsgi:application"]
    with Process(command, environment(), tmp_path / "log", port=port):
        ask_all(port, [Asked("GET", f"{PARCELS}{canary()}?{canary()}", everywhere()) for _ in range(10)])
        until(lambda: len(set(found_in((tmp_path / "log").read_bytes()))) == 30)


def failing_insert(port: int, token: str) -> Answered:
    """Order a label that the database refuses with a text that quotes the whole row."""
    execute("ALTER TABLE labels_shippinglabel ADD CONSTRAINT refused CHECK (false) NOT VALID")
    asked = posted(token, full_order("alpha-13"))
    del asked.headers["Idempotency-Key"]  # or the refusal would count as a reused key
    (answer,) = ask_in_turn(port, [asked])
    execute("ALTER TABLE labels_shippinglabel DROP CONSTRAINT refused")
    assert answer.status == 500
    return answer
