"""The statuses of a parcel, the events that carriers report, and the base class of their tracking clients."""

from abc import abstractmethod
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Final

from carriers.client import Client, Limits, Service
from carriers.http.transport import Transport
from carriers.observer import Observer
from carriers.shipment import Credentials

# Far above a parcel with hundreds of events.
MAX_ANSWER_BYTES: Final = 1024 * 1024


class Status(StrEnum):
    """The status of a parcel, as the API names it."""

    FULFILLED = "FULFILLED"
    IN_TRANSIT = "IN_TRANSIT"
    OUT_FOR_DELIVERY = "OUT_FOR_DELIVERY"
    DELIVERED = "DELIVERED"
    DELIVERY_FAILURE = "DELIVERY_FAILURE"
    WAITING_FOR_PICKUP = "WAITING_FOR_PICKUP"
    RETURN_TO_SENDER = "RETURN_TO_SENDER"
    RETURNED_TO_SENDER = "RETURNED_TO_SENDER"
    EXCEPTION = "EXCEPTION"


@dataclass(frozen=True)
class TrackingEvent:
    """One event of one tracking number: code, text, time and place, nothing personal.

    `status` is what the carrier's table says of the code, None if it changes nothing. `is_listed` is false for a code
    that the table lacks. `kept_until` is when a parcel that arrived at a pickup point goes back, where that is known.
    """

    tracking_number: str
    code: str
    happened_at: datetime  # aware
    text: str
    place: str = ""
    status: Status | None = None
    is_listed: bool = True
    kept_until: datetime | None = None


@dataclass(frozen=True)
class TrackingAnswer:
    """All that a carrier tells of a tracking number, its events oldest first; equal times keep the carrier's order.

    `is_known` is false for a number that the carrier does not know (yet). The expected delivery, where the carrier
    names one, is between two moments.
    """

    tracking_number: str
    is_known: bool
    events: tuple[TrackingEvent, ...] = ()
    expected_from: datetime | None = None
    expected_until: datetime | None = None


class Tracker(Client):
    """A client of a carrier's tracking service, with a circuit breaker and connections of its own."""

    services = (Service.TRACKING,)
    needs_contract: ClassVar[bool]  # true if it is asked with the credentials of the shop's contract

    def __init__(
        self,
        url: str,
        limits: Limits | None = None,
        transport: Transport | None = None,
        observer: Observer | None = None,
    ) -> None:
        limits = limits or Limits()
        own = transport or Transport(pool_size=limits.pool_size, max_answer_bytes=MAX_ANSWER_BYTES)
        super().__init__(limits, own, observer)
        self._url = url

    @abstractmethod
    def track(self, tracking_number: str, credentials: Credentials | None = None) -> TrackingAnswer:
        """Ask for one tracking number.

        Raises CarrierUnavailable for an outage, a 429 and an answer that can't be read, CredentialsRejected for
        credentials that the carrier refuses; no other exception.
        """
