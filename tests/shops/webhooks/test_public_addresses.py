"""Where webhooks may be sent: no address that is not public is connected to, in whatever way it is written."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import Mock

import pytest

from shops.models import Shop
from shops.webhooks import endpoints, public_addresses
from shops.webhooks.delivering import deliver_due
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from shops.webhooks.public_addresses import UrlError, check_url, is_public, may_connect, split_url
from tests.shops.webhooks.receivers import Receiver, tell_and_deliver
from tests.support.cases import in_one_test
from tests.support.waiting import WAIT_TIMEOUT_S

PUBLIC = ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "64:ff9b::101:101"]
NOT_PUBLIC = """
0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254
169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7
203.0.113.9 224.0.0.1 224.0.1.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:1.1.1.1 ::ffff:0:127.0.0.1
fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 ff02::1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:1
2002:7f00:1:: 2002:a9fe:a9fe:: 2001:0:4136:e378:8000:63bf:80ff:fffe 2001:db8::1
3fff::1 3fff:fff::1 100::1 localhost nonsense
""".split()
# What the machine's resolver reads as an address, and is not written as one.
ODD_HOSTS = """
2130706433 0x7f000001 017700000001 0177.0.0.1 0x7f.0.0.1 0x7f.1 127.1 127.0.1 0 0x 127.0.0.1. 1.1.1.0x1
[::ffff:127.0.0.1%25lo] 127.0.0.1%2f %31%32%37.0.0.1 local_host -a.example a..example
""".split()


@pytest.fixture(autouse=True)
def public_only(settings: Any, private_allowed: None) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = False


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Names and the addresses that they lead to; any other name is the system's resolver's."""
    names: dict[str, list[str]] = {}
    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        found = [names[host].pop(0) if len(names[host]) > 1 else names[host][0]] if host in names else [host]
        return [answer for address in found for answer in look_up(address, port, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return names


class Resolver:
    """A resolver that does not answer the first questions until it is released."""

    def __init__(self, hanging: int) -> None:
        self.hanging = hanging
        self.asked = 0
        self.released = threading.Event()

    def getaddrinfo(self, *args: Any, **kwargs: Any) -> Any:
        self.asked += 1
        if self.asked <= self.hanging:
            self.released.wait(WAIT_TIMEOUT_S)
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("1.1.1.1", 443))]


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    resolver = Resolver(hanging=1_000)
    monkeypatch.setattr(socket, "getaddrinfo", resolver.getaddrinfo)
    monkeypatch.setattr(public_addresses, "QUICK_LOOKUP_S", 0.05)
    monkeypatch.setattr(public_addresses, "LOOKUP_TIMEOUT_S", 0.1)
    yield resolver
    resolver.released.set()


def test_a_name_that_nobody_resolves_is_refused(hanging: Resolver) -> None:
    with pytest.raises(UrlError, match=r"^the name shop\.example was not resolved in time$"):
        check_url("https://shop.example/")
    assert hanging.asked == 2


