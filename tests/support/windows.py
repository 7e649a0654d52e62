"""Windows of the rate limit: where one begins and ends follows from the shop's id."""

import secrets
import time
import zlib

WINDOW_S = 60


def id_with_a_fresh_window() -> str:
    """Give a new id to a shop whose window has just begun, so that none ends while the test counts."""
    now = int(time.time())
    ids = iter(lambda: f"shop-{secrets.token_hex(4)}", "")
    return next(id_ for id_ in ids if (now - zlib.crc32(id_.encode())) % WINDOW_S == 2)
