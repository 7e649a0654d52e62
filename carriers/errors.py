"""The exceptions that leave this package, as one tree.

CarrierError
├── Rejected                   the request was refused: nothing was made, the same request fails again
│   ├── ProductNotInContract   the contract does not list the product
│   ├── AddressRejected        the sender's or the recipient's address
│   ├── PickupPointRejected    the pickup point is missing, malformed, unknown or closed
│   ├── RequestRejected        any other documented refusal: dates, weight, phone, customs
│   ├── CredentialsRejected    the contract's account number, password or key
│   └── CancellationRefused    the parcel cannot be cancelled, or not yet
├── CarrierUnavailable         nothing was made, a retry is safe
│   └── NotWritten             a fault of ours, before anything was sent
└── OutcomeUnknown             the carrier may have made a parcel: never send the request again
"""

from copy import copy
from typing import TYPE_CHECKING, ClassVar

from carriers.shipment import NOTHING_MADE, PurchasedLabel

if TYPE_CHECKING:
    from collections.abc import Iterable


class CarrierError(Exception):
    """A call to a carrier that gave no label, with the facts that a caller needs.

    `str()` may be shown to an API client: the carrier's text in it is redacted and holds no secret and no address.
    `field` is the API's JSON path of the wrong value, if known. `made` is what exists at the carrier although the label
    as a whole failed.
    `is_carrier_failing` is true if the failure counts towards the circuit breaker; a failure that a single request
    may have caused does not.
    """

    code_suffix: ClassVar[str] = "ERROR"
    summary: ClassVar[str] = "The carrier gave no label"
    is_uncertain: ClassVar[bool] = False  # true if parcels may exist that `made` does not name

    def __init__(  # noqa: PLR0913 - an error carries its facts, all but the carrier optional
        self,
        carrier: str,
        detail: str = "",
        *,
        field: str = "",
        carrier_code: str = "",
        carrier_text: str = "",
        made: PurchasedLabel = NOTHING_MADE,
        is_carrier_failing: bool = False,
    ) -> None:
        self.carrier = carrier
        self.detail = detail
        self.field = field
        self.http_status: int | None = None  # of the answer, if there was one
        self.carrier_code = carrier_code
        self.carrier_text = carrier_text
        self.made = made
        self.is_carrier_failing = is_carrier_failing
        super().__init__(": ".join(filter(None, (field or self.summary, detail, carrier_text))))

    @classmethod
    def code_for(cls, carrier: str) -> str:
        """The API's error code, such as ALPHA_ADDRESS_REJECTED."""
        return f"{carrier.upper()}_{cls.code_suffix}"

    @property
    def code(self) -> str:
        return self.code_for(self.carrier)

    @property
    def explanation(self) -> str:
        """The text for an API client, without a full stop at the end."""
        return str(self).rstrip(".")

    @property
    def is_nothing_made(self) -> bool:
        """Return whether certainly no parcel exists at the carrier."""
        return not (self.is_uncertain or self.made.tracking_numbers)


class Rejected(CarrierError):  # noqa: N818 - named for what happened
    """The request was refused, by the carrier or before it was sent.

    `others` are what else is refused of it: by the same answer, in a dry run's other parcels, or in other fields.
    """

    others: tuple["Rejected", ...] = ()
    code_suffix = "REQUEST_REJECTED"
    summary = "The carrier refused the request"

    def __str__(self) -> str:
        """The texts of this refusal and of the others, each once."""
        own, texts = super().__str__(), map(str, self.others)
        return ". ".join(dict.fromkeys(text.rstrip(".") for text in (own, *texts))) if self.others else own

    @property
    def each(self) -> tuple["Rejected", ...]:
        """Every refusal by itself."""
        return (self.with_others(()), *self.others) if self.others else (self,)

    def with_others(self, others: "Iterable[Rejected]") -> "Rejected":
        """Return this refusal anew, with others: it may be remembered, so it is not changed."""
        again = copy(self)
        again.args, again.others = self.args, tuple(others)
        return again


class ProductNotInContract(Rejected):
    code_suffix = "PRODUCT_NOT_IN_CONTRACT"
    summary = "The product is not on the carrier contract"


class AddressRejected(Rejected):
    code_suffix = "ADDRESS_REJECTED"
    summary = "The carrier refused the address"


class PickupPointRejected(Rejected):
    code_suffix = "PICKUP_POINT_REJECTED"
    summary = "The carrier refused the pickup point"


class RequestRejected(Rejected):
    """Any other documented refusal; `parcel_number` is the parcel for which a deposit slip is refused, if known."""

    parcel_number = ""


class CredentialsRejected(Rejected):
    code_suffix = "CREDENTIALS_REJECTED"
    summary = "The carrier refused the contract's credentials"


class CancellationRefused(Rejected):
    """The carrier did not cancel a parcel; `may_be_too_early` if it may know the parcel only later."""

    code_suffix = "CANCELLATION_REFUSED"
    summary = "The carrier refused the cancellation"
    may_be_too_early = False


class CarrierUnavailable(CarrierError):  # noqa: N818 - named for what happened
    """The carrier was not reached, its circuit breaker is open, or it reported a failure: this call made nothing."""

    code_suffix = "UNAVAILABLE"
    summary = "The carrier is unavailable"


class NotWritten(CarrierUnavailable):
    """A fault of ours, which is the cause, kept the order from being written: the carrier was not asked."""


class OutcomeUnknown(CarrierError):  # noqa: N818 - named for what happened
    """The request may have been carried out, but no readable answer came."""

    code_suffix = "OUTCOME_UNKNOWN"
    summary = "The carrier's answer is missing or unreadable, a parcel may have been made"
    is_uncertain = True
