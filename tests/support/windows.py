"""Windows of the rate limit: where one begins and ends follows from the shop's id."""

import secrets
import time
import zlib

from tests.support.api import Caller, caller
from tests.support.factories import ShopFactory

WINDOW_S = 60


def id_with_a_fresh_window() -> str:
    """Give a new id to a shop whose window has just begun, so that none ends while the test counts."""
    now = int(time.time())
    ids = iter(lambda: f"shop-{secrets.token_hex(4)}", "")
    return next(id_ for id_ in ids if (now - zlib.crc32(id_.encode())) % WINDOW_S == 2)


def fresh_caller() -> Caller:
    """Make a shop that has all of its requests left for most of a minute."""
    return caller(ShopFactory(id=id_with_a_fresh_window()))
