"""The errors with a `code`, which programs tell them apart by."""

from http import HTTPStatus
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
from shops.api.errors.exceptions import ApiError, ErrorEntry, ErrorTable

CODES: Final = ErrorTable()

# --- What a carrier causes: `failure` is the text of its exception ---


# A circuit breaker is open for half a minute; `work` takes up what is unknown every three.
RETRY_AFTER_S: Final = {CarrierUnavailable: 30, OutcomeUnknown: 180}


def declare_for_carriers(
    error: type[CarrierError], status: HTTPStatus, *, message: str = "{failure}.", cause: str, remedy: str
) -> None:
    """Declare an error once for each carrier, whose word stands in the code and the cause."""
    for carrier in CARRIERS:
        CODES.declare(
            error.code_for(carrier),
            status,
            message=message,
            cause=cause.format(carrier=carrier),
            remedy=remedy,
            retry_after_s=RETRY_AFTER_S.get(error),
            failure=str(error(carrier)),
        )


# Where a carrier makes an order's parcels one by one, any of its refusals may come after the first.
_PARCELS_MADE: Final = " Where the message says that some parcels were made, do not order again: we settle that first."
SOME_PARCELS_MADE: Final = (
    "{failure}. Some of its parcels were made before: do not order them again until we have settled it."
)
OUTCOME_UNKNOWN_WITHOUT_KEY: Final = (
    "{failure}. It had no Idempotency-Key: do not order it again before we have told you what became of it."
)
PRODUCT_NOT_ACTIVATED: Final = (
    "The product {product} is not activated on the shop's {carrier} contract."
    " Have it activated, or order another product."
)
declare_for_carriers(
    ProductNotInContract,
    HTTPStatus.BAD_REQUEST,
    message="{failure}. Have it activated, or order another product.",
    cause="The shop has no contract with {carrier}, or its contract does not have the product activated, as we or"
    " {carrier} know it.",
    remedy="Have the product activated on the contract, or order another product." + _PARCELS_MADE,
)
declare_for_carriers(
    AddressRejected,
    HTTPStatus.BAD_REQUEST,
    cause="An address is one that {carrier} can't print or does not deliver to: a text is too long, or postal code,"
    " town and country don't fit together. The message names the field of the order, or quotes the carrier.",
    remedy="Correct the address and order again." + _PARCELS_MADE,
)
declare_for_carriers(
    PickupPointRejected,
    HTTPStatus.BAD_REQUEST,
    cause="The pickup point is unknown to {carrier}, closed, full, not for this product, or does not take a parcel of"
    " this weight.",
    remedy="Let the customer choose another pickup point and order again." + _PARCELS_MADE,
)
declare_for_carriers(
    RequestRejected,
    HTTPStatus.BAD_REQUEST,
    cause="{carrier} refuses the order for another reason, such as its weight, a phone number, the destination or"
    " customs; the message names the field of the order, or quotes the carrier.",
    remedy="Correct the field that the message names and order again. A destination that needs customs takes the"
    " order's own `customs`; without one we declare what is set in the shop's contract." + _PARCELS_MADE,
)
declare_for_carriers(
    CredentialsRejected,
    HTTPStatus.BAD_GATEWAY,
    message="{failure}. The order is not at fault: have the contract's credentials corrected.",
    cause="{carrier} refuses the account number, password or key of the shop's contract.",
    remedy="The order is not at fault. Tell us: the contract's credentials have to be corrected first." + _PARCELS_MADE,
)
declare_for_carriers(
    CarrierUnavailable,
    HTTPStatus.BAD_GATEWAY,
    message="{failure}. Nothing was made; a retry is safe.",
    cause="{carrier} can't be reached, its circuit breaker is open after repeated failures, too many orders for it are"
    " under way, or it reports a failure of its own.",
    remedy="Nothing was made: retry after the seconds in Retry-After." + _PARCELS_MADE,
)
declare_for_carriers(
    OutcomeUnknown,
    HTTPStatus.BAD_GATEWAY,
    message="{failure}. Retry only with the same Idempotency-Key: it never buys a second label.",
    cause="{carrier} gave no answer in time, or none that can be read. It may have made a parcel.",
    remedy="Retry only with the same Idempotency-Key, after the seconds in Retry-After: it never buys a second label,"
    " and answers with the label once it is found. An order without a key must not be repeated before we have told you"
    " what became of it. The header Label-Id names it.",
)

# --- What the service itself says ---