def test_a_slow_name_is_waited_for(hanging: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging.hanging = 1
    monkeypatch.setattr(public_addresses, "LOOKUP_TIMEOUT_S", WAIT_TIMEOUT_S)
    check_url("https://shop.example/")
    assert hanging.asked == 2
    assert public_addresses.slow_lookups.taken.total() == 0


def test_slow_names_hold_few_threads(hanging: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_addresses, "LOOKUP_TIMEOUT_S", WAIT_TIMEOUT_S)
    with ExitStack() as held:
        for _ in range(public_addresses.slow_lookups.share):
            held.enter_context(public_addresses.slow_lookups.hold())
        with pytest.raises(UrlError, match="was not resolved in time"):
            check_url("https://shop.example/")
        assert hanging.asked == 1
        hanging.hanging = 0
        check_url("https://shop.example/")  # a quick one needs no place


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(address)


@in_one_test("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_not(address: str) -> None:
    assert not is_public(address)
    assert not may_connect(address)


@in_one_test(
    "url, problem",
    [
        ("http://shop.example/", "needs https://"),
        ("ftp://shop.example/", "needs https://"),
        ("//shop.example/", "needs https://"),
        ("https://", "needs a host name"),
        ("https://user@shop.example/", "user name"),
        ("https://user:password@shop.example/", "user name"),
        ("https://@shop.example/", "user name"),
        ("https://shop.example/#part", "fragment"),
        ("https://shop.example/#", "fragment"),
        ("https://shop.example:22/", "port"),
        ("https://shop.example:80/", "port"),
        ("https://shop.example:0/", "port"),
        ("https://shop.example:1023/", "port"),
        ("https://shop.example:65536/", "valid URL"),
        ("https://shop.example:port/", "valid URL"),
        ("https://[::1/", "valid URL"),
        ("https://[2606:4700:4700::1111]443/", "valid URL"),
        ("https://shop.example[2606:4700:4700::1111]/", "valid URL"),
        ("https://:443[2606:4700:4700::1111]/", "valid URL"),
        ("https://[v1.shop.example]/", "valid URL"),
        ("https://shop.example\\@evil.example/", "backslashes"),
        ("https://shop.example/a b", "spaces"),
        ("https://shop.example/\n", "printable"),
        ("https://bücher.example/", "ASCII"),
        ("https://①②⑦.⓪.⓪.①/", "ASCII"),
        ("https://shop.example/" + "a" * 500, "500"),
        *((f"https://{host}/", "needs a host name") for host in ODD_HOSTS),
    ],
)
def test_a_url_that_breaks_a_rule_is_refused_without_a_look_up(url: str, problem: str) -> None:
    with pytest.raises(UrlError, match=problem):
        split_url(url)


@pytest.mark.parametrize(
    "url", ["https://shop.example", "https://shop.example:8443/hook?a=b", "https://xn--bcher-kva.example/"]
)
def test_a_url_of_a_public_host_is_accepted(url: str, resolved: dict[str, list[str]]) -> None:
    resolved["shop.example"] = resolved["xn--bcher-kva.example"] = ["1.1.1.1"]
    check_url(url)


@in_one_test("address", [each for each in NOT_PUBLIC if "." in each or ":" in each])
def test_a_name_that_leads_to_an_address_that_is_not_public_is_refused(
    address: str, resolved: dict[str, list[str]]
) -> None:
    resolved["shop.example"] = [address.partition("%")[0]]
    with pytest.raises(UrlError, match="not public"):
        check_url("https://shop.example/")


def test_a_name_without_an_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Mock(side_effect=socket.gaierror(socket.EAI_NONAME, "unknown")))
    with pytest.raises(UrlError, match="has no address"):
        check_url("https://shop.example/")


def test_a_name_that_is_bound_again_after_its_check_is_not_connected_to(
    shop: Shop, receiver: Receiver, resolved: dict[str, list[str]], settings: Any
) -> None:
    """DNS rebinding: public when it is set, the loopback when it is connected to."""
    resolved["shop.example"] = ["1.1.1.1", "127.0.0.1"]
    check_url(url := f"https://shop.example:{receiver.port}/")
    endpoint, _ = endpoints.create(shop=shop, url=url)
    tell_and_deliver(shop.id)
    assert WebhookDelivery.objects.get().last_reason == "address_not_public"
    assert receiver.connections == 0
    # It is the check that keeps it away: without it, the same endpoint is connected to.
    settings.WEBHOOK_ALLOW_PRIVATE = True
    WebhookEndpoint.objects.filter(id=endpoint.id).update(url=f"http://shop.example:{receiver.port}/")
    WebhookDelivery.objects.update(due_at=endpoint.created_at)
    deliver_due()
    assert receiver.connections == 1


HOSTILE = """
127.0.0.1 127.1 2130706433 0x7f000001 017700000001 0177.0.0.1 0x7f.1 0 0.0.0.0 localhost [::1] [::] [::ffff:127.0.0.1]
[::ffff:7f00:1] [::127.0.0.1] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:0:127.0.0.1] 127.0.0.1. 127.0.00.1 127.000.000.001
""".split()


@pytest.mark.parametrize("host", HOSTILE)
def test_an_endpoint_that_got_into_the_database_is_not_connected_to_at_a_private_address(
    host: str, shop: Shop, receiver: Receiver
) -> None:
    for scheme in ("http", "https"):
        row = WebhookEndpoint(shop=shop, url=f"{scheme}://{host}:{receiver.port}/hook")
        row.set_secret("whsec_" + "A" * 43 + "=")
        row.save()
    assert tell_and_deliver(shop.id) == 2
    assert receiver.connections == 0
    assert {row.last_reason for row in WebhookDelivery.objects.all()} <= {
        "address_not_public",
        "name_unknown",
        "not_connected",
        "connection_broken",
    }
