"""Errors of a purchase, told by its label's row."""

from http import HTTPStatus

from labels.models import ShippingLabel
from shops.errors.coded import LABEL_STORAGE_UNAVAILABLE, LABEL_STORAGE_UNAVAILABLE_WITHOUT_KEY
from shops.errors.entries import ErrorEntry
from shops.errors.exceptions import ApiError


class PurchaseFailedError(ApiError):
    """The carrier gave no label, or none is known to exist; code, status and message are the row's."""

    def __init__(self, label: ShippingLabel) -> None:
        status = HTTPStatus(label.error_status or HTTPStatus.BAD_GATEWAY)
        super().__init__(ErrorEntry(label.error_code, (status,), "{message}"), message=label.error_message)


class StorageUnavailableError(ApiError):
    """The label is bought and safe, but its PDF can't be stored or signed now."""

    def __init__(self, label: ShippingLabel) -> None:
        entry = LABEL_STORAGE_UNAVAILABLE if label.idempotency_key else LABEL_STORAGE_UNAVAILABLE_WITHOUT_KEY
        super().__init__(entry, id=label.id)