IDEMPOTENCY_KEY_INVALID: Final = CODES.declare(
    "IDEMPOTENCY_KEY_INVALID",
    HTTPStatus.BAD_REQUEST,
    message="Idempotency-Key: must have 1 to 255 printable ASCII characters.",
    cause="The Idempotency-Key header is empty, longer than 255 characters, or has characters other than printable"
    " ASCII.",
    remedy="Send 1 to 255 printable ASCII characters, such as a UUID.",
)
IDEMPOTENCY_KEY_IN_PROGRESS: Final = CODES.declare(
    "IDEMPOTENCY_KEY_IN_PROGRESS",
    HTTPStatus.CONFLICT,
    message="A request with this Idempotency-Key is still running. Retry when it has ended.",
    cause="The first request with this Idempotency-Key is still running.",
    remedy="Wait the seconds in Retry-After, then retry with the same key and the same body.",
    retry_after_s=2,
)
IDEMPOTENCY_KEY_REUSED: Final = CODES.declare(
    "IDEMPOTENCY_KEY_REUSED",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    message="This Idempotency-Key was used with another body, whose label was bought or may have been. Use a new key"
    " only for another label.",
    cause="This Idempotency-Key was used before with another body.",
    remedy="Use a new key for a new order; send an unchanged body to repeat the earlier one. That one was bought, or"
    " may have been, in whole or in part: with changes and a new key it would be bought again.",
)
LABEL_CANCELLED: Final = CODES.declare(
    "LABEL_CANCELLED",
    HTTPStatus.CONFLICT,
    message="The label {id} of this Idempotency-Key was cancelled. Order another with a new key.",
    cause="The label that was bought with this Idempotency-Key was cancelled.",
    remedy="Use a new key to order another label.",
    id="0RCRUGWGBZDJINQ",
)
LABEL_BEING_CANCELLED: Final = CODES.declare(
    "LABEL_BEING_CANCELLED",
    HTTPStatus.CONFLICT,
    message="The label {id} of this Idempotency-Key is being cancelled, and may stay bought. Retry with the same key.",
    cause="The label that was bought with this Idempotency-Key is being cancelled, and the carrier has not done it yet:"
    " it may stay bought.",
    remedy="Wait the seconds in Retry-After, then retry with the same key: only `LABEL_CANCELLED` says that another may"
    " be ordered.",
    retry_after_s=60,
    id="0RCRUGWGBZDJINQ",
)
LABEL_NOT_CANCELLABLE: Final = CODES.declare(
    "LABEL_NOT_CANCELLABLE",
    HTTPStatus.CONFLICT,
    message="The label can't be cancelled: {reason}. It stays bought.",
    cause="The carrier has taken a parcel of the label in charge, has delivered it, or refuses for the reason that the"
    " message quotes; or the label is older than 90 days.",
    remedy="The label stays bought. Have the parcel returned, or ask the carrier to stop it.",
    reason="the carrier has taken it in charge",
)
EVENTS_GONE: Final = CODES.declare(
    "EVENTS_GONE",
    HTTPStatus.GONE,
    message="Events behind this place are no longer kept. Begin without `after`: the ids tell which ones you have.",
    cause="The place in `after` is older than the events that are kept, or the service was restored to a moment before"
    " it.",
    remedy="Ask without `after`, which begins with the oldest event that is kept, and leave out the ids that you have.",
)
TOO_MANY_WEBHOOKS: Final = CODES.declare(
    "TOO_MANY_WEBHOOKS",
    HTTPStatus.CONFLICT,
    message="The shop has {count} webhook endpoints, as many as it may. Delete one first.",
    cause="The shop has as many webhook endpoints as it may have.",
    remedy="Delete an endpoint, or change one.",
    count=10,
)
LABEL_STORAGE_UNAVAILABLE: Final = CODES.declare(
    "LABEL_STORAGE_UNAVAILABLE",
    HTTPStatus.INTERNAL_SERVER_ERROR,
    message="The label {id} is bought and safe, but its PDF can't be delivered now. Retry with the same"
    " Idempotency-Key, or retrieve it later.",
    cause="The label is bought and safe, but its PDF can't be stored, signed or read now.",
    remedy="Retry later with the same Idempotency-Key, or retrieve the label by the id in the message. An order without"
    " a key must not be repeated: it would buy another label. Open a PDF's URL again after the seconds in Retry-After.",
    id="0RCRUGWGBZDJINQ",
)
LABEL_STORAGE_UNAVAILABLE_WITHOUT_KEY: Final = LABEL_STORAGE_UNAVAILABLE.saying(
    "The label {id} is bought and safe, but its PDF can't be delivered now. Do not order it again: retrieve it later by"
    " this id."
)
PDF_UNREADABLE: Final = LABEL_STORAGE_UNAVAILABLE.saying(
    "This label's PDF is stored, but can't be read now. Try again, or retrieve the label later.",
    retry_after_s=2,
)


def product_not_activated(carrier: str) -> ErrorEntry:
    """Return the entry for a product that is not on the shop's contract; its facts are `product` and `carrier`."""
    return CODES[ProductNotInContract.code_for(carrier)].saying(PRODUCT_NOT_ACTIVATED)


class CarrierFailedError(ApiError):
    """A carrier's error, with what the shop can do about it, by its order's Idempotency-Key or without one."""

    def __init__(self, error: CarrierError, *, has_key: bool = True, wait: int | None = None) -> None:
        entry = CODES[error.code]
        if isinstance(error, OutcomeUnknown):
            entry = entry if has_key else entry.saying(OUTCOME_UNKNOWN_WITHOUT_KEY)
        elif not error.is_nothing_made:
            entry = entry.saying(SOME_PARCELS_MADE)
        super().__init__(entry, wait=wait, failure=str(error).rstrip("."))
