"""The status of every route and method for every kind of token."""

from collections.abc import Callable, Iterator

import pytest
from django.core.cache import caches

from labels.models import LabelState
from shops import tokens
from shops.models import Shop
from shops.webhooks import signing
from shops.webhooks.models import WebhookEndpoint
from tests.config.test_openapi import names_of_routes
from tests.labels.factories import LabelFactory
from tests.support.api import Caller, assert_error, client, forget
from tests.support.factories import AccessTokenFactory, import_parcel
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS, TRACKING, VERSION

pytestmark = pytest.mark.any_database

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "X" * 100]
NUMBER = "6A18523767336"
ORDER = "#1450"
LABEL, CANCELLED = "0RCR53LVC41HNO2", "0RCR53LVC41HNO3"
WEBHOOK = f"{TRACKING}/webhooks/we_a1b2c3d4e5f60718"

# A path of each route, and what the shop that owns the parcel, another shop, and a caller without a valid token get.
ROUTES = {
    "parcel": (PARCELS + NUMBER, {"GET": (200, 404, 403), "HEAD": (200, 404, 403)}, (405, 405, 403)),
    "parcel-search": (
        SEARCH + "?orderName=%231450",
        {"GET": (200, 200, 403), "HEAD": (200, 200, 403)},
        (405, 405, 403),
    ),
    "labels": (
        f"{SHIPMENTS}?trackingNumber={NUMBER}",
        {"GET": (200, 200, 401), "HEAD": (200, 200, 401), "POST": (400, 400, 401)},
        (405, 405, 401),
    ),
    "label": (f"{SHIPMENTS}/{LABEL}", {"GET": (200, 404, 401), "HEAD": (200, 404, 401)}, (405, 405, 401)),
    "order-check": (f"{SHIPMENTS}/check", {"POST": (400, 400, 401)}, (405, 405, 401)),
    "pickup-points": (
        f"{TRACKING}/pickup-points?productCode=relais&zip=69002&city=Lyon&colour=red",
        {"GET": (400, 400, 401), "HEAD": (400, 400, 401)},
        (405, 405, 401),
    ),
    "label-cancellation": (f"{SHIPMENTS}/{CANCELLED}/cancel", {"POST": (200, 404, 401)}, (405, 405, 401)),
    "events": (f"{TRACKING}/events", {"GET": (200, 200, 401), "HEAD": (200, 200, 401)}, (405, 405, 401)),
    "webhooks": (
        f"{TRACKING}/webhooks",
        {"GET": (200, 200, 401), "HEAD": (200, 200, 401), "POST": (400, 400, 401)},
        (405, 405, 401),
    ),
    "webhook": (
        WEBHOOK,
        {**dict.fromkeys(("GET", "HEAD"), (200, 404, 401)), "PATCH": (400, 404, 401), "DELETE": (204, 404, 401)},
        (405, 405, 401),
    ),
    "webhook-secret": (f"{WEBHOOK}/rotate-secret", {"POST": (200, 404, 401)}, (405, 405, 401)),
    "webhook-test": (f"{WEBHOOK}/test", {"POST": (202, 404, 401)}, (405, 405, 401)),
    "webhook-replay": (f"{WEBHOOK}/replay", {"POST": (400, 404, 401)}, (405, 405, 401)),
    "webhook-deliveries": (f"{WEBHOOK}/deliveries", dict.fromkeys(("GET", "HEAD"), (200, 404, 401)), (405, 405, 401)),
    "label-file": ("/files/unsigned", {"GET": (403, 403, 403), "HEAD": (403, 403, 403)}, (405, 405, 405)),
    "unknown-path": (f"{VERSION}/unknown", {}, (404, 404, 404)),
}


def mistyped() -> str:
    token = tokens.new_token()
    return token[:-1] + ("a" if token[-1] != "a" else "b")


# Ways to send no valid token: the value of the Authorization header.
REFUSED: dict[str, Callable[[], str | None]] = {
    "no token": lambda: None,
    "empty": lambda: "",
    "no scheme": tokens.new_token,
    "another scheme": lambda: "Basic dXNlcjpwYXNzd29yZA==",
    "scheme alone": lambda: "Bearer",
    "malformed": lambda: "Bearer abc",
    "not ASCII": lambda: "Bearer é\xff",
    "two tokens": lambda: f"Bearer {tokens.new_token()} {tokens.new_token()}",
    "mistyped checksum": lambda: f"Bearer {mistyped()}",
    "unknown": lambda: f"Bearer {tokens.new_token()}",
    "expired": lambda: f"Bearer {AccessTokenFactory(is_expired=True).secret}",
    "revoked": lambda: f"Bearer {AccessTokenFactory(is_revoked=True).secret}",
    "inactive shop": lambda: f"Bearer {AccessTokenFactory(shop__is_active=False).secret}",
    "another shop's digest": lambda: f"Bearer {AccessTokenFactory().digest}",
    "the token's id": lambda: f"Bearer {AccessTokenFactory().id}",
}


