"""Writes while PostgreSQL takes none, as after a failover: one answer, which says when to try again."""

import json

import pytest
from django.db import connection

from shops.api.errors.plain import HELD_UP
from shops.webhooks import endpoints
from tests.labels.factories import LabelFactory
from tests.shops.webhooks.receivers import tell_label
from tests.support.api import Caller
from tests.support.paths import SHIPMENTS, TRACKING
from tests.support.sql import execute

WEBHOOKS = f"{TRACKING}/webhooks"
WRITES = [
    ("POST", WEBHOOKS, {"url": "https://1.1.1.1/"}),
    ("PATCH", WEBHOOKS + "/{webhook}", {"status": "paused"}),
    ("DELETE", WEBHOOKS + "/{webhook}", None),
    ("POST", WEBHOOKS + "/{webhook}/rotate-secret", None),
    ("POST", WEBHOOKS + "/{webhook}/test", None),
    ("POST", WEBHOOKS + "/{webhook}/replay", {"since": "2026-01-01T00:00:00Z"}),
    ("POST", SHIPMENTS + "/{label}/cancel", None),
]


@pytest.mark.real_services
@pytest.mark.parametrize(("method", "path", "body"), WRITES, ids=[f"{method} {path}" for method, path, _ in WRITES])
def test_a_write_to_a_database_that_is_read_only_is_a_503_with_a_time_to_try_again(
    method: str,
    path: str,
    body: dict[str, str] | None,
    transactional_db: None,
    own: Caller,
    caplog: pytest.LogCaptureFixture,
) -> None:
    endpoint, _ = endpoints.create(shop=own.shop, url="https://1.1.1.1/")
    tell_label(own.shop.id)  # to replay
    path = path.format(webhook=endpoint.id, label=LabelFactory(shop=own.shop).id)
    execute("SET default_transaction_read_only = on")
    content = {"data": json.dumps(body), "content_type": "application/json"} if body else {}
    answer = own.request(method, path, **content)
    connection.close()
    assert (answer.status_code, answer.json()["message"]) == (503, HELD_UP.message)
    assert answer["Retry-After"] == "5"
    (said,) = [record for record in caplog.records if record.name == "service.errors"]
    assert (said.levelname, said.exc_info) == ("WARNING", None)
    assert vars(said)["reason"] == "InternalError 25006 (read-only)"
