"""The request's `fields`: pairs of a documented key and a value."""

from carriers.sandbox.beta.json_request import Json
from carriers.sandbox.beta.violations import Violations

Fields = dict[str, str]

LINK_KEYS = ("TYPE_MULTI_PARCEL", "PARCEL_ITERATION_NUMBER", "TOTAL_NUMBER_PARCEL", "LIST_FOLLOWER_PARCEL")
EORI, FORM_FORMAT, ACCOUNT_NUMBER = "EORI", "OUTPUT_PRINT_TYPE_CN23", "ACCOUNT_NUMBER"
SIZE_KEYS = ("LENGTH", "WIDTH", "HEIGHT")
KEYS = frozenset({*LINK_KEYS, *SIZE_KEYS, EORI, FORM_FORMAT, ACCOUNT_NUMBER})
FORM_FORMATS = ("PDF_A4_300dpi",)  # of the published ones, those that are drawn here
NOT_POSSIBLE = 30318


def read_fields(body: Json) -> Fields:
    return {pair.get("key", ""): pair.get("value", "") for pair in body["fields"].get("field", [])}


def validate_fields(body: Json, violations: Violations) -> None:
    """Require known keys, each once, with values that do not depend on the rest of the request."""
    fields = read_fields(body)
    is_known = len(fields) == len(body["fields"].get("field", [])) and fields.keys() <= KEYS
    violations.require(is_known, NOT_POSSIBLE, "fields: unknown or repeated key")
    violations.require(fields.get(FORM_FORMAT, FORM_FORMATS[0]) in FORM_FORMATS, NOT_POSSIBLE, FORM_FORMAT)


def small_number(text: str) -> int:
    """Return a number of one digit, or 0, which is no parcel's rank."""
    return int(text) if len(text) == 1 and text in "0123456789" else 0
