"""One Idempotency-Key is one label: a second request with a key is a replay, refused, or in progress."""

import errno
import time
from typing import Any

import orjson
import pytest
from anyascii import anyascii

from labels.idempotency import digest
from labels.models import LabelState, ShippingLabel
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import ContractFactory
from tests.labels.gates import elsewhere
from tests.labels.orders import PRODUCT, SENDER, order, post, weighing
from tests.support.api import Caller, Response, assert_error, caller, client, forget
from tests.support.cases import in_one_test
from tests.support.threads import in_threads
from tests.support.waiting import until

BETA = PRODUCT["beta"]
DEADLINE_S = 60
AT_ONCE = 20


def assert_replay(first: Response, second: Response) -> None:
    """Check that the second answer is the first one's label."""
    assert (first.status_code, second.status_code) == (201, 201), second.content
    assert second["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    fields = [list(response.json()) for response in (first, second)]
    assert fields[0] == fields[1]
    bodies = [response.json() | {"labelUrl": ""} for response in (first, second)]
    assert bodies[0] == bodies[1]
    assert client().get(second.json()["labelUrl"]).status_code == 200


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_the_same_key_and_body_are_the_same_label(product_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    first = post(buyer, order(product_code), key="k-1")
    for again in (buyer, buyer, caller(buyer.shop)):  # with another token of the shop, too
        assert_replay(first, post(again, order(product_code), key="k-1"))
    assert (len(sandbox.made()), ShippingLabel.objects.count()) == (1, 1)


def test_without_a_key_the_same_body_is_another_label(buyer: Caller, sandbox: Sandbox) -> None:
    first, second = post(buyer, order()).json(), post(buyer, order()).json()
    assert first["id"] != second["id"]
    assert len(sandbox.made()) == 2


def test_a_replay_is_signed_afresh(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    first = post(buyer, order(), key="k").json()
    now = time.time() + 3600
    monkeypatch.setattr("django.core.signing.time.time", lambda: now)
    second = post(buyer, order(), key="k").json()
    assert second["labelUrl"] != first["labelUrl"]
    assert client().get(first["labelUrl"]).status_code == 403
    assert client().get(second["labelUrl"]).status_code == 200


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('"k"', "k"),
        ("k", '"k"'),
        ("x" * 255, '"' + "x" * 255 + '"'),
        (" ~!a b", '" ~!a b"'),
        ('"', '"""'),
        ("%C3%A9", '"%C3%A9"'),
    ],
)
def test_quotes_around_a_key_do_not_count(first: str, second: str, buyer: Caller, sandbox: Sandbox) -> None:
    assert_replay(post(buyer, order(), key=first), post(buyer, order(), key=second))
    assert len(sandbox.made()) == 1


@pytest.mark.parametrize("second", ["K", "k ", "k1", "'k'", '"k', 'k"', "k,"])
def test_another_key_is_another_label(second: str, buyer: Caller, sandbox: Sandbox) -> None:
    post(buyer, order(), key="k")
    assert "Idempotent-Replayed" not in post(buyer, order(), key=second).headers
    assert len(sandbox.made()) == 2


@pytest.mark.any_database
@in_one_test("key", ["", '""', "x" * 256, '"' + "x" * 256 + '"', "a\tb", "a\x7fb", "\x01", "\xe9", "cl\u00e9", "a\0b"])
def test_a_key_that_is_not_1_to_255_printable_characters_is_invalid(key: str, asker: Caller, sandbox: Sandbox) -> None:
    response = post(asker, order(), key=key)
    said = "Idempotency-Key: must have 1 to 255 printable ASCII characters."
    assert assert_coded(response, 400, "IDEMPOTENCY_KEY_INVALID") == said
    assert (sandbox.calls(), ShippingLabel.objects.count()) == (0, 0)


def test_a_key_is_the_shops_own(buyer: Caller, other: Caller, sandbox: Sandbox) -> None:
    ContractFactory(shop=other.shop, carrier_code="alpha")
    first, second = post(buyer, order(), key="k"), post(other, order(), key="k")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] != second.json()["id"]
    assert second.json()["shopId"] == "other"
    assert len(sandbox.made()) == 2


# --- The same body ---


@pytest.mark.any_database
@pytest.mark.parametrize(
    "again",
    [
        lambda body: orjson.dumps(body, option=orjson.OPT_SORT_KEYS),
        lambda body: orjson.dumps(dict(reversed(body.items())), option=orjson.OPT_INDENT_2),
        lambda body: orjson.dumps(body).replace(b'"weight":2', b'"weight":2.0'),
        lambda body: orjson.dumps(body).replace(b'"weight":2', b'"weight":20e-1'),
        lambda body: orjson.dumps(body).replace(b"10000000000000000", b"1e16"),
        lambda body: orjson.dumps(body).replace(b'"weight":2', b'"weight":9,"weight":2'),
        lambda body: orjson.dumps(body).replace("é".encode(), b"\\u00e9"),
        lambda body: orjson.dumps(body).replace(b"/", b"\\/"),
    ],
)
def test_the_same_json_value_in_other_words_is_the_same_body(again: Any, buyer: Caller, sandbox: Sandbox) -> None:
    body = order(parcels=weighing(2), unknown=[1, 10**16, 1e300, -1e300, {"b": 1, "a": "é/"}])
    assert_replay(post(buyer, body, key="k"), post(buyer, again(body), key="k"))
    assert len(sandbox.made()) == 1


