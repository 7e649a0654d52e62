"""Asks a carrier about a contract, before it is saved or after: its credentials, its products, what it includes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from django.utils.translation import gettext, gettext_noop

from carriers.client import Service
from carriers.errors import CarrierError, CredentialsRejected
from carriers.products import PRODUCTS
from carriers.shipment import Credentials, Party, ProductOverride
from carriers.trials import SAMPLE_SENDER, Finding, Terms, Verdict
from shops.contracts.addresses import party
from shops.contracts.bulkhead import NotAskedError
from shops.contracts.conversation import conversation, said
from shops.contracts.models import CarrierContract, override_of
from shops.staff.worded import forms_of, worded

DETAILS: Final = forms_of(
    gettext_noop("the contract has %s"),
    gettext_noop("the contract lacks %s"),
    gettext_noop("the contract does not include the product"),
    gettext_noop("a sample to %s is accepted"),
    gettext_noop("the carrier refused only the sample's pickup point"),
    gettext_noop("not asked: the product goes nowhere from the shop's sender address"),
)
Asked = dict[Credentials, dict[str, ProductOverride | None]]  # the products of each account


@dataclass(frozen=True)
class Report:
    """A carrier's answer in words; without findings it told nothing about products, without facts of the account."""

    is_good: bool
    summary: str
    findings: list[Finding] = field(default_factory=list)
    facts: Mapping[str, str] = field(default_factory=dict)


def check(
    *,
    contract: CarrierContract,
    credentials: tuple[Credentials, Credentials],
    products: Mapping[str, Mapping[str, Any] | None],
    commercial_name: str,
) -> Report:
    """Ask the carrier about each account and its products, as typed; the pickup account may be the same."""
    asked: Asked = {credentials[0]: {}}
    for code, own in products.items():
        account = credentials[PRODUCTS[code].needs_pickup_point]
        asked.setdefault(account, {})[code] = override_of(own)
    carrier_code, address = contract.carrier_code, contract.shop.sender_address
    sender = party(address) if address else SAMPLE_SENDER
    try:
        facts, findings = ask(contract, asked, sender, commercial_name)
    except NotAskedError:
        return Report(is_good=False, summary=gettext("Other contracts are being checked. Try again in some seconds."))
    except CredentialsRejected as error:
        text = gettext("{carrier_code} refuses the credentials: {detail}.")
        return Report(is_good=False, summary=text.format(carrier_code=carrier_code, detail=gettext(error.detail)))
    except CarrierError as error:
        text = gettext("{carrier_code} was not reached, or gave no readable answer: {error}.")
        reason = text.format(carrier_code=carrier_code, error=said(error))
        text = gettext("{reason} Nothing is known about the credentials.")
        return Report(is_good=False, summary=text.format(reason=reason))
    words = (gettext("included"), gettext("not included"), gettext("left open"))
    counts = Counter(finding.verdict for finding in findings)
    told = ", ".join(f"{counts[each]} {word}" for each, word in zip(Verdict, words, strict=True) if counts[each])
    summary = gettext("{carrier_code} accepts the credentials. Products: {told}.")
    summary = summary.format(carrier_code=carrier_code, told=told)
    shown = [replace(finding, detail=worded(finding.detail, DETAILS)) for finding in findings]
    return Report(is_good=not counts[Verdict.MISSING], summary=summary, findings=shown, facts=facts)


def ask(
    contract: CarrierContract, asked: Asked, sender: Party, commercial_name: str
) -> tuple[dict[str, str], list[Finding]]:
    """Return what the carrier tells of the accounts, and of their products; raise CarrierError or NotAskedError."""
    facts: dict[str, str] = {}
    findings: list[Finding] = []
    for credentials, products in asked.items():
        with conversation(contract, credentials, Service.CONTRACT_CHECKS) as talk:
            described = talk.carrier.describe_account(credentials)
            findings += talk.carrier.check_contract(Terms(products, sender, commercial_name), credentials)
        prefix = f"{credentials.account_number}: " if len(asked) > 1 else ""
        facts |= {prefix + gettext(name): gettext(value) for name, value in described.items()}
    return facts, findings
