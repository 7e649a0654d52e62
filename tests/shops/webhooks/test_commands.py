"""The commands that create and revoke webhook endpoints."""

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import OperationalError, connection
from pytest_django.fixtures import Settings

from shops.models import Shop
from shops.webhooks.endpoints import MAX_ENDPOINTS
from shops.webhooks.models import WebhookEndpoint
from tests.shops.commands import call, refused
from tests.shops.webhooks.receivers import secret_of
from tests.support.sql import WAITING, value
from tests.support.threads import Threads
from tests.support.waiting import WAIT_TIMEOUT_S, until

URL = "http://127.0.0.1:9999/hook"


def test_creating_prints_the_id_and_shows_the_secret_once_on_standard_error(shop: Shop) -> None:
    out, err = call("create_webhook", shop.id, URL, "--event", "label.failed", "--event", "label.generated")
    made = WebhookEndpoint.objects.get()
    assert out == made.id + "\n"
    assert secret_of(made) in err
    assert secret_of(made).startswith("whsec_")
    assert secret_of(made) not in str(WebhookEndpoint.objects.values().get())
    assert (made.shop, made.url) == (shop, URL)
    assert made.event_types == ["label.failed", "label.generated"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nobody", URL], "SHOP_ID: there is no shop 'nobody'"),
        (["own", "http://127.0.0.1:22/"], "URL: needs port 443 or one above 1023"),
        (["own", URL, "--event", "label.test"], "--event: 'label.test' is none of "),
    ],
)
def test_bad_input_is_one_line_and_creates_nothing(arguments: list[str], problem: str, shop: Shop) -> None:
    assert refused("create_webhook", *arguments).startswith(problem)
    assert not WebhookEndpoint.objects.exists()


def test_a_shop_has_a_limit_of_endpoints_and_revoked_ones_do_not_count(shop: Shop) -> None:
    made = [call("create_webhook", shop.id, URL)[0].strip() for _ in range(MAX_ENDPOINTS)]
    assert "at most 10 endpoints" in refused("create_webhook", shop.id, URL)
    call("revoke_webhook", made[0])
    assert call("create_webhook", shop.id, URL)[0]


def test_revoking_says_so_and_can_be_repeated(shop: Shop) -> None:
    made = call("create_webhook", shop.id, URL)[0].strip()
    assert call("revoke_webhook", made) == ("", f"Webhook endpoint {made} is revoked.\n")
    assert call("revoke_webhook", made) == ("", f"Webhook endpoint {made} was revoked before.\n")
    assert WebhookEndpoint.objects.get().state == "revoked"
    assert refused("revoke_webhook", "we_unknown") == "ID: there is no such webhook endpoint"


def test_nothing_is_revoked_that_the_audit_log_does_not_have(transactional_db: None, shop: Shop) -> None:
    made = call("create_webhook", shop.id, URL)[0].strip()

    def refuse(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "shops_auditentry"'):
            raise OperationalError("disk full")
        return execute(sql, *rest)

    with connection.execute_wrapper(refuse), pytest.raises(OperationalError, match="disk full"):
        call("revoke_webhook", made)
    assert WebhookEndpoint.objects.get().state == "active"


def test_secrets_are_encrypted_with_a_new_key_as_credentials_are(shop: Shop, settings: Settings) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.CREDENTIALS_KEYS = [old]
    call("create_webhook", shop.id, URL)
    secret = secret_of(WebhookEndpoint.objects.get())
    settings.CREDENTIALS_KEYS = [new, old]
    assert call("encrypt_credentials") == ("1\n", "")
    settings.CREDENTIALS_KEYS = [new]
    assert secret_of(WebhookEndpoint.objects.get()) == secret


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_secrets_are_encrypted_with_a_new_key_beside_deliveries(shop: Shop) -> None:
    """`work` notes in the order of ids how endpoints do; ids that are made are in no order of time."""
    for webhook_id in ("we_0", "we_1"):
        made = WebhookEndpoint(id=webhook_id, shop=shop, url=URL)
        made.set_secret("whsec_secret")
        made.save()
    working = connection.copy()
    note = "UPDATE shops_webhookendpoint SET is_slow = false WHERE id ="
    try:
        with Threads(1) as pool, working.cursor() as cursor:
            cursor.execute(f"BEGIN; {note} 'we_0'")
            encrypting = pool.submit(call, "encrypt_credentials")
            until(lambda: value(WAITING))
            cursor.execute(f"{note} 'we_1'; COMMIT")
            assert encrypting.result(WAIT_TIMEOUT_S) == ("2\n", "")
    finally:
        working.close()
