"""Identifiers of labels, in the order of time."""

import secrets
import time

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LABEL_ID_LENGTH = 15
TIME_LENGTH = 8  # digits of 36: milliseconds until the year 2114
EPOCH_MS = 1_735_689_600_000  # 2025-01-01


def new_label_id() -> str:
    """15 upper-case letters and digits, in the order of time: short enough for the reference that carriers keep."""
    random = "".join(secrets.choice(ALPHABET) for _ in range(LABEL_ID_LENGTH - TIME_LENGTH))
    return id_prefix(time.time_ns() // 1_000_000) + random


def id_prefix(moment_ms: int) -> str:
    """What the ids of labels made in this millisecond start with; those made later are greater."""
    digits, rest = "", max(moment_ms - EPOCH_MS, 0)
    for _ in range(TIME_LENGTH):
        rest, digit = divmod(rest, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
