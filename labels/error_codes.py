"""The one list of error codes: each with its HTTP status, its cause and its remedy.

The errors of this package take their status from it; the OpenAPI schema, the guide and the tests take it whole.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from carriers import CARRIERS
from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    OutcomeUnknown,
    PickupPointRejected,
    ProductNotInContract,
    RequestRejected,
)


@dataclass(frozen=True)
class ErrorCode:
    """What a `code` in an error's body means: why it came, and what the caller does about it."""

    code: str
    status: HTTPStatus
    cause: str
    remedy: str


# Where a carrier makes an order's parcels one by one, any of its refusals may come after the first.
_PARCELS_MADE: Final = " Where the message says that some parcels were made, do not order again: we settle that first."
# What each carrier can answer; {carrier} is its word.
_OF_A_CARRIER: Final[tuple[tuple[type[CarrierError], HTTPStatus, str, str], ...]] = (
    (
        ProductNotInContract,
        HTTPStatus.BAD_REQUEST,
        "The shop has no contract with {carrier}, or its contract does not have the product activated.",
        "Have the product activated on the contract, or order another product." + _PARCELS_MADE,
    ),
    (
        AddressRejected,
        HTTPStatus.BAD_REQUEST,
        (
            "An address is one that {carrier} can't print or does not deliver to; the message names the field, or "
            "quotes the carrier."
        ),
        "Correct the address and order again." + _PARCELS_MADE,
    ),
    (
        PickupPointRejected,
        HTTPStatus.BAD_REQUEST,
        "The pickup point is unknown to {carrier}, closed, or not for this product.",
        "Let the customer choose another pickup point and order again." + _PARCELS_MADE,
    ),
    (
        RequestRejected,
        HTTPStatus.BAD_REQUEST,
        (
            "{carrier} refuses the order for another reason, such as its weight, a phone number, the destination or "
            "customs; the message names the field, or quotes the carrier."
        ),
        (
            "Correct what the message names and order again. For customs, or `content1`, tell us: what is declared "
            "stands in the shop's contract." + _PARCELS_MADE
        ),
    ),
    (
        CredentialsRejected,
        HTTPStatus.BAD_GATEWAY,
        "{carrier} refuses the account number, password or key of the shop's contract.",
        "The order is not at fault. Tell us: the contract's credentials have to be corrected first." + _PARCELS_MADE,
    ),
    (
        CarrierUnavailable,
        HTTPStatus.BAD_GATEWAY,
        (
            "{carrier} can't be reached, is being given a rest after failures, has as many orders under way as it may "
            "have, or reports a failure of its own."
        ),
        "Nothing was made: retry in a minute." + _PARCELS_MADE,
    ),
    (
        OutcomeUnknown,
        HTTPStatus.BAD_GATEWAY,
        "{carrier} gave no answer in time, or none that can be read. It may have made a parcel.",
        (
            "Retry only with the same Idempotency-Key: it never buys a second label, and answers with the label once "
            "it is found. An order without a key must not be repeated before we have told you what became of it."
        ),
    ),
)
_OF_OURS: Final = (
    ErrorCode(
        "IDEMPOTENCY_KEY_INVALID",
        HTTPStatus.BAD_REQUEST,
        "The Idempotency-Key header is empty, longer than 255 characters, or has others than printable ASCII.",
        "Send 1 to 255 printable ASCII characters, such as a UUID.",
    ),
    ErrorCode(
        "IDEMPOTENCY_KEY_IN_PROGRESS",
        HTTPStatus.CONFLICT,
        "The first request with this Idempotency-Key is still running.",
        "Wait the seconds in Retry-After, then retry with the same key and the same body.",
    ),
    ErrorCode(
        "IDEMPOTENCY_KEY_REUSED",
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "This Idempotency-Key came before with another body.",
        (
            "Take a new key for a new order; send an unchanged body to repeat the earlier one. That one was bought, or "
            "may have been, in whole or in part: with changes and a new key it would be bought again."
        ),
    ),
    ErrorCode(
        "LABEL_STORAGE_UNAVAILABLE",
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "The label is bought and safe, but its PDF can't be stored, signed or read now.",
        (
            "Retry later with the same Idempotency-Key, or retrieve the label by the id in the message. An order "
            "without a key must not be repeated: it would buy another label. Open a PDF's URL again after the seconds "
            "in Retry-After."
        ),
    ),
)


def _all() -> Iterator[ErrorCode]:
    for error, status, cause, remedy in _OF_A_CARRIER:
        for carrier in CARRIERS:
            yield ErrorCode(error.code_for(carrier), status, cause.format(carrier=carrier), remedy)
    yield from _OF_OURS


CODES: Final[Mapping[str, ErrorCode]] = MappingProxyType({entry.code: entry for entry in _all()})
