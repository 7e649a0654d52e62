"""The errors without a `code`: their status and message tell them apart."""

from http import HTTPStatus
from typing import Final

from shops.api.errors.exceptions import ErrorTable

PLAIN_ERRORS: Final = ErrorTable()

SEARCH_WITHOUT_FILTER: Final = PLAIN_ERRORS.declare(
    "search_without_filter",
    HTTPStatus.BAD_REQUEST,
    message="One of the query parameters orderName and email must be provided.",
    cause="A search names neither an order nor an e-mail address. An empty parameter counts as not given.",
    remedy="Send orderName, email, or both.",
)
QUERY_INVALID: Final = PLAIN_ERRORS.declare(
    "query_invalid",
    HTTPStatus.BAD_REQUEST,
    message="{faults}",
    cause="A query parameter is unknown, is given twice, or can't be read; or a cursor is older than a day, or was made"
    " for other filters. A filter that was ignored would answer with everybody's rows.",
    remedy="Correct every parameter that the message names. Begin the list again where it names the cursor.",
    faults="colour: is no parameter here, only productCode, zip, city, countryCode, address1, weight, shipDate, limit.",
)
BODY_INVALID: Final = PLAIN_ERRORS.declare(
    "body_invalid",
    HTTPStatus.BAD_REQUEST,
    message="{faults}",
    cause="The body is JSON, but not an order that can be bought.",
    remedy="Correct every field that the message names, by its JSON path, and send the order again.",
    faults="destinationAddress.city: is required. parcels[0].weight: must be above 0 and at most 30 kilograms.",
)
BODY_NOT_JSON: Final = PLAIN_ERRORS.declare(
    "body_not_json",
    HTTPStatus.BAD_REQUEST,
    message="The body is not valid JSON: {fault}.",
    cause="The body can't be parsed: it is empty, cut short, broken JSON, has NaN or infinity or invalid UTF-8, or is"
    " nested too deeply.",
    remedy="Send UTF-8 JSON as a JSON library writes it.",
    fault="unexpected end of data: line 1 column 2 (char 1)",
)
BODY_EMPTY: Final = BODY_NOT_JSON.saying("The body is empty. Send JSON.")
BODY_NOT_UTF8: Final = BODY_NOT_JSON.saying("The body is not UTF-8.")
BODY_TOO_DEEP: Final = BODY_NOT_JSON.saying("The body is nested too deeply.")
BODY_CUT_SHORT: Final = BODY_NOT_JSON.saying("The body is shorter than its Content-Length says.")
REQUEST_UNREADABLE: Final = PLAIN_ERRORS.declare(
    "request_unreadable",
    HTTPStatus.BAD_REQUEST,
    message="The request can't be read. Send at most 1000 query parameters, percent-encoded as UTF-8.",
    cause="The query string holds more parameters than are read.",
    remedy="Send the documented parameters only.",
)
HOST_UNKNOWN: Final = PLAIN_ERRORS.declare(
    "host_unknown",
    HTTPStatus.BAD_REQUEST,
    message="The Host header names no host served here. Call the service by the name you were given.",
    cause="The request came to the service under a name that is not its own.",
    remedy="Use the base URL you were given; do not call the service by its address or through another name.",
)
HTTPS_REQUIRED: Final = PLAIN_ERRORS.declare(
    "https_required",
    HTTPStatus.FORBIDDEN,
    message="The API is served over https only. A token that was sent over http can have been read: replace it.",
    cause="The request came over http, so its token went over the network in clear.",
    remedy="Use https, and have the token replaced.",
)
TOKEN_MISSING: Final = PLAIN_ERRORS.declare(
    "token_missing",
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    message="A bearer token is required: Authorization: Bearer <ACCESS_TOKEN>.",
    cause="The request has no Authorization header, or one of another scheme. 401 for labels, 403 for parcels.",
    remedy="Send the header with the shop's access token.",
)
TOKEN_INVALID: Final = PLAIN_ERRORS.declare(
    "token_invalid",
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    message="The access token is unknown, expired or revoked, or its shop is inactive. Send a current one.",
    cause="No active shop has this token now. 401 for labels, 403 for parcels.",
    remedy="Check that the token was copied whole; ask for a new one if it has expired.",
)
LINK_INVALID: Final = PLAIN_ERRORS.declare(
    "link_invalid",
    HTTPStatus.FORBIDDEN,
    message="This link is altered or has expired. Retrieve the label for a new one.",
    cause="A PDF's URL is older than 15 minutes, or was changed.",
    remedy="Retrieve the label by its id: the answer has a fresh labelUrl.",
)
PARCEL_NOT_FOUND: Final = PLAIN_ERRORS.declare(
    "parcel_not_found",
    HTTPStatus.NOT_FOUND,
    message="No parcel has the tracking number '{number}'.",
    cause="No parcel of the shop has this tracking number. Another shop's parcel is no different from none.",
    remedy="Check the number, its case and its escaping in the path. A parcel is found once it has been imported.",
    number="XU000000020FR",
)
LABEL_NOT_FOUND: Final = PLAIN_ERRORS.declare(
    "label_not_found",
    HTTPStatus.NOT_FOUND,
    message="There is no label with this id.",
    cause="No label of the shop has this id, or the label was cancelled. Another shop's label is no different from"
    " none.",
    remedy="Use the id from the answer to the order.",
)
WEBHOOK_NOT_FOUND: Final = PLAIN_ERRORS.declare(
    "webhook_not_found",
    HTTPStatus.NOT_FOUND,
    message="There is no webhook endpoint with this id.",
    cause="No endpoint of the shop has this id, or it was deleted. Another shop's endpoint is no different from none.",
    remedy="Use an id from the list of endpoints.",
)
PDF_NOT_FOUND: Final = PLAIN_ERRORS.declare(
    "pdf_not_found",
    HTTPStatus.NOT_FOUND,
    message="This label's PDF is no longer kept.",
    cause="The link is right, but the PDF was removed, usually because of its age. The label itself is still there.",
    remedy="Nothing is wrong: PDFs are kept for a limited time. If you still need the PDF, tell us the label's id.",
)
PATH_UNKNOWN: Final = PLAIN_ERRORS.declare(
    "path_unknown",
    HTTPStatus.NOT_FOUND,
    message="There is nothing at this path. Paths are case-sensitive and have no slash at the end; see /openapi.json.",
    cause="The API has no such path. Paths are checked before the token.",
    remedy="Correct the path.",
)
METHOD_NOT_ALLOWED: Final = PLAIN_ERRORS.declare(
    "method_not_allowed",
    HTTPStatus.METHOD_NOT_ALLOWED,
    message="This path does not take this method, only {methods}.",
    cause="The path is right, the method is not. The Allow header lists the right ones.",
    remedy="Use a method of the Allow header.",
    methods="GET, HEAD",
)
BODY_TOO_LARGE: Final = PLAIN_ERRORS.declare(
    "body_too_large",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    message="The body has more than the {limit_bytes} bytes ({limit_kib} KiB) that are read.",
    cause="An order is larger than 64 KiB.",
    remedy="Send the documented fields only.",
    limit_bytes=2**16,
    limit_kib=64,
)
MEDIA_TYPE_UNSUPPORTED: Final = PLAIN_ERRORS.declare(
    "media_type_unsupported",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    message="The body must be JSON. Send it with the header Content-Type: application/json.",
    cause="The body came with another Content-Type, or with none.",
    remedy="Send JSON, and say so in the Content-Type header.",
)
LIMIT_EXCEEDED: Final = PLAIN_ERRORS.declare(
    "limit_exceeded",
    HTTPStatus.TOO_MANY_REQUESTS,
    message="The limit of {limit} requests per {window_s} seconds is used up. Retry in {retry_in}.",
    cause="All requests of this window are used up. They are counted for the shop, over all its tokens and endpoints;"
    " without a valid token, for the client's address.",
    remedy="Wait the seconds in Retry-After: the next request then succeeds.",
    limit=100,
    window_s=60,
    retry_in="31 seconds",
)
UNEXPECTED: Final = PLAIN_ERRORS.declare(
    "unexpected",
    HTTPStatus.INTERNAL_SERVER_ERROR,
    message="The server failed to answer this request. Quote the X-Request-Id header when you report it.",
    cause="A fault of ours.",
    remedy="Retry a look-up later, an order only with its Idempotency-Key. Report it with the X-Request-Id.",
)
ORDERS_HELD_UP: Final = PLAIN_ERRORS.declare(
    "orders_held_up",
    HTTPStatus.SERVICE_UNAVAILABLE,
    message="Orders can't be taken at the moment. Nothing was bought: send the same again in some seconds.",
    cause="A part of the service is being replaced. An order waits for it up to 30 seconds; this one has, or as many as"
    " may wait do already.",
    remedy="Send the same again after the seconds in Retry-After, with or without an Idempotency-Key.",
    retry_after_s=5,
)
TOO_BUSY: Final = PLAIN_ERRORS.declare(
    "too_busy",
    HTTPStatus.SERVICE_UNAVAILABLE,
    message="Too many requests with a body are under way. This one was not read: send it again in a second.",
    cause="The service has no thread left to wait for this request's body. Nothing was read or bought.",
    remedy="Send the same again after the seconds in Retry-After, with or without an Idempotency-Key.",
    retry_after_s=1,
)
