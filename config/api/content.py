"""How the API reads and writes: JSON in, JSON out, whatever the client says it accepts."""

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from config.api.bodies import receive_json
from shops.serializer_fields import EMPTY_BODY


class JSONRenderer(BaseRenderer):
    """Serializes with orjson, which takes stored JSON text (``orjson.Fragment``) into an answer as it is."""

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
        body = receive_json(context["request"].META, stream.read)
        if not body:  # only of one sent in chunks: where Content-Length is 0, DRF asks no parser
            raise ParseError(EMPTY_BODY)
        try:
            value = orjson.loads(body)
            orjson.dumps(value)  # it reads deeper nesting than it writes
        except orjson.JSONDecodeError as error:
            raise ParseError(fault(body, error)) from error
        except orjson.JSONEncodeError as error:
            raise ParseError("The body is nested too deeply.") from error
        return value


def fault(body: bytes, error: orjson.JSONDecodeError) -> str:
    """Say why a body is no JSON; of one in another encoding orjson speaks of surrogates."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return "The body is not UTF-8."
    return f"The body is not valid JSON: {error}."


class AlwaysJSON(BaseContentNegotiation):
    """Ignores ``Accept``: there is one representation."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type
