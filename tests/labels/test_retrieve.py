"""A label is retrieved by its id: the same answer, a fresh URL, and no other shop's labels."""

from unittest.mock import Mock
from urllib.parse import quote

import pytest

from labels.models import LabelState
from labels.pdfs import storage
from tests.labels.conftest import assert_coded
from tests.labels.factories import ContractFactory, LabelFactory
from tests.labels.orders import PRODUCT, order, post, weighing
from tests.support.api import Caller, Clock, assert_error, client, without_timestamp
from tests.support.cases import in_one_test
from tests.support.paths import SHIPMENTS

ABSENT = "0000000000ABCDE"
MESSAGE = "There is no label with this id."


def path(label_id: str) -> str:
    return f"{SHIPMENTS}/{quote(label_id, safe='')}"


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_label_is_retrieved_as_it_was_created(product_code: str, buyer: Caller) -> None:
    created = post(buyer, order(product_code, parcels=weighing(1.25, 3)))
    retrieved = buyer.get(path(created.json()["id"]))
    assert retrieved.status_code == 200
    assert list(retrieved.json()) == list(created.json())
    assert retrieved.json() | {"labelUrl": ""} == created.json() | {"labelUrl": ""}
    assert "Idempotent-Replayed" not in retrieved.headers
    assert retrieved["Cache-Control"] == "no-store"
    assert {"RateLimit", "RateLimit-Policy"} <= set(retrieved.headers)
    assert client().get(retrieved.json()["labelUrl"]).content.startswith(b"%PDF-")


def test_a_foreign_and_a_missing_label_cannot_be_told_apart(buyer: Caller, other: Caller) -> None:
    ContractFactory(shop=other.shop, carrier_code="alpha")
    foreign = buyer.get(path(post(other, order()).json()["id"]))
    missing = buyer.get(path(ABSENT))
    assert_error(foreign, 404, MESSAGE)
    assert without_timestamp(foreign) == without_timestamp(missing)
    told = [
        {name: value for name, value in response.headers.items() if name not in {"X-Request-Id", "RateLimit"}}
        for response in (foreign, missing)
    ]
    assert told[0] == told[1]


@in_one_test("state", [state for state in LabelState if state != LabelState.GENERATED])
def test_a_label_that_is_not_generated_does_not_exist_for_the_api(state: LabelState, own: Caller) -> None:
    response = own.get(path(LabelFactory(shop=own.shop, state=state, pdf=b"%PDF-").id))
    assert_error(response, 404, MESSAGE)
    assert without_timestamp(response) == without_timestamp(own.get(path(ABSENT)))


ODD = [
    *("x", ".", "..", "%", "*", "'", '"', "\\", "\0", "a\0b", "\n", " ", "é", "\U0001f600", "\u202e", "null", "-1"),
    *("x" * 5000, "1 OR 1=1", "%00", "{id} ", " {id}", "{id}\n", "{id}\0", "{id}.pdf", "{id};x", "{lower}"),
]


def test_a_url_that_can_not_be_signed_now_is_an_error_to_try_again_after(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_id = post(buyer, order()).json()["id"]
    monkeypatch.setattr(storage, "signed_url", Mock(side_effect=storage.StorageError("NoCredentialsError")))
    assert_coded(buyer.get(path(label_id)), 500, "LABEL_STORAGE_UNAVAILABLE")


def test_an_odd_id_is_a_label_that_is_missing(buyer: Caller) -> None:
    label_id = post(buyer, order()).json()["id"]
    assert label_id != label_id.lower()
    for odd in ODD:
        response = buyer.get(path(odd.format(id=label_id, lower=label_id.lower())))
        assert (response.status_code, odd) == (404, odd)
        assert_error(response, 404, MESSAGE)


def test_bytes_that_are_no_utf8_are_a_label_that_is_missing(asker: Caller) -> None:
    assert_error(asker.get(f"{SHIPMENTS}/%ff%fe"), 404, MESSAGE)


def test_what_is_sent_along_with_a_retrieval_changes_nothing(buyer: Caller, other: Caller) -> None:
    label_id = post(buyer, order()).json()["id"]
    assert other.get(path(label_id) + "?shopId=own&shop=own").status_code == 404
    response = buyer.get(path(label_id), headers={"Idempotency-Key": "k", "Accept": "text/html"})
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")


def test_retrieval_asks_the_database_once_for_the_label(
    buyer: Caller, clock: Clock, django_assert_num_queries: object
) -> None:
    label_id = post(buyer, order()).json()["id"]
    buyer.get(path(label_id))  # from here on the token is remembered
    with django_assert_num_queries(1):  # type: ignore[operator]  # pytest-django's type is private
        assert buyer.get(path(label_id)).status_code == 200
