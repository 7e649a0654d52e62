"""beta's label service: buys a label (`generateLabel`) or only validates its request (`checkGenerateLabel`)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from carriers.sandbox.beta import answers, tables
from carriers.sandbox.beta.accounts import WRONG
from carriers.sandbox.beta.customs import customs_form
from carriers.sandbox.beta.request_fields import Link, read_link, validate_followers
from carriers.sandbox.beta.validation import account_of, misrouted_by, validate_request
from carriers.sandbox.corruption import NO_PDF
from carriers.sandbox.faults import Fault, Operation
from carriers.sandbox.http import Request, Response, json_response
from carriers.sandbox.json_request import Json, read_request
from carriers.sandbox.papers import Label, PageFormat, customs_form_pdf, faulty_pdf
from carriers.sandbox.parcel import Parcel, without_secrets
from carriers.sandbox.state import State

BUY, CHECK = "generateLabel", "checkGenerateLabel"
NOT_PRINTED = {"BE": ("line1", "line3"), "CH": ("line0", "line1", "line3")}
BLOCKS = {"2.0": "labelV2Response", "3.1": "labelV31Response"}


@dataclass(frozen=True)
class Order:
    body: Json
    account: str
    link: Link
    page_format: PageFormat
    warnings: Sequence[tuple[str, str]]
    block: str  # the name of the answer's block, which differs by version

    @property
    def letter(self) -> Json:
        letter: Json = self.body["letter"]
        return letter


def answer_beta(state: State, request: Request) -> Response:
    body = read_request(request, tables.REQUEST)
    api_key = request.headers.get("apikey", "")
    violations = validate_request(body, api_key)
    link = read_link(body, violations)
    account = account_of(body, api_key)
    if not violations.errors and link.followers:
        validate_followers(link, state.ledger, account, violations)
    if violations.errors:
        # A check answers a wrong key or a closed account with another status.
        is_forbidden = request.operation == CHECK and violations.errors[0][0] in WRONG
        return answers.refused(violations.errors, 403 if is_forbidden else 400)
    page_format = tables.FORMATS[body["outputFormat"]["outputPrintingType"]]
    block = BLOCKS[request.path.split("/")[-2]]
    order = Order(body, account, link, page_format, violations.warnings, block)
    return _perform(state, order, request.operation)


def _perform(state: State, order: Order, operation: str) -> Response:
    reference = order.letter["service"].get("orderNumber", "")
    texts = (order.letter["sender"].get("senderParcelRef", ""),)
    return state.perform(
        Operation("beta", operation, reference, order.link.rank, texts),
        lambda fault: _make(state, order, fault) if operation == BUY else _checked(order),
        answers.refusal,
    )


def _messages(order: Order) -> list[answers.Message]:
    done = answers.message("0", "SANDBOX: done", "INFOS")
    return [done, *(answers.message(code, text, "WARNING") for code, text in order.warnings)]


def _checked(order: Order) -> Response:
    return json_response({"messages": _messages(order), order.block: None})


def _make(state: State, order: Order, fault: Fault) -> Response:
    """Enter the parcel in the ledger, then answer with its label."""
    parcel = _parcel(order, state.numbers("beta", 1, fault)[0])
    state.sell([parcel], order.account, fault)
    if fault.name == "warning":
        order = replace(order, warnings=[*order.warnings, (answers.SHAPE_CODE, "SANDBOX: line2 is cut")])
    made = {"parcelNumber": parcel.number, "parcelNumberPartner": None, "pdfUrl": None, "fields": None}
    return answers.multipart({"messages": _messages(order), order.block: made}, _documents(parcel, fault.name))


def _parcel(order: Order, number: str) -> Parcel:
    return Parcel(
        label=_label(order, number),
        request=without_secrets(order.body),
        customs_form=customs_form(order.body),
        misrouted_by=misrouted_by(order.letter),
    )


def _documents(parcel: Parcel, fault: str) -> list[tuple[str, bytes]]:
    pdf = faulty_pdf(fault, parcel.label)
    documents = [] if pdf is None else [("label", pdf)]
    if parcel.customs_form is None or fault == "nocn23":
        return documents
    form = NO_PDF if fault == "badcn23" else customs_form_pdf(parcel.label, parcel.customs_form)
    return [*documents, ("cn23", form)]


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
        phone=_phone(address),
        instructions=order.letter["parcel"].get("instructions", ""),
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


def _phone(address: Json) -> str:
    """Return the number that is used: to BE and US no landline's own field."""
    landline = "" if address["countryCode"] in ("BE", "US") else address.get("phoneNumber", "")
    return address.get("mobileNumber") or landline


def _lines(address: Json) -> tuple[str, ...]:
    person = f"{address.get('firstName', '')} {address.get('lastName', '')}".strip()
    unprinted = NOT_PRINTED.get(address["countryCode"], ())
    lines = (address.get(name, "") for name in ("line0", "line1", "line2", "line3") if name not in unprinted)
    town = f"{address['zipCode']} {address['city']}"
    return (address.get("companyName", ""), person, *lines, town, address["countryCode"])
