"""Reads JSON strictly, beta's requests and those of the control endpoints: encoding, types, no unknown fields."""

import json
from decimal import Decimal
from email.message import Message as MimeHeaders
from typing import Any

from carriers.sandbox.http import Request

Json = dict[str, Any]
# The types of fields, as the shapes of requests name them.
TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,), "integer": (int,), "number": (int, float, Decimal), "boolean": (bool,), "any": (str, int, Decimal),
}  # fmt: skip


class MalformedError(Exception):
    """The body is not the JSON that is taken there; the message names the path at fault.

    `status` is that of the control endpoints' answer.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def read_request(request: Request, shape: Json) -> Json:
    """Return a body of this shape with every block present and every null left out."""
    _validate_content_type(request.headers.get("content-type", ""))
    try:
        body = json.loads(request.body.decode(), parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise MalformedError("the body is not JSON in UTF-8") from None
    read: Json = shaped(body, shape)
    return read


def _validate_content_type(value: str) -> None:
    headers = MimeHeaders()
    headers["content-type"] = value
    charset = headers.get_content_charset("utf-8")
    if headers.get_content_type() != "application/json" or charset != "utf-8":
        raise MalformedError("the content type is application/json, in UTF-8")


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def shaped(value: Any, shape: Any, path: str = "request") -> Any:
    """Return a value of this shape, a type's name, a block of fields, or a list of one kind; raise MalformedError."""
    if isinstance(shape, dict):
        return _shaped_block(value, shape, path)
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise MalformedError(f"{path}: a list is expected")
        return [shaped(item, shape[0], f"{path}[{rank}]") for rank, item in enumerate(value)]
    if not isinstance(value, TYPES[shape]) or (isinstance(value, bool) and shape != "boolean"):
        raise MalformedError(f"{path}: of the wrong type")
    return value


def _shaped_block(value: Any, shape: Json, path: str) -> Json:
    if not isinstance(value, dict):
        raise MalformedError(f"{path}: an object is expected")
    unknown = sorted(value.keys() - shape.keys())
    if unknown:
        raise MalformedError(f"{path}.{unknown[0]}: this service has no such field")
    given = {name: inner for name, inner in value.items() if inner is not None}
    return {
        name: shaped(given.get(name, {}), inner, f"{path}.{name}")
        for name, inner in shape.items()
        if name in given or isinstance(inner, dict)
    }
