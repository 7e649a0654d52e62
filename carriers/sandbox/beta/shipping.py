"""beta's label service: buys a label (`generateLabel`) or only validates its request (`checkGenerateLabel`)."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from carriers.sandbox.beta import tables
from carriers.sandbox.beta.json_request import Json, MalformedError, read_request
from carriers.sandbox.beta.links import Link, read_link, validate_followers
from carriers.sandbox.beta.validation import account_of, destination_of, validate_request
from carriers.sandbox.corruption import faulty_pdf
from carriers.sandbox.fault_registry import Operation
from carriers.sandbox.http import Response, json_response
from carriers.sandbox.label import Label, PageFormat, customs_form_pdf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carriers.sandbox.fault_registry import Injection
    from carriers.sandbox.http import Request
    from carriers.sandbox.state import State

BUY, CHECK = "generateLabel", "checkGenerateLabel"
BLOCKS = {"2.0": "labelV2Response", "3.1": "labelV31Response"}
SHAPE_CODE = "30204"  # the error with which faults show the shapes of errors

Message = dict[str, Any]


@dataclass(frozen=True)
class Order:
    """A valid request for one parcel."""

    letter: Json
    account: str
    link: Link
    page_format: PageFormat
    warnings: Sequence[tuple[str, str]]
    block: str  # the name of the answer's block, which differs by version


def answer_beta(state: State, request: Request, *, operation: str, block: str) -> Response:
    if request.method != "POST":
        return json_response({"error": "Method Not Allowed", "message": "POST is expected"}, 405)
    try:
        body = read_request(request)
    except MalformedError as error:
        return json_response({"error": "Bad Request", "message": str(error)}, 400)
    api_key = request.headers.get("apikey", "")
    violations = validate_request(body, api_key)
    link = read_link(body, violations)
    account = account_of(body, api_key)
    if not violations.errors and link.followers:
        validate_followers(link, state.ledger, account, violations)
    if violations.errors:
        return _refused([_message(code, "ERROR", text) for code, text in violations.errors])
    page_format = tables.FORMATS[body["outputFormat"]["outputPrintingType"]]
    order = Order(body["letter"], account, link, page_format, violations.warnings, block)
    return _perform(state, order, operation)


def _refused(messages: list[Message], status: int = 400) -> Response:
    return json_response({"messages": messages}, status)


def _perform(state: State, order: Order, operation: str) -> Response:
    reference = order.letter["service"].get("orderNumber", "")
    texts = (order.letter["sender"].get("senderParcelRef", ""),)
    return state.perform(
        Operation("beta", operation, reference, order.link.rank, texts),
        lambda injection: _make(state, order, injection) if operation == BUY else _checked(order),
        _refusal,
    )


def _message(code: str, kind: str, text: str) -> Message:
    return {"id": code, "type": kind, "messageContent": text, "replacementValues": []}


def _refusal(name: str) -> Response:
    """Return the refusal for a fault's name or an error code."""
    error = [_message(SHAPE_CODE, "ERROR", tables.meaning_of(SHAPE_CODE))]
    shapes = {
        "contract": lambda: _refusal("30009"),
        "json500": lambda: _refused([_message("1", "ERROR", "SANDBOX: internal error")], 500),
        "flat500": lambda: json_response(_message("1", "ERROR", "SANDBOX: internal error"), 500),
        "error200": lambda: _refused(error, 200),
        "errorpart": lambda: _multipart({"messages": error}, [], 400),
        "errorbare": lambda: json_response({"error": "Bad Request", "message": "SANDBOX: refused"}, 400),
        "errorlist": lambda: json_response(
            {"errors": [{"code": SHAPE_CODE, "message": tables.meaning_of(SHAPE_CODE)}]}, 400
        ),
        "errorflat": lambda: json_response({"errorCode": SHAPE_CODE, "errorLabel": tables.meaning_of(SHAPE_CODE)}, 400),
        "unknown": lambda: _refused([_message("30600", "ERROR", "SANDBOX has no such fault for beta")]),
    }
    if name in shapes:
        return shapes[name]()
    return _refused([_message(name, "ERROR", tables.meaning_of(name))])


def _messages(order: Order) -> list[Message]:
    done = _message("0", "INFOS", "SANDBOX: done")
    return [done, *(_message(code, "WARNING", text) for code, text in order.warnings)]


def _checked(order: Order) -> Response:
    return json_response({"messages": _messages(order), order.block: None})


def _make(state: State, order: Order, injection: Injection) -> Response:
    """Enter the parcel in the ledger, then answer with its label."""
    label = _label(order, state.numbers("beta", 1, injection)[0])
    state.sell([label], order.account, injection)
    if injection.name == "warning":
        order = replace(order, warnings=[*order.warnings, (SHAPE_CODE, "SANDBOX: line2 is cut")])
    return _multipart(_infos(order, label), _documents(order, label, injection.name))


def _infos(order: Order, label: Label) -> Message:
    made = {
        "parcelNumber": label.tracking_number,
        "parcelNumberPartner": None,
        "pdfUrl": None,
        "fields": None,
    }
    return {"messages": _messages(order), order.block: made}


def _documents(order: Order, label: Label, fault: str) -> list[tuple[str, bytes]]:
    pdf = faulty_pdf(label, fault)
    if pdf is None:
        return []
    destination = destination_of(order.letter)
    if destination is None or not destination.is_customs:
        return [("label", pdf)]
    return [("label", pdf), ("cn23", customs_form_pdf(label, _articles(order.letter)))]


def _articles(letter: Json) -> list[str]:
    return [
        f"{article['quantity']} x {article['description']}, {article['weight']} kg, "
        f"{article['value']} {article['currency']}, HS {article['hsCode']}, {article['originCountry']}"
        for article in letter["customsDeclarations"]["contents"]["article"]
    ]


def _multipart(infos: Message, documents: list[tuple[str, bytes]], status: int = 200) -> Response:
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


def _label(order: Order, number: str) -> Label:
    service, addressee = order.letter["service"], order.letter["addressee"]
    address = addressee["address"]
    return Label(
        carrier="beta",
        tracking_number=number,
        product_name=tables.PRODUCTS[service["productCode"]],
        product_code=service["productCode"],
        sender=_lines(order.letter["sender"]["address"]),
        recipient=_lines(address),
        phone=address.get("mobileNumber") or address.get("phoneNumber", ""),
        postal_code=address["zipCode"],
        pickup_point=order.letter["parcel"].get("pickupLocationId", ""),
        order_reference=service.get("orderNumber", ""),
        reference=order.letter["sender"].get("senderParcelRef", ""),
        weight_kg=float(order.letter["parcel"]["weight"]),
        rank=order.link.rank,
        count=order.link.count,
        ship_date=service["depositDate"],
        page_format=order.page_format,
    )


def _lines(address: Json) -> tuple[str, ...]:
    person = f"{address.get('firstName', '')} {address.get('lastName', '')}".strip()
    lines = (address.get(name, "") for name in ("line0", "line1", "line2", "line3"))
    town = f"{address['zipCode']} {address['city']}"
    return (address.get("companyName", ""), person, *lines, town, address["countryCode"])
