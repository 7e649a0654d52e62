"""JSON in, JSON out, regardless of ``Accept``."""

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from config.api.bodies import receive_json
from shops.api.errors.exceptions import ApiError
from shops.api.errors.plain import BODY_EMPTY, BODY_NOT_JSON, BODY_NOT_UTF8, BODY_TOO_DEEP


class JSONRenderer(BaseRenderer):
    """Serializes with orjson, which copies stored JSON text (``orjson.Fragment``) into an answer unchanged."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, media_type: str | None = None, context: Mapping[str, Any] | None = None) -> bytes:
        return b"" if data is None else orjson.dumps(data)


class JSONParser(BaseParser):
    """Parses strict JSON: no NaN, no infinity, no invalid Unicode; of a repeated key the last value counts."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, context: Mapping[str, Any] | None = None) -> Any:
        assert context
        request = context["request"]
        body = receive_json(request.META, stream.read, sender=request.user.pk)
        for each in request.authenticators:  # a body may come long after its head: the token may be revoked by now
            each.authenticate(request)
        if not body:  # only a chunked one: with Content-Length 0, DRF calls no parser
            raise ApiError(BODY_EMPTY)
        try:
            value = orjson.loads(body)
            orjson.dumps(value)  # orjson reads deeper nesting than it writes
        except orjson.JSONDecodeError as error:
            raise unparsable(body, error) from error
        except orjson.JSONEncodeError as error:
            raise ApiError(BODY_TOO_DEEP) from error
        return value


def unparsable(body: bytes, error: orjson.JSONDecodeError) -> ApiError:
    """Say why a body is no JSON; orjson's own text for another encoding is about surrogates."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return ApiError(BODY_NOT_UTF8)
    return ApiError(BODY_NOT_JSON, fault=error)


class AlwaysJSON(BaseContentNegotiation):
    """Ignores ``Accept``: JSON is the only representation."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type
