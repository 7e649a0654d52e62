"""Limits of log-ins, counted with the rate limit's counter before a password is hashed or a code is compared."""

from django.http import HttpRequest

from config.login.refusals import too_many
from shops import throttling

WINDOW_S = 300
OF_ADDRESS, OF_NETWORK, OF_USER_NAME = 20, 60, 10
OF_PAGES = 3  # times as often may the page be shown, which costs 10 ms
OF_CODES = 5  # of a user: three of a million TOTP codes are right at a time
blocked = throttling.Blocked(looks_again=False)


def count_attempt(request: HttpRequest) -> None:
    """Count an attempt against its address and network; raise LoginRefusedError beyond a limit."""
    count_sender(request, "login", 1)


def count_page(request: HttpRequest) -> None:
    """Do the same for the page that is asked for."""
    count_sender(request, "login_page", OF_PAGES)


def count_sender(request: HttpRequest, kind: str, times: int) -> None:
    address = throttling.client_address(request)
    count(f"{kind}_address", address, OF_ADDRESS * times)
    count(f"{kind}_network", throttling.network_address(address), OF_NETWORK * times)


def count_user_name(username: str) -> None:
    """Count an attempt against the name, whether it exists or not; raise LoginRefusedError beyond the limit."""
    count("login_user", username, OF_USER_NAME)


def count_code(user_id: int) -> None:
    """Count a TOTP or recovery code; raise LoginRefusedError beyond the limit."""
    count("login_code", str(user_id), OF_CODES)


def count(group: str, key: str, limit: int) -> None:
    """Count once; what this process knows to be used up is refused without asking the counter store."""
    usage = blocked.find((group, key))
    if not usage:
        usage = throttling.count(group=group, key=key, limit=limit, window_s=WINDOW_S)
        if usage.is_exceeded:
            blocked.add((group, key), usage)
    if usage.is_exceeded:
        raise too_many(usage.reset_s)
