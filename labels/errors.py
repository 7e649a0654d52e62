"""Errors of the label endpoints that carry a `code`."""

from http import HTTPStatus

from rest_framework.exceptions import APIException

from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected, OutcomeUnknown, ProductNotInContract
from labels.error_codes import CODES
from labels.models import ShippingLabel

RETRY_AFTER_S = 2
RETRY_WITH_KEY = "Retry only with the same Idempotency-Key: it never buys a second label."
WAIT_FOR_US = "It had no Idempotency-Key: do not order it again before we have told you what became of it."


class LabelError(APIException):
    """An error with a public code; `wait` becomes ``Retry-After``."""

    wait: int | None = None

    def __init__(self, message: str, *, code: str, status: int | None = None) -> None:
        """`status` is the code's own unless another is given."""
        super().__init__(message)
        self.public_code = code
        self.status_code = status or CODES[code].status


class ProductNotInContractError(LabelError):
    """The shop has no contract with the carrier, or the contract does not list the product."""

    def __init__(self, carrier_code: str, product_code: str) -> None:
        super().__init__(
            f"The product {product_code} is not activated on the shop's {carrier_code} contract."
            " Have it activated, or order another product.",
            code=ProductNotInContract.code_for(carrier_code),
        )


class PurchaseFailedError(LabelError):
    """The carrier gave no label, or none is known to exist; as the label's row has it."""

    def __init__(self, label: ShippingLabel) -> None:
        super().__init__(
            label.error_message, code=label.error_code, status=label.error_status or HTTPStatus.BAD_GATEWAY
        )


class NotAskedError(LabelError):
    """The carrier was not asked, as it is given a rest or too many purchases are at work; nothing was written."""

    def __init__(self, error: CarrierUnavailable) -> None:
        super().__init__(message_of(error), code=error.code)


class StorageUnavailableError(LabelError):
    """The label is bought and safe, but its PDF can't be stored or signed now."""

    def __init__(self, label: ShippingLabel) -> None:
        remedy = (
            "Retry with the same Idempotency-Key, or retrieve it later."
            if label.idempotency_key
            else "Do not order it again: retrieve it later by this id."
        )
        super().__init__(
            f"The label {label.id} is bought and safe, but its PDF can't be delivered now. {remedy}",
            code="LABEL_STORAGE_UNAVAILABLE",
        )


class PdfUnavailableError(LabelError):
    """A PDF that is stored can't be read now."""

    wait = RETRY_AFTER_S

    def __init__(self) -> None:
        super().__init__(
            "This label's PDF is stored, but can't be read now. Try again, or retrieve the label later.",
            code="LABEL_STORAGE_UNAVAILABLE",
        )


class IdempotencyKeyInvalidError(LabelError):
    """The header is not 1 to 255 printable characters."""

    def __init__(self) -> None:
        super().__init__(
            "Idempotency-Key: must have 1 to 255 printable ASCII characters.",
            code="IDEMPOTENCY_KEY_INVALID",
        )


class IdempotencyKeyInProgressError(LabelError):
    """The first request with the key is still running."""

    wait = RETRY_AFTER_S

    def __init__(self) -> None:
        super().__init__(
            "A request with this Idempotency-Key is still running. Retry when it has ended.",
            code="IDEMPOTENCY_KEY_IN_PROGRESS",
        )


class IdempotencyKeyReusedError(LabelError):
    """The key came before, with another body."""

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key was used with another body, whose label was bought or may have been. "
            "Use a new key only for another label.",
            code="IDEMPOTENCY_KEY_REUSED",
        )


def message_of(error: CarrierError, *, has_key: bool = True) -> str:
    """What happened, and what the shop can do about it, which depends on whether its order has an Idempotency-Key."""
    return f"{str(error).rstrip('.')}. {remedy_of(error, has_key=has_key)}".rstrip()


def remedy_of(error: CarrierError, *, has_key: bool) -> str:
    """What to do, where the carrier's own words do not say it."""
    if isinstance(error, OutcomeUnknown):
        return RETRY_WITH_KEY if has_key else WAIT_FOR_US
    if not error.is_nothing_made:
        return "Some of its parcels were made before: do not order them again until we have settled it."
    if isinstance(error, CarrierUnavailable):
        return "Nothing was made; a retry is safe."
    if isinstance(error, ProductNotInContract):
        return "Have it activated, or order another product."
    if isinstance(error, CredentialsRejected):
        return "The order is not at fault: have the contract's credentials corrected."
    return ""


def status_of(error: CarrierError) -> int:
    """400 where the shop can mend its request, 502 where it can't."""
    return CODES[error.code].status
