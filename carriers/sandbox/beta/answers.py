"""beta's answers: error codes and their texts, those that one request provokes, messages, refusals, multipart."""

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from carriers.sandbox.data import Rule, broken, error_texts
from carriers.sandbox.http import Response, json_response

SHAPE_CODE = "30204"  # the error with which faults show the shapes of errors
_MEANINGS = error_texts("beta")

Message = dict[str, Any]


def meaning_of(code: str) -> str:
    """Return an error code's text; the carrier's own failures and undocumented codes share one."""
    if "ROUTING" in code:
        return "The country, the postal code and the product do not fit"
    known = _MEANINGS.get(int(code)) if code.isdigit() else None
    return known or "The service is temporarily unavailable"


@dataclass
class Violations:
    """The rules that one request breaks: errors and warnings as code and text, in the order found."""

    errors: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)

    def error(self, code: int, detail: str = "") -> None:
        text = meaning_of(str(code))
        self.errors.append((str(code), f"{text}: {detail}" if detail else text))

    def require(self, is_met: object, code: int, detail: str = "") -> None:
        if not is_met:
            self.error(code, detail)

    def validate(self, block: dict[str, Any], rules: Iterable[Rule]) -> None:
        """Cut over-long texts in place, as the carrier does, each with a warning; then apply the rules."""
        for rule in rules:
            text = block.get(rule.field)
            if rule.too_long and text and len(text) > rule.longest:
                block[rule.field] = text[: rule.longest]
                self.warnings.append((str(rule.too_long), f"{rule.field} is cut to {rule.longest} characters"))
        for code, detail in broken(rules, block):
            self.error(code, detail)


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
