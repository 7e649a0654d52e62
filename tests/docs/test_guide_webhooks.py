"""The guide's verification of webhooks in PHP; its Python and its JavaScript run with the other examples."""

import re
import shutil
import subprocess

import pytest

from config.docs.guide import SOURCE
from shops.webhooks.signing import sign

PHP = re.compile(r"^```php\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VECTOR = re.compile(
    r"^webhook-id: (.+)\nwebhook-timestamp: (.+)\nwebhook-signature: (.+)\n\n(.+)$",
    re.MULTILINE,
)


def test_the_test_vector_is_signed_as_we_sign() -> None:
    found = VECTOR.search(SOURCE.read_text(encoding="utf-8"))
    assert found
    message_id, sent_at, signature, body = found.groups()
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert sign(message_id, int(sent_at), body.encode(), keys=[secret]) == signature


def test_the_php_prints_what_the_guide_says() -> None:
    php = shutil.which("php")
    if php is None:
        pytest.skip("there is no php: the package php-cli has it")
    found = PHP.search(SOURCE.read_text(encoding="utf-8"))
    assert found
    code, said = found.groups()
    done = subprocess.run([php], input=f"<?php\n{code}", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
