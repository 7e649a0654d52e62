"""The HTTP side of a label order: tokens, methods, media types, sizes, broken JSON, and the order of the checks."""

from io import BytesIO
from itertools import product
from typing import Any

import orjson
import pytest
from pytest_django.fixtures import Settings

from config.api.bodies import MAX_FORM_BYTES
from labels.models import ShippingLabel
from shops import tokens
from shops.api.errors.plain import PLAIN_ERRORS
from tests.labels.conftest import Sandbox
from tests.labels.orders import order, post
from tests.support.api import Caller, Nobody, assert_error, client, without_timestamp
from tests.support.cases import in_one_test
from tests.support.factories import AccessTokenFactory
from tests.support.paths import POINTS, SHIPMENTS

pytestmark = pytest.mark.any_database

LABEL = f"{SHIPMENTS}/0000000000ABCDE"
MAX_BYTES = 64 * 1024
BODY = orjson.dumps(order())
REALM = 'Bearer realm="parcel-service"'
NO_TOKENS = [lambda: "x", lambda: "a b", ""]
ENDPOINTS = [("POST", SHIPMENTS), ("GET", LABEL), ("HEAD", LABEL), ("GET", POINTS)]


@in_one_test("method, path", ENDPOINTS)
@in_one_test("authorization", [None, "Basic dXNlcjpwYXNzd29yZA==", "Bearer", "Bearer "])
def test_without_a_token_the_challenge_says_what_is_wanted(
    authorization: str | None, method: str, path: str, db: None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    response = client().generic(method, path, data=BODY, content_type="application/json", headers=headers)
    assert (response.status_code, response["WWW-Authenticate"]) == (401, REALM)
    if method != "HEAD":
        assert_error(response, 401, "A bearer token is required: Authorization: Bearer <ACCESS_TOKEN>.")


def revoked() -> str:
    return str(AccessTokenFactory(is_revoked=True).secret)


def expired() -> str:
    return str(AccessTokenFactory(is_expired=True).secret)


def of_inactive_shop() -> str:
    return str(AccessTokenFactory(shop__is_active=False).secret)


@in_one_test("endpoint, token", product(ENDPOINTS, [tokens.new_token, revoked, expired, of_inactive_shop, *NO_TOKENS]))
def test_with_a_bad_token_the_challenge_says_so(endpoint: tuple[str, str], token: Any, db: None) -> None:
    method, path = endpoint
    headers = {"Authorization": f"Bearer {token()}" if token else ""}  # empty: it was not ASCII
    response = client().generic(method, path, data=BODY, content_type="application/json", headers=headers)
    assert (response.status_code, response["WWW-Authenticate"]) == (401, f'{REALM}, error="invalid_token"')
    if method != "HEAD":
        assert_error(response, 401, PLAIN_ERRORS["token_invalid"].message)


# --- What is looked at first ---


def test_the_token_comes_before_the_method_the_media_type_and_the_body(nobody: Nobody, db: None) -> None:
    assert nobody.request("PUT", SHIPMENTS).status_code == 401
    assert nobody.request("POST", SHIPMENTS, data=b"<x/>", content_type="text/xml").status_code == 401
    assert (
        nobody.request("POST", SHIPMENTS, data=b" " * (MAX_BYTES + 1), content_type="application/json").status_code
        == 401
    )


def test_the_method_comes_before_the_media_type_and_the_body(asker: Caller) -> None:
    assert_error(asker.request("PUT", SHIPMENTS, data=b"<x/>", content_type="text/xml"), 405)
    assert_error(asker.request("PATCH", LABEL, data=b" " * (MAX_BYTES + 1), content_type="application/json"), 405)


def test_the_media_type_comes_before_the_body_and_the_key(asker: Caller) -> None:
    assert_error(post(asker, b"{", content_type="text/xml"), 415)
    assert_error(post(asker, b" " * (MAX_BYTES + 1), content_type="text/xml"), 415)
    assert_error(post(asker, order(), key="", content_type="text/xml"), 415)


def test_the_body_must_be_json_before_the_key_is_looked_at(asker: Caller) -> None:
    assert_error(post(asker, b"{", key=""), 400)


# --- The body ---


@in_one_test(
    "content_type",
    [
        *("text/plain", "text/json", "application/xml", "multipart/form-data; boundary=x", "application/jsonx", "json"),
        *("application/x-www-form-urlencoded", "application/merge-patch+json", "application/json, text/plain", "\xff"),
        "",
    ],
)
def test_another_media_type_is_unsupported(content_type: str, asker: Caller) -> None:
    assert_error(post(asker, BODY, content_type=content_type), 415)


BROKEN = {
    "half of it": BODY[:-1],
    "more of it": BODY + b"}",
    "a space": b" ",
    "single quotes": BODY.replace(b'"', b"'"),
    "a comma too many": BODY.replace(b"}]", b"},]"),
    "a comment": b"/* */" + BODY,
    "a byte order mark": b"\xef\xbb\xbf" + BODY,
    "a lone surrogate": BODY.replace(b"CMD 4711", b"\\ud800"),
    "a lone surrogate in a key": BODY.replace(b'"reference"', b'"\\udc00":1,"reference"'),
    "a bare NUL": BODY.replace(b"CMD 4711", b"\0"),
    "a number with a leading zero": BODY.replace(b"1.25", b"01.25"),
    "a hexadecimal number": BODY.replace(b"1.25", b"0x1"),
    **{
        f"the weight {number.decode()}": BODY.replace(b"1.25", number)
        for number in (b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"inf", b".5", b"1.", b"+1", b"1_0")
    },
}


OTHER_ENCODINGS = {
    "UTF-16": BODY.decode().encode("utf-16"),
    "Latin-1": BODY.decode().encode("latin-1", "replace"),
    "a cut character": BODY.replace("é".encode(), b"\xc3"),
    "a surrogate in UTF-8": BODY.replace(b"CMD 4711", b"\xed\xa0\x80"),
}


@in_one_test("body", OTHER_ENCODINGS.values())
def test_a_body_in_another_encoding_is_a_400_that_says_so(body: bytes, asker: Caller, sandbox: Sandbox) -> None:
    assert_error(post(asker, body), 400, "The body is not UTF-8.")
    assert (sandbox.calls(), ShippingLabel.objects.count()) == (0, 0)


@in_one_test("body", BROKEN.values())
def test_broken_json_is_a_400_that_says_so(body: bytes, asker: Caller, sandbox: Sandbox) -> None:
    response = post(asker, body)
    assert_error(response, 400)
    assert response.json()["message"].startswith("The body is not valid JSON: ")
    assert (sandbox.calls(), ShippingLabel.objects.count()) == (0, 0)


def test_an_empty_body_is_the_same_whether_its_length_is_told_or_not(asker: Caller) -> None:
    told = post(asker, b"", key="key")
    # As config.api.bodies gives them.
    chunked = {"CONTENT_LENGTH": str(MAX_FORM_BYTES + 1), "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": BytesIO()}
    in_chunks = post(asker, b"", key="key", CONTENT_TYPE="application/json", **chunked)
    assert_error(told, 400, "The body is empty. Send JSON.")
    assert without_timestamp(in_chunks) == without_timestamp(told)


@in_one_test(
    "is_inside, key, brackets, levels",
    product(
        [True, False], [None, "key"], [("[", "]"), ('{"a":', "}")], [250, 255, 1_000, 1_100, 10_000, 100_000, 500_000]
    ),
)
def test_deep_nesting_is_no_order_and_no_failure(
    is_inside: bool, key: str | None, brackets: tuple[str, str], levels: int, asker: Caller
) -> None:
    opening, closing = brackets
    deep = (opening * levels + "1" + closing * levels).encode()
    body = BODY.replace(b'"CMD 4711"', deep) if is_inside else deep
    response = post(asker, body, key=key)
    assert_error(response, 413 if len(body) > MAX_BYTES else 400)


def test_a_body_above_64_kib_is_too_large(asker: Caller, sandbox: Sandbox) -> None:
    response = post(asker, BODY + b" " * (MAX_BYTES + 1 - len(BODY)))
    assert_error(response, 413, PLAIN_ERRORS["body_too_large"].example_message())
    assert sandbox.calls() == 0


# --- The rate limit ---


def test_label_endpoints_and_look_ups_share_the_shops_limit(buyer: Caller, settings: Settings) -> None:
    settings.RATE_LIMIT = (3, 86_400)
    assert post(buyer, order()).status_code == 201
    assert buyer.get(LABEL)["RateLimit"].startswith('"shop";r=1;')
    assert buyer.look_up("1").status_code == 404
    for response in (post(buyer, order()), buyer.get(LABEL)):
        assert_error(response, 429)
        assert response["RateLimit-Policy"] == '"shop";q=3;w=86400'
        assert int(response["Retry-After"]) > 0
    assert ShippingLabel.objects.count() == 1
