"""One conversation with a carrier: what has to be true before it is asked, and what surrounds the questions.

The contract is there, and its credentials can be read; the circuit breaker of the service lets calls through, and its
bulkhead has a place; log lines name the label. Each call in the block has a deadline, and lets go of the database while
the carrier is silent: both are the client's (carriers.client, shops.contracts.metrics).
"""

from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext

from carriers.base import Carrier
from carriers.client import Service, calls_for
from carriers.errors import CarrierError
from carriers.shipment import Credentials
from shops.contracts.accounts import UnknownAccountError, credentials_for
from shops.contracts.bulkhead import NotAskedError, bulkhead
from shops.contracts.clients import client
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract


class NoAccountError(NotAskedError):
    """The shop has no contract with the carrier, or the account's credentials can't be read."""


class OfAccount(Protocol):
    """A row that a carrier is asked about on an account: a label or a deposit slip."""

    id: str
    shop_id: str
    carrier_code: str
    account_number: str


@dataclass(frozen=True)
class Conversation:
    """A carrier's client, and the credentials to ask it with."""

    carrier: Carrier
    credentials: Credentials
    is_test: bool


def said(failure: CarrierError) -> str:
    """Return a carrier's failure in the reader's language, and the carrier's own words as they are."""
    parts = (failure.field or gettext(failure.summary), gettext(failure.detail), failure.carrier_text)
    return gettext(": ").join(filter(None, parts))


@contextmanager
def conversation(
    contract: CarrierContract,
    credentials: Credentials,
    service: Service,
    *,
    about: str | None = None,
    key: Hashable = None,
) -> Iterator[Conversation]:
    """Talk to a service of a contract's carrier in the block, or of a test shop's sandbox, `about` a label's id.

    Raise BulkheadFullError, KeyInUseError, or CarrierUnavailable where the circuit breaker is open. In the block the
    client raises CarrierError only.
    """
    carrier_code, is_test = contract.carrier_code, contract.is_test
    carrier = client(carrier_code, is_test=is_test)
    if breaker := carrier.circuit_breakers.get(service):
        breaker.refuse_if_open(credentials.shop_id)
    with bulkhead.enter(carrier_code, service, key=key, is_test=is_test), calls_for(about):
        yield Conversation(carrier, credentials, is_test)


def conversation_about(row: OfAccount, service: Service) -> AbstractContextManager[Conversation]:
    """Talk about a label or a slip, on the account that it is of; raise NoAccountError too."""
    return conversation(*account_of(row), service, about=row.id)


def contract_with(shop_id: str, carrier_code: str) -> CarrierContract:
    """Return the shop's contract with a carrier; raise NoAccountError."""
    contract = CarrierContract.find(shop_id=shop_id, carrier_code=carrier_code)
    if contract is None:
        text = gettext("the shop has no {carrier} contract any more, so the carrier can't be asked")
        raise NoAccountError(text.format(carrier=carrier_code))
    return contract


def account_of(row: OfAccount) -> tuple[CarrierContract, Credentials]:
    """Return the contract and the credentials of the account that a label or a slip is of; raise NoAccountError."""
    contract = contract_with(row.shop_id, row.carrier_code)
    try:
        return contract, credentials_for(contract, row.account_number)
    except UnknownAccountError as error:
        text = gettext("account {number}, which it was bought on, is not kept any more")
        raise NoAccountError(text.format(number=row.account_number)) from error
    except UnreadableSecretError as error:
        raise NoAccountError(gettext("the contract's credentials can't be read: see CREDENTIALS_KEYS")) from error
