"""An Idempotency-Key after a failure: unknown, or finished later, and never bought twice."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from labels.models import LabelState, ShippingLabel
from tests.labels.conftest import Sandbox, assert_coded, in_threads, row
from tests.labels.orders import order, post
from tests.support.api import Caller, client

DEADLINE_S = 60


def test_a_purchase_that_nobody_works_on_any_more_is_an_unknown_outcome(buyer: Caller, sandbox: Sandbox) -> None:
    post(buyer, order(), key="k")
    past = timezone.now() - timedelta(seconds=1)
    ShippingLabel.objects.update(state=LabelState.PURCHASING, leased_until=past, tracking_numbers=[])
    said = assert_coded(post(buyer, order(), key="k"), 502, "ALPHA_OUTCOME_UNKNOWN")
    assert "Retry only with the same Idempotency-Key" in said
    assert sandbox.calls() == 1


# --- When the storage is down ---


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("k", "Retry with the same Idempotency-Key, or retrieve it later."),
        (None, "Do not order it again: retrieve it later by this id."),
    ],
)
def test_an_order_without_a_key_is_not_told_to_retry(
    key: str | None, remedy: str, buyer: Caller, sandbox: Sandbox, folder: Any
) -> None:
    folder.write_text("no folder")
    said = assert_coded(post(buyer, order(), key=key), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert said == f"The label {row().id} is bought and safe, but its PDF can't be delivered now. {remedy}"


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
