"""Everything that can go wrong with a request: the errors with a `code`, and those that their status tells apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from labels.error_codes import CODES, ErrorCode

__all__ = ["CODES", "PLAIN_ERRORS", "ErrorCode", "PlainError"]


@dataclass(frozen=True)
class PlainError:
    """An error without a `code`; `message` is one that it comes with, sent with one of the statuses."""

    name: str
    statuses: tuple[HTTPStatus, ...]
    message: str
    cause: str
    remedy: str


_ALL: Final = (
    PlainError(
        "search_without_filter",
        (HTTPStatus.BAD_REQUEST,),
        "One of the query parameters orderName and email must be provided.",
        "A search names neither an order nor an e-mail address. An empty parameter counts as not given.",
        "Send orderName, email, or both.",
    ),
    PlainError(
        "body_invalid",
        (HTTPStatus.BAD_REQUEST,),
        "destinationAddress.city: is required. parcels[0].weight: must be above 0 and at most 30 kilograms.",
        "The body is JSON, but not an order that can be bought.",
        "Correct every field that the message names, by its JSON path, and send the order again.",
    ),
    PlainError(
        "body_not_json",
        (HTTPStatus.BAD_REQUEST,),
        "The body is not valid JSON: unexpected end of data: line 1 column 2 (char 1).",
        "The body can't be parsed: none or not all of it came, broken JSON, NaN or infinity, invalid UTF-8, or endless"
        " nesting.",
        "Send UTF-8 JSON as a JSON library writes it.",
    ),
    PlainError(
        "request_unreadable",
        (HTTPStatus.BAD_REQUEST,),
        "The request can't be read. Send at most 1000 query parameters, percent-encoded as UTF-8.",
        "The query string holds more parameters than are read.",
        "Send the documented parameters only.",
    ),
    PlainError(
        "host_unknown",
        (HTTPStatus.BAD_REQUEST,),
        "The Host header names no host served here. Call the service by the name you were given.",
        "The request came to the service under a name that is not its own.",
        "Use the base URL you were given; do not call the service by its address or through another name.",
    ),
    PlainError(
        "token_missing",
        (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN),
        "A bearer token is required: Authorization: Bearer <ACCESS_TOKEN>.",
        "The request has no Authorization header, or one of another scheme. 401 for labels, 403 for parcels.",
        "Send the header with the shop's access token.",
    ),
    PlainError(
        "token_invalid",
        (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN),
        "The access token is unknown, expired or revoked, or its shop is inactive. Send a current one.",
        "No active shop has this token now. 401 for labels, 403 for parcels.",
        "Check that the token was copied whole; ask for a new one if it has expired.",
    ),
    PlainError(
        "link_invalid",
        (HTTPStatus.FORBIDDEN,),
        "This link is altered or has expired. Retrieve the label for a new one.",
        "A PDF's URL is older than 15 minutes, or was not used as it was given.",
        "Retrieve the label by its id: the answer has a fresh labelUrl.",
    ),
    PlainError(
        "parcel_not_found",
        (HTTPStatus.NOT_FOUND,),
        "No parcel has the tracking number 'XU000000020FR'.",
        "No parcel of the shop has this tracking number. Another shop's parcel is no different from none.",
        "Check the number, its case and its escaping in the path. A parcel is found once it has been imported.",
    ),
    PlainError(
        "label_not_found",
        (HTTPStatus.NOT_FOUND,),
        "There is no label with this id.",
        "No label of the shop has this id. Another shop's label is no different from none.",
        "Use the id of the answer that the label was bought with.",
    ),
    PlainError(
        "pdf_not_found",
        (HTTPStatus.NOT_FOUND,),
        "This label's PDF is no longer kept.",
        "The link is right, but the PDF was removed, by its age as a rule. The label itself is still there.",
        "Nothing is wrong: PDFs are kept for some time only. Tell us the label's id only if you still need its PDF.",
    ),
    PlainError(
        "path_unknown",
        (HTTPStatus.NOT_FOUND,),
        "There is nothing at this path. Paths are case-sensitive and have no slash at the end; see /openapi.json.",
        "The path is none of the API's. This comes before the token is looked at.",
        "Correct the path.",
    ),
    PlainError(
        "method_not_allowed",
        (HTTPStatus.METHOD_NOT_ALLOWED,),
        "This path does not take this method, only GET, HEAD.",
        "The path is right, the method is not. The Allow header lists the right ones.",
        "Use a method of the Allow header.",
    ),
    PlainError(
        "body_too_large",
        (HTTPStatus.REQUEST_ENTITY_TOO_LARGE,),
        "The body has more than the 1048576 bytes (1 MiB) that are read.",
        "An order is larger than 1 MiB.",
        "Send the documented fields only.",
    ),
    PlainError(
        "media_type_unsupported",
        (HTTPStatus.UNSUPPORTED_MEDIA_TYPE,),
        "The body must be JSON. Send it with the header Content-Type: application/json.",
        "The body came with another Content-Type, or with none.",
        "Send JSON, and say so in the Content-Type header.",
    ),
    PlainError(
        "limit_exceeded",
        (HTTPStatus.TOO_MANY_REQUESTS,),
        "The limit of 100 requests per 60 seconds is used up. Retry in 31 seconds.",
        "The shop's requests of this window are used up, over all its tokens and endpoints; without a valid one, those"
        " of the client's address.",
        "Wait the seconds in Retry-After: the next request then succeeds.",
    ),
    PlainError(
        "unexpected",
        (HTTPStatus.INTERNAL_SERVER_ERROR,),
        "The server failed to answer this request. Quote the X-Request-Id header when you report it.",
        "A fault of ours.",
        "Retry a look-up later, an order only with its Idempotency-Key. Report it with the X-Request-Id.",
    ),
    PlainError(
        "too_busy",
        (HTTPStatus.SERVICE_UNAVAILABLE,),
        "Too many requests with a body are under way. This one was not read: send it again in a second.",
        "The service has no thread left to wait for this request's body. Nothing was read or bought.",
        "Send the same again after the seconds in Retry-After, with or without an Idempotency-Key.",
    ),
)

PLAIN_ERRORS: Final[Mapping[str, PlainError]] = MappingProxyType({error.name: error for error in _ALL})
