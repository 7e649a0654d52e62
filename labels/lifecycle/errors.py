"""Errors of a purchase, made from its label's row."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final

from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected, OutcomeUnknown
from labels.models import LabelState, ShippingLabel
from shops.api.errors.coded import (
    CODES,
    LABEL_NOT_CANCELLABLE,
    LABEL_STORAGE_UNAVAILABLE,
    LABEL_STORAGE_UNAVAILABLE_WITHOUT_KEY,
    BusyError,
    entry_of,
)
from shops.api.errors.exceptions import ApiError, ErrorEntry


class LabelError(ApiError):
    """An error of an order that has a label, or may have one: its row is known."""

    def __init__(self, entry: ErrorEntry, label: ShippingLabel, **facts: Any) -> None:
        super().__init__(entry, id=label.id, **facts)
        self.label = label


class PurchaseFailedError(LabelError):
    """The carrier gave no label, or none is known to exist; code, status and message are the row's."""

    def __init__(self, label: ShippingLabel) -> None:
        status, known = HTTPStatus(label.error_status or HTTPStatus.BAD_GATEWAY), CODES.get(label.error_code)
        # The pause before the order may be sent again; none where it may not.
        is_left_alone = label.state == LabelState.INCOMPLETE or (is_unknown(label) and label.idempotency_key is None)
        pause_s = known.retry_after_s if known and not is_left_alone else None
        entry = ErrorEntry(label.error_code, (status,), "{message}", retry_after_s=pause_s)
        super().__init__(entry, label, message=label.error_message)
        if is_unknown(label):
            self.headers |= {"Label-Id": label.id}


def is_unknown(label: ShippingLabel) -> bool:
    return label.error_code == OutcomeUnknown.code_for(label.carrier_code)


class StorageUnavailableError(LabelError):
    """The label is bought and safe, but its PDF can't be stored or signed now."""

    def __init__(self, label: ShippingLabel) -> None:
        entry = LABEL_STORAGE_UNAVAILABLE if label.idempotency_key else LABEL_STORAGE_UNAVAILABLE_WITHOUT_KEY
        super().__init__(entry, label)


class NotCancelledError(ApiError):
    """The label stays bought: the carrier, or what it has reported, forbids a cancellation, or it was not reached."""

    def __init__(self, reason: str, failure: CarrierError | None) -> None:
        entry = LABEL_NOT_CANCELLABLE
        if failure and (words := STAYS_BOUGHT.get(type(failure))):
            entry = replace(entry_of(failure), message=words)
        super().__init__(entry, reason=failure.explanation if failure else reason.rstrip("."))


STAYS_BOUGHT: Final[dict[type[CarrierError], str]] = {
    **dict.fromkeys((CarrierUnavailable, BusyError), "{reason}. The label stays bought, and a retry is safe."),
    CredentialsRejected: "{reason}. The label stays bought: have the contract's credentials corrected.",
}
