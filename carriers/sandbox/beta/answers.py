"""The shapes of beta's answers: messages, refusals, multipart."""

import json
import uuid
from collections.abc import Iterable
from typing import Any

from carriers.sandbox.beta.errors import meaning_of
from carriers.sandbox.http import Response, json_response

SHAPE_CODE = "30204"  # the error with which faults show the shapes of errors

Message = dict[str, Any]


class CodeError(Exception):
    """A service whose errors are numbers refuses the request with this one, on HTTP 200."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def message(code: str, text: str, kind: str = "ERROR") -> Message:
    return {"id": code, "type": kind, "messageContent": text, "replacementValues": []}


def refused(errors: Iterable[tuple[str, str]], status: int = 400) -> Response:
    return json_response({"messages": [message(code, text) for code, text in errors]}, status)


def refusal(name: str) -> Response:
    text = meaning_of(SHAPE_CODE)
    error, failure = (SHAPE_CODE, text), ("1", "SANDBOX: internal error")
    shapes = {
        "contract": lambda: refusal("30009"),
        "json500": lambda: refused([failure], 500),
        "flat500": lambda: json_response(message(*failure), 500),
        "error200": lambda: refused([error], 200),
        "errorpart": lambda: multipart({"messages": [message(*error)]}, [], 400),
        "errorbare": lambda: json_response({"error": "Bad Request", "message": "SANDBOX: refused"}, 400),
        "errorlist": lambda: json_response({"errors": [{"code": SHAPE_CODE, "message": text}]}, 400),
        "errorflat": lambda: json_response({"errorCode": SHAPE_CODE, "errorLabel": text}, 400),
        "unknown": lambda: refused([("30600", "SANDBOX has no such fault for beta")]),
    }
    if name in shapes:
        return shapes[name]()
    return refused([(name, meaning_of(name))])


def multipart(infos: Message, documents: list[tuple[str, bytes]], status: int = 200) -> Response:
    """Write the body as the service does: a line break before the first boundary, none at the end."""
    boundary = f"uuid:{uuid.uuid4()}"
    parts = [("jsonInfos", "application/json;charset=UTF-8", json.dumps(infos, ensure_ascii=False).encode())]
    parts += [(name, "application/octet-stream", content) for name, content in documents]
    lines = [
        f"\r\n--{boundary}\r\nContent-Type: {media_type}\r\nContent-Transfer-Encoding: binary\r\n"
        f"Content-ID: <{name}>\r\n\r\n".encode()
        + content
        for name, media_type, content in parts
    ]
    media_type = f'multipart/related; type="application/json"; boundary="{boundary}"; start="<jsonInfos>"'
    return Response(status, media_type, b"".join(lines) + f"\r\n--{boundary}--".encode())
