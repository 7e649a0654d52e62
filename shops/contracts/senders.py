"""Checks of a shop's own sender address, for the command and for the admin's form."""

from collections.abc import Mapping
from typing import Any

from carriers import CARRIERS
from carriers.errors import Rejected
from carriers.validation import SENDER
from shops.api.field_faults import describe_faults
from shops.contracts.addresses import AddressSerializer, party


class SenderError(ValueError):
    """The address is wrong; `faults` are the fields' problems where they are known by field."""

    def __init__(self, problem: str, faults: Mapping[str, Any] | None = None) -> None:
        super().__init__(problem)
        self.faults = faults or {}


def checked(data: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the address, and by carrier the reason why its labels can't be sent from it; raise SenderError."""
    serializer = AddressSerializer(data=data)
    if not serializer.is_valid():
        raise SenderError(describe_faults(serializer.errors), serializer.errors)
    address: dict[str, str] = serializer.validated_data
    refusals = refusals_of(address)
    if len(refusals) == len(CARRIERS):
        raise SenderError(next(iter(refusals.values())))
    return address, refusals


def refusals_of(address: dict[str, str]) -> dict[str, str]:
    """Return, by carrier, the reason why it would refuse this sender in every order."""
    refusals = {}
    for code, carrier in CARRIERS.items():
        try:
            carrier.check_sender(party(address))
        except Rejected as error:
            refusals[code] = str(error).replace(f"{SENDER}.", "")
    return refusals