@pytest.mark.any_database
@pytest.mark.parametrize(
    "body",
    [
        order(orderId="another"),
        order(parcels=weighing(1.26)),
        order(parcels=weighing(1.25, 1.25)),
        order(reference="CMD 4711 "),
        order(unknown=1),
        order(destination={"phone": "06 99 00 11 22"}),
        order(BETA),
    ],
)
def test_another_body_with_the_same_key_is_refused(body: Any, buyer: Caller, sandbox: Sandbox) -> None:
    first = post(buyer, order(), key="k")
    said = (
        "This Idempotency-Key was used with another body, whose label was bought or may have been. "
        "Use a new key only for another label."
    )
    assert assert_coded(post(buyer, body, key="k"), 422, "IDEMPOTENCY_KEY_REUSED") == said
    assert_replay(first, post(buyer, order(), key="k"))
    assert len(sandbox.made()) == 1


def test_a_replay_needs_neither_the_contract_nor_the_sender_address_any_more(buyer: Caller) -> None:
    buyer.shop.sender_address = SENDER
    buyer.shop.save()
    body = order()
    del body["originAddress"]
    first = post(buyer, body, key="k")
    CarrierContract.objects.all().delete()
    buyer.shop.sender_address = None
    buyer.shop.save()
    forget()
    assert_replay(first, post(buyer, body, key="k"))


def test_an_order_that_the_version_before_took_is_replayed_where_it_is_refused_now(
    buyer: Caller, sandbox: Sandbox
) -> None:
    first, refused = post(buyer, order(), key="k"), order(parcels=weighing(31))
    ShippingLabel.objects.update(body_digest=digest(refused))  # as if it had taken these 31 kg
    assert_replay(first, post(buyer, refused, key="k"))
    assert_error(post(buyer, order(parcels=weighing(32)), key="k"), 400)
    assert len(sandbox.made()) == 1


# --- While the first is running ---


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_while_the_first_is_running_the_key_is_in_progress(product_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("slow", delay_s=DEADLINE_S)
    with elsewhere(buyer, order(product_code), "k") as first:
        until(lambda: sandbox.calls() == 1)
        response = post(buyer, order(product_code), key="k")
        said = "A request with this Idempotency-Key is still running. Retry when it has ended."
        assert assert_coded(response, 409, "IDEMPOTENCY_KEY_IN_PROGRESS") == said
        assert int(response["Retry-After"]) > 0
        assert_coded(post(buyer, order(product_code, orderId="another"), key="k"), 422, "IDEMPOTENCY_KEY_REUSED")
        assert row().state == LabelState.PURCHASING
        sandbox.server.state.interrupt()  # the carrier breaks off what it was slow with
    assert_coded(first.result(), 502, f"{row().carrier_code.upper()}_OUTCOME_UNKNOWN")
    assert sandbox.calls() == 1


def test_20_requests_at_once_with_one_key_are_one_purchase(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("slow", delay_s=0.3)
    answers = in_threads(AT_ONCE, lambda _: post(buyer, order(), key="k"))
    bought = [answer for answer in answers if answer.status_code == 201]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert len({answer.json()["id"] for answer in bought}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in bought) == 1
    for answer in refused:
        assert_coded(answer, 409, "IDEMPOTENCY_KEY_IN_PROGRESS")
    assert (len(sandbox.made()), sandbox.calls(), ShippingLabel.objects.count()) == (1, 1, 1)
    assert_replay(next(a for a in bought if "Idempotent-Replayed" not in a.headers), post(buyer, order(), key="k"))


# After a failure


def test_an_order_that_we_could_not_write_is_not_in_doubt_and_its_key_is_free(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spelled(char: str) -> str:
        if char == "\u01de":  # its table is a file, read when it is met first
            raise OSError(errno.EMFILE, "Too many open files")
        return anyascii(char)

    monkeypatch.setattr("carriers.text.anyascii", spelled)
    body = order(destinationAddress=order()["destinationAddress"] | {"lastName": "\u01de"})
    assert_error(post(buyer, body, key="k"), 500)  # spec.md, 7: a server-side error, no carrier's
    assert (sandbox.calls(), row().state, row().idempotency_key) == (0, LabelState.FAILED, None)
    assert post(buyer, order(), key="k").status_code == 201


# --- When the storage is down ---


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("k", "Retry with the same Idempotency-Key, or retrieve it later."),
        (None, "Do not order it again: retrieve it later by this id."),
    ],
)
def test_an_order_without_a_key_is_not_told_to_retry(key: str | None, remedy: str, buyer: Caller, folder: Any) -> None:
    folder.write_text("no folder")
    said = assert_coded(post(buyer, order(), key=key), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert said == f"The label {row().id} is bought and safe, but its PDF can't be delivered now. {remedy}"


@pytest.mark.any_database
def test_requests_at_once_for_a_label_that_waits_for_the_storage_all_get_it(
    buyer: Caller, sandbox: Sandbox, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shops.contracts.bulkhead.WAIT_TIMEOUT_S", DEADLINE_S)  # on a busy machine too
    folder.write_text("no folder")
    post(buyer, order(), key="k")
    folder.unlink()
    answers = in_threads(8, lambda _: post(buyer, order(), key="k"))
    assert {answer.status_code for answer in answers} == {201}
    assert {client().get(answer.json()["labelUrl"]).status_code for answer in answers} == {200}
    assert len(sandbox.made()) == 1
