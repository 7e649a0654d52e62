"""The text of access tokens: opaque, recognisable, checked by a checksum, stored as a digest."""

import hashlib
import re
import secrets
import string
import zlib

from django.core.signing import b62_encode

PREFIX = "pts_"  # parcel tracking service; makes a leaked token recognisable
TEST_PREFIX = "pts_test_"  # of a test shop's
RANDOM_LENGTH = 30  # of 62 letters and digits: 178 random bits
CHECKSUM_LENGTH = 6  # CRC-32 in the same letters and digits
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
SHAPE = re.compile(rf"(?:{PREFIX}|{TEST_PREFIX})([0-9A-Za-z]{{{RANDOM_LENGTH}}})([0-9A-Za-z]{{{CHECKSUM_LENGTH}}})")


def new_token(*, is_test: bool = False) -> str:
    random = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return (TEST_PREFIX if is_test else PREFIX) + random + checksum(random)


def checksum(random: str) -> str:
    """Return the CRC-32 of the random part in base 62; it exposes a mistyped or invented token without a query."""
    return b62_encode(zlib.crc32(random.encode())).zfill(CHECKSUM_LENGTH)


def is_well_formed(token: str) -> bool:
    match = SHAPE.fullmatch(token)
    return match is not None and checksum(match[1]) == match[2]


def digest(token: str) -> str:
    """Return the SHA-256 in hexadecimal; a random token needs no salt and no stretching."""
    return hashlib.sha256(token.encode()).hexdigest()
