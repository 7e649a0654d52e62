"""The guide's test vector of webhooks; its programs run with the other examples."""

import re

from config.docs.guide import FOLDER
from shops.webhooks.signing import sign

VECTOR = re.compile(r"^webhook-id: (.+)\nwebhook-timestamp: (.+)\nwebhook-signature: (.+)\n\n(.+)$", re.MULTILINE)


def test_the_test_vector_is_signed_as_we_sign() -> None:
    found = VECTOR.search((FOLDER / "webhooks.md").read_text(encoding="utf-8"))
    assert found
    message_id, sent_at, signature, body = found.groups()
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert sign(message_id, int(sent_at), body.encode(), keys=[secret]) == signature
