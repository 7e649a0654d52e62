"""The rate limit: exact, per shop over tokens and endpoints, with a true Retry-After, whatever the store does."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings
from pytest_django.fixtures import Settings

from shops import tokens
from shops.api import throttling
from tests.support.api import Caller, Clock, Nobody, Response, assert_error
from tests.support.factories import AccessTokenFactory, import_parcel
from tests.support.paths import PARCELS, SEARCH
from tests.support.processes import free_port
from tests.support.proxies import silent_server
from tests.support.threads import Threads, in_threads

FOUND = SEARCH + "?orderName=1"
CROWD = 40
SILENCE_S = 0.6  # a request's wait for a silent store


def left(response: Response) -> int:
    match = re.fullmatch(r'"shop";r=(\d+);t=(\d+)', response["RateLimit"])
    assert match
    assert 1 <= int(match[2]) <= 60
    return int(match[1])


@pytest.fixture
def limit_of_3(settings: Settings, clock: Clock) -> Clock:
    """Three requests a minute, and a stopped clock, so that no window ends during a test."""
    settings.RATE_LIMIT = (3, 60)
    return clock


def test_a_hundred_requests_pass_in_a_window_and_the_next_one_does_not(own: Caller, clock: Clock) -> None:
    responses = [own.get(FOUND) for _ in range(102)]
    assert [response.status_code for response in responses] == [200] * 100 + [429] * 2
    assert [left(response) for response in responses] == [*range(99, -1, -1), 0, 0]
    assert {response["RateLimit-Policy"] for response in responses} == {'"shop";q=100;w=60'}
    assert {"Retry-After" in response.headers for response in responses[:100]} == {False}
    assert_error(responses[100], 429)
    assert "100 requests per 60 seconds" in responses[100].json()["message"]


def test_every_answer_to_a_shop_reports_the_remaining_requests(own: Caller, clock: Clock) -> None:
    parcel = import_parcel(own.shop)
    responses = [
        own.look_up(parcel["trackingId"]),
        own.request("HEAD", PARCELS + parcel["trackingId"]),
        own.look_up("absent"),
        own.get(FOUND),
        own.get(SEARCH),
        own.request("POST", SEARCH),
        own.request("OPTIONS", SEARCH),
        own.get(SEARCH + "?" + "a=1&" * 1100),
    ]
    assert [response.status_code for response in responses] == [200, 200, 404, 200, 400, 405, 405, 400]
    assert [left(response) for response in responses] == list(range(99, 91, -1))


def test_an_unknown_path_is_not_counted(own: Caller, limit_of_3: Clock) -> None:
    for _ in range(5):
        assert own.get("/public/unknown").status_code == 404
    assert left(own.get(FOUND)) == 2


def test_a_refused_request_costs_no_query(own: Caller, limit_of_3: Clock, django_assert_num_queries: Any) -> None:
    for _ in range(3):
        own.get(FOUND)
    with django_assert_num_queries(0):
        assert own.get(FOUND).status_code == 429


@pytest.mark.parametrize("phase", [0, 0.001, 0.5, 0.999, 1, 17.3, 29.999, 58, 59, 59.5, 59.999])
def test_the_request_after_retry_after_succeeds(phase: float, own: Caller, limit_of_3: Clock) -> None:
    clock = limit_of_3
    clock.now_s = clock.now_s // 60 * 60 + phase
    responses = [own.get(FOUND) for _ in range(4)]
    assert [response.status_code for response in responses] == [200, 200, 200, 429]
    wait_s = int(responses[3]["Retry-After"])
    assert 1 <= wait_s <= 60
    assert responses[3]["RateLimit"] == f'"shop";r=0;t={wait_s}'
    clock.tick(wait_s)
    assert left(own.get(FOUND)) == 2


def test_retry_after_is_at_most_a_second_too_long(own: Caller, limit_of_3: Clock) -> None:
    """Two seconds before the time it names, the window still runs."""
    for _ in range(3):
        response = own.get(FOUND)
    wait_s = int(own.get(FOUND)["Retry-After"])
    limit_of_3.tick(wait_s - 2)
    response = own.get(FOUND)
    assert (response.status_code, response["Retry-After"]) == (429, "2")


def test_the_limit_holds_window_after_window(own: Caller, limit_of_3: Clock) -> None:
    own.get(FOUND)
    limit_of_3.tick(60)
    for _ in range(3):
        statuses = Counter(own.get(FOUND).status_code for _ in range(5))
        assert statuses == {200: 3, 429: 2}
        limit_of_3.tick(60)


def test_all_tokens_and_endpoints_of_a_shop_share_its_limit(own: Caller, limit_of_3: Clock) -> None:
    second = Caller(own.shop, AccessTokenFactory(shop=own.shop).secret)
    assert left(own.get(FOUND)) == 2
    assert left(second.look_up("absent")) == 1
    assert left(own.request("POST", SEARCH)) == 0
    assert second.get(FOUND).status_code == own.look_up("absent").status_code == 429


def test_shops_have_limits_of_their_own(own: Caller, other: Caller, limit_of_3: Clock) -> None:
    for _ in range(4):
        response = own.get(FOUND)
    assert response.status_code == 429
    assert left(other.get(FOUND)) == 2


def test_the_limit_is_the_setting(own: Caller, clock: Clock, settings: Settings) -> None:
    settings.RATE_LIMIT = (2, 3600)
    responses = [own.get(FOUND) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert responses[0]["RateLimit-Policy"] == '"shop";q=2;w=3600'


@pytest.mark.parametrize("authorization", [None, "Bearer nonsense", "Basic abc"])
def test_without_a_valid_token_the_address_is_limited(
    authorization: str | None, own: Caller, nobody: Nobody, limit_of_3: Clock
) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    responses = [nobody.get(SEARCH, headers=headers) for _ in range(4)]
    assert [response.status_code for response in responses] == [403, 403, 403, 429]
    assert_error(responses[3], 429)
    assert nobody.get(SEARCH, headers=headers, REMOTE_ADDR="10.9.9.9").status_code == 403
    # A shop behind the same address has a limit of its own.
    assert own.get(FOUND).status_code == 200
    limit_of_3.tick(int(responses[3]["Retry-After"]))
    assert nobody.get(SEARCH, headers=headers).status_code == 403


def test_requests_from_many_threads_are_counted_exactly(transactional_db: None, own: Caller, clock: Clock) -> None:
    own.get(FOUND)
    with Threads(40) as pool:
        statuses = Counter(pool.map(lambda _: own.get(FOUND).status_code, range(299)))
    assert statuses == {200: 99, 429: 200}


# --- The store is down ---


@pytest.fixture
def refusing() -> str:
    return f"redis://127.0.0.1:{free_port()}/0"


@pytest.fixture
def silent() -> Iterator[str]:
    with silent_server() as port:
        yield f"redis://127.0.0.1:{port}/0"


@pytest.fixture(params=["refusing", "silent"])
def store_down(request: pytest.FixtureRequest, settings: Settings) -> None:
    url = request.getfixturevalue(request.param)
    settings.CACHES = django_settings.CACHES | {"rate_limit": store_at(url, socket_timeout=SILENCE_S)}


def store_at(url: str, **options: Any) -> dict[str, Any]:
    backend = "config.redis.counter.CountingRedisCache"
    return {"BACKEND": backend, "LOCATION": [url], "OPTIONS": django_settings.REDIS_OPTIONS | options}


def test_a_store_that_is_down_delays_few_requests(
    own: Caller, nobody: Nobody, store_down: None, caplog: pytest.LogCaptureFixture
) -> None:
    started_at = time.perf_counter()
    responses = [own.get(FOUND) for _ in range(100)]
    refusals = [nobody.get(SEARCH) for _ in range(10)]
    assert time.perf_counter() - started_at < 110 * SILENCE_S / 2  # with a wait for each request it would be twice that
    assert {response.status_code for response in responses} == {200}
    assert {response.status_code for response in refusals} == {403}
    assert {response["RateLimit-Policy"] for response in responses} == {'"shop";q=100;w=60'}
    warnings = [record for record in caplog.records if record.name == "shops.api.throttling"]
    assert warnings
    assert {record.levelname for record in warnings} == {"WARNING"}


def test_while_the_store_is_down_each_process_keeps_the_limit_for_itself(
    own: Caller, nobody: Nobody, clock: Clock, settings: Settings, refusing: str
) -> None:
    settings.CACHES = settings.CACHES | {"rate_limit": store_at(refusing)}
    clock.tick(int(own.get(FOUND)["RateLimit"].partition("t=")[2]))
    answers = [own.get(FOUND) for _ in range(103)]
    assert [left(answer) for answer in answers[:100]] == list(range(99, -1, -1))
    assert [answer.status_code for answer in answers[100:]] == [429] * 3
    assert answers[-1]["Retry-After"] == "60"
    assert [nobody.get(SEARCH).status_code for _ in range(102)] == [403] * 100 + [429] * 2
    clock.tick(60)
    assert left(own.get(FOUND)) == 99


def test_no_valid_token_is_refused_for_what_strangers_at_its_address_sent(
    own: Caller, nobody: Nobody, clock: Clock
) -> None:
    def ask(token: str) -> int:
        return nobody.get(FOUND, headers={"Authorization": f"Bearer {token}"}).status_code

    assert [ask(tokens.new_token()) for _ in range(101)] == [403] * 100 + [429]
    assert [ask(AccessTokenFactory(shop=own.shop).secret) for _ in range(3)] == [200] * 3
    assert ask(tokens.new_token()) == 429
    clock.tick(61)
    assert ask(tokens.new_token()) == 403


def test_the_addresses_of_one_ipv6_network_share_a_limit(nobody: Nobody, clock: Clock) -> None:
    def ask(number: int) -> int:
        return nobody.get(SEARCH, REMOTE_ADDR=f"2001:db8:1:{number // 50:x}::1").status_code

    assert [ask(number) for number in range(1001)] == [403] * 1000 + [429]
    assert nobody.get(SEARCH, REMOTE_ADDR="2001:db8:2::1").status_code == 403


def test_concurrent_requests_wait_for_a_store_that_is_down_at_the_same_time(
    transactional_db: None, own: Caller, store_down: None
) -> None:
    def ask(_: int) -> tuple[int, float]:
        started_at = time.perf_counter()
        return own.get(FOUND).status_code, time.perf_counter() - started_at

    own.get(FOUND)
    throttling.asked_again_at = 0
    answers = in_threads(CROWD, ask)
    assert {status for status, _ in answers} == {200}
    # Waiting one after the other would take twice as long.
    assert max(duration_s for _, duration_s in answers) < CROWD * SILENCE_S / 2


@pytest.mark.real_services
@pytest.mark.parametrize(
    "command", ["CLIENT KILL TYPE normal SKIPME yes", "SCRIPT FLUSH"], ids=["connections cut", "scripts forgotten"]
)
def test_a_restart_of_redis_loses_no_count(command: str, own: Caller, clock: Clock) -> None:
    assert left(own.get(FOUND)) == 99
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.execute_command(command)
    assert left(own.get(FOUND)) == 98


def test_counting_resumes_when_the_store_is_back(
    own: Caller, clock: Clock, settings: Settings, refusing: str, caplog: pytest.LogCaptureFixture
) -> None:
    working = settings.CACHES
    settings.CACHES = working | {"rate_limit": store_at(refusing)}
    assert left(own.get(FOUND)) == 99
    settings.CACHES = working
    clock.tick(5)
    assert left(own.get(FOUND)) == 99
