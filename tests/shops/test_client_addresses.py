"""The address that a request without a token is counted against; forging headers gains nothing."""

import pytest
from pytest_django.fixtures import Settings

from tests.support.api import Nobody
from tests.support.paths import SEARCH

FORWARDING = ["X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Via"]


@pytest.fixture(autouse=True)
def limit_of_2(settings: Settings, db: None) -> None:
    """Two refusals a day for each address: no window ends during a test."""
    settings.RATE_LIMIT = (2, 86_400)


def ask(nobody: Nobody, address: str, forwarded_for: str | None = None, **headers: str) -> int:
    sent = headers | ({"X-Forwarded-For": forwarded_for} if forwarded_for is not None else {})
    return nobody.get(SEARCH, REMOTE_ADDR=address, headers=sent).status_code


def use_up(nobody: Nobody, address: str, forwarded_for: str | None = None) -> None:
    assert [ask(nobody, address, forwarded_for) for _ in range(3)] == [403, 403, 429]


@pytest.mark.parametrize("header", FORWARDING)
def test_forwarding_headers_are_not_trusted_by_default(header: str, nobody: Nobody) -> None:
    use_up(nobody, "10.0.0.1")
    assert ask(nobody, "10.0.0.1", **{header: "10.0.0.2"}) == 429
    assert ask(nobody, "10.0.0.2", **{header: "10.0.0.1"}) == 403


def test_behind_a_trusted_proxy_the_address_it_reports_counts(nobody: Nobody, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    use_up(nobody, "10.0.0.1", "192.0.2.1")
    assert ask(nobody, "10.0.0.1", "192.0.2.2") == 403
    assert ask(nobody, "10.0.0.99", "192.0.2.1") == 429


@pytest.mark.parametrize("forged", ["192.0.2.9", "192.0.2.8, 192.0.2.9", "nonsense", "", ",,,", "x" * 1000, "::1"])
def test_entries_left_of_the_trusted_proxys_gain_nothing(forged: str, nobody: Nobody, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    use_up(nobody, "10.0.0.1", "192.0.2.1")
    assert ask(nobody, "10.0.0.1", f"{forged}, 192.0.2.1") == 429
    assert ask(nobody, "10.0.0.1", f"{forged},192.0.2.1 ") == 429
    # The forged address itself is not limited.
    assert ask(nobody, "10.0.0.1", "192.0.2.9") == 403


def test_of_two_trusted_proxies_the_outer_ones_entry_counts(nobody: Nobody, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 2
    use_up(nobody, "10.0.0.1", "192.0.2.1, 10.0.0.2")
    assert ask(nobody, "10.0.0.1", "192.0.2.7, 192.0.2.1, 10.0.0.2") == 429
    assert ask(nobody, "10.0.0.1", "192.0.2.1, 192.0.2.3, 10.0.0.2") == 403


def test_a_request_that_passed_too_few_proxies_counts_by_its_own_address(nobody: Nobody, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 2
    use_up(nobody, "10.0.0.1")
    assert ask(nobody, "10.0.0.1", "192.0.2.1") == 429
    assert ask(nobody, "10.0.0.2") == 403


@pytest.mark.parametrize("unreadable", ["", "nonsense", "192.0.2.1, ", "192.0.2.1, unknown"])
def test_with_an_unreadable_entry_the_request_counts_by_its_own_address(
    unreadable: str, nobody: Nobody, settings: Settings
) -> None:
    settings.TRUSTED_PROXIES = 1
    use_up(nobody, "10.0.0.1")
    assert ask(nobody, "10.0.0.1", unreadable) == 429
    assert ask(nobody, "10.0.0.2", unreadable) == 403


def test_an_ipv6_network_is_one_client(nobody: Nobody) -> None:
    use_up(nobody, "2001:db8:1:2::1")
    assert ask(nobody, "2001:db8:1:2:ffff:ffff:ffff:ffff") == 429
    assert ask(nobody, "2001:0DB8:1:2:0::7") == 429
    assert ask(nobody, "2001:db8:1:3::1") == 403


def test_an_ipv4_address_written_as_ipv6_is_the_same_client(nobody: Nobody) -> None:
    use_up(nobody, "::ffff:192.0.2.1")
    assert ask(nobody, "192.0.2.1") == 429
    assert ask(nobody, "::ffff:192.0.2.2") == 403


@pytest.mark.parametrize("address", ["", "unix:", "not an address", "fe80::1%eth0", "192.0.2.1:4711"])
def test_an_address_of_no_known_form_is_answered_and_limited(address: str, nobody: Nobody) -> None:
    use_up(nobody, address)
