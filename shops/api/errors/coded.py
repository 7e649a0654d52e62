"""The errors with a `code`, which programs tell them apart by."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from carriers import CARRIERS, errors
from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown, ProductNotInContract
from shops.api.errors.exceptions import ApiError, ErrorEntry, read_entries

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

BUSY_S: Final = 2


def _of_carriers() -> Iterator[ErrorEntry]:
    """Yield an error once for each carrier, whose word stands in the code and the cause."""
    for name, entry in read_entries("carriers.toml").items():
        error: type[CarrierError] = getattr(errors, name)
        for carrier in CARRIERS:
            yield replace(
                entry,
                name=error.code_for(carrier),
                cause=entry.cause.format(carrier=carrier),
                remedy=entry.remedy.format(parcels_made=_PARCELS_MADE),
                example={"failure": str(error(carrier))},
            )


CODES: Final = {entry.name: entry for entry in _of_carriers()} | read_entries("coded.toml")

IDEMPOTENCY_KEY_INVALID: Final = CODES["IDEMPOTENCY_KEY_INVALID"]
IDEMPOTENCY_KEY_IN_PROGRESS: Final = CODES["IDEMPOTENCY_KEY_IN_PROGRESS"]
IDEMPOTENCY_KEY_REUSED: Final = CODES["IDEMPOTENCY_KEY_REUSED"]
LABEL_CANCELLED: Final = CODES["LABEL_CANCELLED"]
LABEL_BEING_CANCELLED: Final = CODES["LABEL_BEING_CANCELLED"]
LABEL_NOT_CANCELLABLE: Final = CODES["LABEL_NOT_CANCELLABLE"]
EVENTS_GONE: Final = CODES["EVENTS_GONE"]
TOO_MANY_WEBHOOKS: Final = CODES["TOO_MANY_WEBHOOKS"]
LABEL_STORAGE_UNAVAILABLE: Final = CODES["LABEL_STORAGE_UNAVAILABLE"]
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


class SettledError(CarrierUnavailable):
    """The end of an order of which there is no label, in words that say what became of its parcels."""

    summary = "The order is settled"


class BusyError(CarrierUnavailable):
    """As many requests for the carrier are under way as the bulkhead admits: a burst is over soon."""


def entry_of(error: CarrierError) -> ErrorEntry:
    entry = CODES[error.code]
    return replace(entry, retry_after_s=BUSY_S) if isinstance(error, BusyError) else entry


class CarrierFailedError(ApiError):
    """A carrier's error, with what the shop can do about it, by its order's Idempotency-Key or without one."""

    def __init__(self, error: CarrierError, *, has_key: bool = True) -> None:
        entry = entry_of(error)
        if isinstance(error, OutcomeUnknown):
            entry = entry if has_key else entry.saying(OUTCOME_UNKNOWN_WITHOUT_KEY)
        elif isinstance(error, SettledError):
            entry = entry.saying("{failure}; a retry is safe.")
        elif not error.is_nothing_made:
            entry = entry.saying(SOME_PARCELS_MADE)
        super().__init__(entry, failure=error.explanation)
