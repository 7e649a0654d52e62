"""Limits of log-ins, counted with the rate limit's counter before a password is hashed or a code is compared."""

from django.http import HttpRequest

from config.login.refusals import too_many
from shops import throttling

WINDOW_S = 300
OF_ADDRESS, OF_NETWORK, OF_USER_NAME = 20, 60, 10
OF_CODES = 5  # of a user: three of a million TOTP codes are right at a time


def count_password(request: HttpRequest, username: str) -> None:
    """Count an attempt; raise LoginRefusedError beyond a limit.

    What an address or a network is refused does not count against the user name.
    """
    address = throttling.client_address(request)
    count(request, "login_address", address, OF_ADDRESS)
    count(request, "login_network", throttling.network_address(address), OF_NETWORK)
    count(request, "login_user", username, OF_USER_NAME)


def count_code(request: HttpRequest, user_id: int) -> None:
    """Count a TOTP or recovery code; raise LoginRefusedError beyond the limit."""
    count(request, "login_code", str(user_id), OF_CODES)


def count(request: HttpRequest, group: str, key: str, limit: int) -> None:
    usage = throttling.count(request, group=group, key=key, limit=limit, window_s=WINDOW_S)
    if usage.is_exceeded:
        raise too_many(usage.reset_s)
