"""Checks of where a webhook may be sent: public addresses only, unless WEBHOOK_ALLOW_PRIVATE is set."""

import re
import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext
from urllib3.util import parse_url

from carriers.http.connections import resolve
from shops.api.concurrency import ConcurrencyLimit

MAX_URL_LENGTH = 500
HTTPS_PORT = 443
FIRST_FREE_PORT = 1024  # below are the ports of mail, databases' neighbours, routers and the like
QUICK_LOOKUP_S = 0.5
LOOKUP_TIMEOUT_S = 5.0
# A name's shop says who resolves it, and how late: look-ups that hang leave threads for others.
slow_lookups = ConcurrencyLimit(4, TimeoutError)
# Addresses that Python takes for public: clouds' own services, and the relays of a retired protocol.
NOT_PUBLIC = tuple(map(IPv4Network, ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24")))
GLOBAL_UNICAST = IPv6Network("2000::/3")
DOCUMENTATION = IPv6Network("3fff::/20")  # for examples; Python 3.11 takes it for public
# Addresses that hold an IPv4 address, which a gateway connects to: 6to4 and Teredo are retired, NAT64 is in use.
TUNNELS = (IPv6Network("2002::/16"), IPv6Network("2001::/32"))
NAT64 = IPv6Network("64:ff9b::/96")
HOST = re.compile(r"(?=.{1,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
# Systems read a host whose last label is a number, in whatever base, as an IPv4 address.
ENDS_IN_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")


class UrlError(ValueError):
    """A URL that no webhook may be sent to; its text says why, for staff."""


def may_connect(address: str) -> bool:
    """Return whether a webhook may connect to an address; asked of each address that a name led to."""
    return settings.WEBHOOK_ALLOW_PRIVATE or is_public(address)


def is_public(address: str) -> bool:
    """Return whether an IP address is reachable by everyone, in whatever form it is wrapped."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return is_public_v4(ip)
    if ip in NAT64:
        return is_public_v4(IPv4Address(int(ip) & 0xFFFFFFFF))
    # Outside of 2000::/3 are the loopback, the local networks, and the IPv4-mapped and IPv4-compatible addresses.
    is_unicast = ip in GLOBAL_UNICAST and ip.is_global and ip.scope_id is None
    return is_unicast and ip not in DOCUMENTATION and not any(ip in each for each in TUNNELS)


def is_public_v4(ip: IPv4Address) -> bool:
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in NOT_PUBLIC)


def check_url(url: str) -> None:
    """Check a URL and the addresses that its host name has now; raise UrlError."""
    host, port = split_url(url)
    try:
        found = looked_up(host, port)
    except TimeoutError:
        raise UrlError(gettext("the name {host} was not resolved in time").format(host=host)) from None
    except (socket.gaierror, UnicodeError):
        raise UrlError(gettext("the name {host} has no address").format(host=host)) from None
    if not all(may_connect(str(address[0])) for *_, address in found):
        raise UrlError(gettext("{host} has an address that is not public").format(host=host))


def looked_up(host: str, port: int) -> list[Any]:
    """Resolve a name; raise TimeoutError, at once for a slow one where as many as may be are looked up."""
    try:
        return resolve(host, port, QUICK_LOOKUP_S)
    except TimeoutError:
        with slow_lookups.hold():
            return resolve(host, port, LOOKUP_TIMEOUT_S)


def split_url(url: str) -> tuple[str, int]:
    """Return a URL's host and port; raise UrlError for one that needs no look-up to be refused."""
    if len(url) > MAX_URL_LENGTH or not re.fullmatch(r"[!-~]+", url) or "\\" in url:
        text = gettext("needs at most {count} printable ASCII characters, without spaces and backslashes")
        raise UrlError(text.format(count=MAX_URL_LENGTH))
    try:
        parse_url(url)  # the reader of who sends there; Python's own passes over what stands around brackets
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UrlError(gettext("is no valid URL")) from None
    schemes = {"https": HTTPS_PORT} | ({"http": 80} if settings.WEBHOOK_ALLOW_PRIVATE else {})
    if parts.scheme not in schemes:
        raise UrlError(gettext("needs https://"))
    if "@" in parts.netloc:
        raise UrlError(gettext("may hold no user name and no password"))
    if "#" in url:
        raise UrlError(gettext("may have no fragment"))
    try:  # host names, and IP addresses in their usual form only
        IPv6Address(host) if ":" in host and "%" not in host else IPv4Address(host)
    except ValueError:
        if not HOST.fullmatch(host) or ENDS_IN_NUMBER.fullmatch(host):
            raise UrlError(gettext("needs a host name, or an IP address in its usual form")) from None
    port = schemes[parts.scheme] if port is None else port
    if port != schemes[parts.scheme] and port < FIRST_FREE_PORT:
        text = gettext("needs port {port} or one above {last}")
        raise UrlError(text.format(port=HTTPS_PORT, last=FIRST_FREE_PORT - 1))
    return host, port
