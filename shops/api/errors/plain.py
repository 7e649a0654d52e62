"""The errors without a `code`: their status and message tell them apart."""

from typing import Final

from shops.api.errors.exceptions import read_entries

PLAIN_ERRORS: Final = read_entries("plain.toml")

SEARCH_WITHOUT_FILTER: Final = PLAIN_ERRORS["search_without_filter"]
BODY_NOT_JSON: Final = PLAIN_ERRORS["body_not_json"]
BODY_EMPTY: Final = BODY_NOT_JSON.saying("The body is empty. Send JSON.")
BODY_NOT_UTF8: Final = BODY_NOT_JSON.saying("The body is not UTF-8.")
BODY_TOO_DEEP: Final = BODY_NOT_JSON.saying("The body is nested too deeply.")
BODY_CUT_SHORT: Final = BODY_NOT_JSON.saying("The body is shorter than its Content-Length says.")
REQUEST_UNREADABLE: Final = PLAIN_ERRORS["request_unreadable"]
HOST_UNKNOWN: Final = PLAIN_ERRORS["host_unknown"]
HTTPS_REQUIRED: Final = PLAIN_ERRORS["https_required"]
TOKEN_MISSING: Final = PLAIN_ERRORS["token_missing"]
TOKEN_INVALID: Final = PLAIN_ERRORS["token_invalid"]
LINK_INVALID: Final = PLAIN_ERRORS["link_invalid"]
PARCEL_NOT_FOUND: Final = PLAIN_ERRORS["parcel_not_found"]
LABEL_NOT_FOUND: Final = PLAIN_ERRORS["label_not_found"]
WEBHOOK_NOT_FOUND: Final = PLAIN_ERRORS["webhook_not_found"]
PDF_NOT_FOUND: Final = PLAIN_ERRORS["pdf_not_found"]
PATH_UNKNOWN: Final = PLAIN_ERRORS["path_unknown"]
METHOD_NOT_ALLOWED: Final = PLAIN_ERRORS["method_not_allowed"]
BODY_TOO_LARGE: Final = PLAIN_ERRORS["body_too_large"]
MEDIA_TYPE_UNSUPPORTED: Final = PLAIN_ERRORS["media_type_unsupported"]
LIMIT_EXCEEDED: Final = PLAIN_ERRORS["limit_exceeded"]
UNEXPECTED: Final = PLAIN_ERRORS["unexpected"]
ORDERS_HELD_UP: Final = PLAIN_ERRORS["orders_held_up"]
HELD_UP: Final = PLAIN_ERRORS["held_up"]
TOO_BUSY: Final = PLAIN_ERRORS["too_busy"]
