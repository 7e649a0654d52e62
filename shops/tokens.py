"""Access tokens: opaque, recognisable, and stored as a digest only."""

import hashlib
import re
import secrets
import string
import zlib

PREFIX = "pts_"  # parcel tracking service: lets a leaked token be recognised
RANDOM_LENGTH = 30  # of 62 letters and digits: 178 random bits
CHECKSUM_LENGTH = 6  # CRC-32 in the same letters and digits
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
SHAPE = re.compile(rf"{PREFIX}([0-9A-Za-z]{{{RANDOM_LENGTH}}})([0-9A-Za-z]{{{CHECKSUM_LENGTH}}})", re.ASCII)


def new_token() -> str:
    random = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return PREFIX + random + checksum(random)


def checksum(random: str) -> str:
    """CRC-32 of the random part, in base 62: tells a mistyped or invented token without asking the database."""
    number = zlib.crc32(random.encode())
    digits = ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def is_well_formed(token: str) -> bool:
    match = SHAPE.fullmatch(token)
    return match is not None and checksum(match[1]) == match[2]


def digest(token: str) -> str:
    """SHA-256 in hexadecimal; the token's own randomness stands in for salt and stretching."""
    return hashlib.sha256(token.encode()).hexdigest()
