"""Every error without a code, provoked: its message is the one in the table, which the guide and the schema quote."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from pytest_django.fixtures import Settings

from config.api import bodies
from labels.pdfs import storage
from shops.api.errors.plain import PLAIN_ERRORS
from shops.api.paths import FILES
from tests.config.api.test_bodies import all_held
from tests.config.api.test_errors import broken_database
from tests.labels.orders import order, post
from tests.support.api import Caller, Nobody, Response, assert_error
from tests.support.paths import PARCELS, POINTS, SEARCH, SHIPMENTS, TRACKING

MIB = 2**20


@dataclass(frozen=True)
class World:
    """The callers, and the settings that a case may change."""

    own: Caller
    nobody: Nobody
    settings: Settings


def an_order_with_faults(world: World) -> Response:
    body = order(parcels=[{"weight": 0}])
    del body["destinationAddress"]["city"]
    return post(world.own, body)


def too_many_requests(world: World) -> Response:
    world.settings.RATE_LIMIT = (1, 86_400)  # a window that does not end meanwhile
    world.own.get(SEARCH)
    return world.own.get(SEARCH)


def a_broken_database(world: World) -> Response:
    with broken_database():
        return world.own.get(SEARCH + "?orderName=1")


def an_order_without_a_database(world: World) -> Response:
    with broken_database():
        return post(world.own, order())


def a_test_event_without_a_database(world: World) -> Response:
    with broken_database():
        return world.own.request("POST", f"{TRACKING}/webhooks/we_a1b2c3d4e5f60718/test")


def a_link_to_nothing(world: World) -> Response:
    return world.nobody.get(FILES + storage.signer.sign("labels/2026/11/secret/label-1.pdf"))


def as_many_bodies_as_may_be_read_at_once(world: World) -> Response:
    body_reads = bodies.BodyReadLimit()
    with pytest.MonkeyPatch.context() as patch, all_held(body_reads, threads=2):
        patch.setattr(bodies, "body_reads", body_reads)
        return post(world.own, order())


def over_http(world: World) -> Response:
    world.settings.HTTPS = True
    return world.own.get(SEARCH)


def with_a_token(token: str, path: str) -> Callable[[World], Response]:
    return lambda world: world.nobody.get(path, headers={"Authorization": f"Bearer {token}"})


CASES: list[tuple[str, int, Callable[[World], Response]]] = [
    ("search_without_filter", 400, lambda world: world.own.get(SEARCH)),
    ("query_invalid", 400, lambda world: world.own.get(f"{POINTS}?productCode=relais&zip=69002&city=Lyon&colour=red")),
    ("body_invalid", 400, an_order_with_faults),
    ("body_not_json", 400, lambda world: post(world.own, b"{")),
    ("request_unreadable", 400, lambda world: world.own.get(f"{SEARCH}?{'a=1&' * 1100}")),
    ("host_unknown", 400, lambda world: world.own.get(SEARCH, headers={"Host": "elsewhere.example"})),
    ("https_required", 403, over_http),
    ("token_missing", 401, lambda world: world.nobody.get(f"{SHIPMENTS}/1")),
    ("token_missing", 403, lambda world: world.nobody.get(SEARCH)),
    ("token_invalid", 401, with_a_token("pts_1", f"{SHIPMENTS}/1")),
    ("token_invalid", 403, with_a_token("pts_1", SEARCH)),
    ("link_invalid", 403, lambda world: world.nobody.get(FILES + "labels/altered.pdf")),
    ("parcel_not_found", 404, lambda world: world.own.get(PARCELS + "XU000000020FR")),
    ("label_not_found", 404, lambda world: world.own.get(f"{SHIPMENTS}/0RCRUGWGBZDJINQ")),
    ("webhook_not_found", 404, lambda world: world.own.get(f"{TRACKING}/webhooks/we_a1b2c3d4e5f60718")),
    ("pdf_not_found", 404, a_link_to_nothing),
    ("path_unknown", 404, lambda world: world.own.get(f"{SEARCH}/")),
    ("method_not_allowed", 405, lambda world: world.own.request("DELETE", SEARCH)),
    ("body_too_large", 413, lambda world: post(world.own, b" " * (MIB + 1))),
    ("media_type_unsupported", 415, lambda world: post(world.own, b"<a/>", content_type="text/xml")),
    ("limit_exceeded", 429, too_many_requests),
    ("unexpected", 500, a_broken_database),
    ("orders_held_up", 503, an_order_without_a_database),
    ("held_up", 503, a_test_event_without_a_database),
    ("too_busy", 503, as_many_bodies_as_may_be_read_at_once),
]


def test_every_error_without_a_code_has_a_case() -> None:
    assert {(name, status) for name, status, _ in CASES} == {
        (error.name, int(status)) for error in PLAIN_ERRORS.values() for status in error.statuses
    }


@pytest.mark.parametrize(("name", "status", "ask"), CASES, ids=[f"{name} {status}" for name, status, _ in CASES])
def test_an_error_has_the_message_of_the_table(
    name: str, status: int, ask: Callable[[World], Response], own: Caller, nobody: Nobody, settings: Settings
) -> None:
    response = ask(World(own, nobody, settings))
    said = PLAIN_ERRORS[name].example_message()
    if name == "limit_exceeded":  # with other figures
        assert_error(response, status)
        assert re.sub(r"\d+( seconds?)?", "N", response.json()["message"]) == re.sub(r"\d+( seconds?)?", "N", said)
    else:
        assert_error(response, status, said)