def own_what_the_paths_name(shop: Shop) -> None:
    import_parcel(shop, trackingId=NUMBER, orderNumber=ORDER)
    endpoint = WebhookEndpoint(id=WEBHOOK.rpartition("/")[2], shop=shop, url="https://shop.example/")
    endpoint.set_secret(signing.new_secret())
    endpoint.save()
    for label_id, state in {LABEL: LabelState.GENERATED, CANCELLED: LabelState.CANCELLED}.items():
        LabelFactory(shop=shop, id=label_id, state=state, tracking_numbers=[NUMBER])


def test_every_route_is_in_the_matrix() -> None:
    assert {*names_of_routes(), "unknown-path"} == set(ROUTES)


@pytest.mark.parametrize("route", ROUTES)
def test_the_status_of_each_method_on_each_route(route: str, own: Caller, other: Caller) -> None:
    path, methods, otherwise = ROUTES[route]
    own_what_the_paths_name(own.shop)
    length = own.get(path)["Content-Length"]
    for method in METHODS:
        own_status, other_status, _ = methods.get(method, otherwise)
        responses = own.request(method, path), other.request(method, path)
        if (method, own_status) == ("HEAD", 200):
            assert (responses[0]["Content-Length"], responses[0].content) == (length, b"")
        assert [response.status_code for response in responses] == [own_status, other_status], method
        for response in responses:
            allowed = set(methods) if response.status_code == 405 else set()
            assert set(filter(None, response.get("Allow", "").split(", "))) == allowed, method
            if response.status_code >= 400 and method != "HEAD":
                assert_error(response, response.status_code)
            assert ("Content-Length" in response.headers) == (response.status_code != 204), method


def refusals(kind: str) -> Iterator[tuple[str, str, int]]:
    """Each method without a token; any other way is told before the method is looked at: one that the route has."""
    for path, methods, otherwise in ROUTES.values():
        for method in METHODS if kind == "no token" else [next(iter(methods), "GET")]:
            *_, refused = methods.get(method, otherwise)
            yield method, path, refused


@pytest.mark.parametrize("kind", REFUSED)
def test_nothing_is_answered_without_a_valid_token(kind: str, own: Caller) -> None:
    own_what_the_paths_name(own.shop)
    authorization = REFUSED[kind]()
    headers = {} if authorization is None else {"Authorization": authorization}
    for method, path, refused_status in refusals(kind):
        forget()  # refusals are counted
        caches["rate_limit"].clear()
        response = client().generic(method, path, headers=headers)
        assert response.status_code == refused_status, (method, path)
        assert NUMBER not in response.content.decode()
        # A challenge makes the difference between a 401 and a 403.
        assert ("WWW-Authenticate" in response.headers) == (refused_status == 401), (method, path)
        if method != "HEAD":
            assert_error(response, refused_status)


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "Bearer   ", "  Bearer "])
def test_the_scheme_is_read_in_any_case_and_spacing(scheme: str, own: Caller) -> None:
    parcel = import_parcel(own.shop)
    response = client().get(PARCELS + parcel["trackingId"], headers={"Authorization": scheme + own.token})
    assert response.status_code == 200


def test_a_shop_with_several_tokens_is_one_shop(own: Caller) -> None:
    parcel = import_parcel(own.shop)
    second = Caller(own.shop, AccessTokenFactory(shop=own.shop).secret)
    assert second.look_up(parcel["trackingId"]).json() == own.look_up(parcel["trackingId"]).json() == parcel


def test_a_token_in_the_query_is_no_token(own: Caller) -> None:
    parcel = import_parcel(own.shop)
    response = client().get(PARCELS + parcel["trackingId"], query_params={"access_token": own.token})
    assert_error(response, 403)


def test_a_shop_named_in_the_request_changes_nothing(own: Caller, other: Caller) -> None:
    parcel = import_parcel(other.shop)
    named = {"shopId": "other", "shop_id": "other", "shop": "other"}
    assert own.get(PARCELS + parcel["trackingId"], query_params=named).status_code == 404
    assert own.search(orderName=parcel["orderNumber"], **named).json() == []


# Those of the specification, whose parameters stay as they are; a PDF's link is signed.
UNCHECKED = {("parcel", "GET"), ("parcel-search", "GET"), ("labels", "POST"), ("label", "GET"), ("label-file", "GET")}


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("route", ROUTES)
def test_a_parameter_that_is_unknown_is_named(route: str, is_there: bool, own: Caller) -> None:
    path, methods, _ = ROUTES[route]
    if is_there:
        own_what_the_paths_name(own.shop)
    for method in methods:
        if method != "HEAD" and (route, method) not in UNCHECKED:
            asked = f"{path}{'&' if '?' in path else '?'}dryRun=true"
            response = own.request(method, asked, data=b"{}", content_type="application/json")
            assert_error(response, 400)
            assert "dryRun: is no parameter here" in response.json()["message"], method
