"""Proofs of delivery, asked of the carrier while staff wait."""

from collections.abc import Iterable, Iterator, Sequence

from django.conf import settings
from django.utils.translation import gettext as _

from carriers import CARRIERS, pdf
from carriers.client import Service
from carriers.errors import CarrierError
from carriers.shipment import Credentials
from parcels.models import Parcel, TrackingNumber
from shops.contracts.accounts import others_of
from shops.contracts.bulkhead import NotAskedError
from shops.contracts.conversation import NoAccountError, conversation
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract


def may_exist(parcel: Parcel, numbers: Iterable[TrackingNumber]) -> bool:
    return parcel.delivery_date is not None and any(map(is_proved, numbers))


def is_proved(number: TrackingNumber) -> bool:
    """Tell if its carrier can be asked for proofs."""
    carrier = CARRIERS.get(number.carrier_code)
    return carrier is not None and carrier.proves_deliveries


def proofs(numbers: Iterable[TrackingNumber]) -> list[bytes]:
    """Ask for the proofs of all numbers; raise CarrierError, NotAskedError or UnreadableSecretError."""
    return [proof for number in filter(is_proved, numbers) if (proof := proof_of(number))]


def proof_of(number: TrackingNumber) -> bytes | None:
    """Ask with each account of the shop's contract, as the parcel may have been bought on any."""
    contract = CarrierContract.find(shop_id=number.shop_id, carrier_code=number.carrier_code)
    if contract is None:
        raise NoAccountError(f"the shop has no {number.carrier_code} contract any more, so the carrier can't be asked")
    for credentials in accounts_of(contract):
        with conversation(contract, credentials, Service.CANCELLATION, about=number.label or None) as talk:
            if proof := talk.carrier.proof_of_delivery(number.number, talk.credentials):
                return proof
    return None


def accounts_of(contract: CarrierContract) -> Iterator[Credentials]:
    yield contract.credentials
    yield from others_of([contract])[contract.shop_id]


def merged(files: Sequence[bytes]) -> bytes:
    return pdf.rewritten(files, settings.CARRIER_TIMEOUT)


def gathered(parcel: Parcel, numbers: Sequence[TrackingNumber]) -> tuple[list[bytes], str]:
    """Return the proofs of a delivered parcel, and in words what became of the question."""
    if not may_exist(parcel, numbers):
        return [], ""
    try:
        found = proofs(numbers)
    except (CarrierError, NotAskedError, UnreadableSecretError):
        return [], _("The carrier could not be asked for its proof.")
    return found, _("The carrier's proof follows.") if found else _("The carrier has no proof of it.")
