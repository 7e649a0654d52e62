"""beta's label service: buys a label (`generateLabel`) or only validates its request (`checkGenerateLabel`)."""

from carriers.sandbox.beta import answers, tables
from carriers.sandbox.beta.accounts import WRONG
from carriers.sandbox.beta.customs import customs_form
from carriers.sandbox.beta.order import Order
from carriers.sandbox.beta.validation import validate_request
from carriers.sandbox.corruption import NO_PDF
from carriers.sandbox.faults import Fault, Operation
from carriers.sandbox.http import Json, Request, Response, json_response, read_request
from carriers.sandbox.papers import Label, customs_form_pdf, faulty_pdf
from carriers.sandbox.parcel import Parcel, without_secrets
from carriers.sandbox.state import State

BUY, CHECK = "generateLabel", "checkGenerateLabel"
MOBILE_ONLY = ("BE", "US")  # there the landline's own field is not used
NOT_PRINTED = {"BE": ("line1", "line3"), "CH": ("line0", "line1", "line3")}
BLOCKS = {"2.0": "labelV2Response", "3.1": "labelV31Response"}


def answer_beta(state: State, request: Request) -> Response:
    body, api_key = read_request(request, tables.REQUEST), request.headers.get("apikey", "")
    order = Order(body, api_key)
    violations = validate_request(order, api_key, state.ledger)
    if violations.errors:
        # A check answers a wrong key or a closed account with another status.
        is_forbidden = request.operation == CHECK and violations.errors[0][0] in WRONG
        return answers.refused(violations.errors, 403 if is_forbidden else 400)
    block = BLOCKS[request.path.split("/")[-2]]
    messages = [answers.message("0", "SANDBOX: done", "INFOS")]
    messages += [answers.message(code, text, "WARNING") for code, text in violations.warnings]

    def do(fault: Fault) -> Response:
        if request.operation == CHECK:
            return json_response({"messages": messages, block: None})
        if fault.name == "warning":
            messages.append(answers.message(answers.SHAPE_CODE, "SANDBOX: line2 is cut", "WARNING"))
        (number,) = state.numbers("beta", 1, fault)
        parcel = Parcel(
            label=_label(order, number),
            request=without_secrets(order.body),
            customs_form=customs_form(order),
            misrouted_by=order.misrouted_by,
        )
        state.ledger.record([parcel], order.accounts[0], fault)
        made = {"parcelNumber": number, "parcelNumberPartner": None, "pdfUrl": None, "fields": None}
        return answers.multipart({"messages": messages, block: made}, _documents(parcel, fault.name))

    reference, texts = order.service.get("orderNumber", ""), (order.letter["sender"].get("senderParcelRef", ""),)
    return state.perform(Operation("beta", request.operation, reference, order.rank, texts), do, answers.refusal)


def _documents(parcel: Parcel, fault: str) -> list[tuple[str, bytes]]:
    pdf = faulty_pdf(fault, parcel.label)
    documents = [] if pdf is None else [("label", pdf)]
    if parcel.customs_form is None or fault == "nocn23":
        return documents
    form = NO_PDF if fault == "badcn23" else customs_form_pdf(parcel.label, parcel.customs_form)
    return [*documents, ("cn23", form)]


def _label(order: Order, number: str) -> Label:
    service, address = order.service, order.addressee
    landline = "" if order.country in MOBILE_ONLY else address.get("phoneNumber", "")
    return Label(
        carrier="beta",
        tracking_number=number,
        product_name=tables.PRODUCTS[order.code],
        product_code=order.code,
        sender=_lines(order.sender),
        recipient=_lines(address),
        phone=address.get("mobileNumber") or landline,
        instructions=order.parcel.get("instructions", ""),
        postal_code=address["zipCode"],
        pickup_point=order.parcel.get("pickupLocationId", ""),
        order_reference=service.get("orderNumber", ""),
        reference=order.letter["sender"].get("senderParcelRef", ""),
        weight_kg=float(order.parcel["weight"]),
        rank=order.rank,
        count=order.count,
        ship_date=service["depositDate"],
        page_format=tables.FORMATS[order.body["outputFormat"]["outputPrintingType"]],
    )


def _lines(address: Json) -> tuple[str, ...]:
    person = f"{address.get('firstName', '')} {address.get('lastName', '')}".strip()
    unprinted = NOT_PRINTED.get(address["countryCode"], ())
    lines = (address.get(name, "") for name in ("line0", "line1", "line2", "line3") if name not in unprinted)
    town = f"{address['zipCode']} {address['city']}"
    return (address.get("companyName", ""), person, *lines, town, address["countryCode"])
