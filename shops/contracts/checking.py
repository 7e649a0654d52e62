"""Asks a carrier about a contract, before it is saved or after: are the credentials right, which products has it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from django.db import connection

from carriers.contract_checks import SAMPLE_SENDER, Finding, Terms
from carriers.errors import CarrierError, CredentialsRejected
from carriers.shipment import Credentials, ProductOverride
from shops.addresses import party
from shops.contracts.clients import client

if TYPE_CHECKING:
    from shops.models import Shop

is_checking = Lock()  # one at a time in a process: a carrier that hangs keeps one thread of it


@dataclass(frozen=True)
class Report:
    """A carrier's answer in words; without findings it told nothing about products."""

    is_good: bool
    summary: str
    findings: list[Finding] = field(default_factory=list)


def check(
    *,
    shop: "Shop",
    carrier_code: str,
    credentials: Credentials,
    products: Mapping[str, Mapping[str, Any] | None],
    commercial_name: str,
) -> Report:
    """Ask the carrier, with no database connection held."""
    overrides = {
        code: ProductOverride(own["carrier_code"], own["service"]) if own else None for code, own in products.items()
    }
    sender = party(shop.sender_address) if shop.sender_address else SAMPLE_SENDER
    if not is_checking.acquire(blocking=False):
        return Report(is_good=False, summary="Another contract is being checked. Try again in some seconds.")
    try:
        connection.close()
        findings = client(carrier_code).check_contract(Terms(overrides, sender, commercial_name), credentials)
    except CredentialsRejected as error:
        return Report(is_good=False, summary=f"{carrier_code} refuses the credentials: {error.detail}.")
    except CarrierError as error:
        reason = f"{carrier_code} was not reached, or gave no readable answer: {error}."
        return Report(is_good=False, summary=f"{reason} Nothing is known about the credentials.")
    finally:
        is_checking.release()
    return report(carrier_code, findings)


def report(carrier_code: str, findings: list[Finding]) -> Report:
    counts = [sum(finding.verdict == verdict for finding in findings) for verdict in ("included", "missing", "open")]
    words = [f"{count} {word}" for count, word in zip(counts, ("included", "not included", "left open"), strict=True)]
    told = ", ".join(word for count, word in zip(counts, words, strict=True) if count)
    summary = f"{carrier_code} accepts the credentials. Products: {told}."
    return Report(is_good=counts[1] == 0, summary=summary, findings=findings)
