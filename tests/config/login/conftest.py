"""Hashes are counted; a colleague has an authenticator app."""

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from tests.config.login.staff import Staff
from tests.support.api import Clock


@pytest.fixture
def hashes() -> Iterator[list[str]]:
    seen: list[str] = []
    encode = PBKDF2PasswordHasher.encode

    def noted(self: PBKDF2PasswordHasher, password: str, salt: str, iterations: int | None = None) -> str:
        seen.append(password)
        return encode(self, password, salt, iterations)

    with patch.object(PBKDF2PasswordHasher, "encode", noted):
        yield seen


@pytest.fixture
def ada(db: None, clock: Clock, no_sidebar: None) -> Staff:
    """A superuser with an authenticator app, at a time that stands still."""
    return Staff("ada").with_app()
