"""alpha's shipping service: `shippingMultiParcelV4`, and the label of a parcel already made."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from carriers.sandbox import alpha_tables as tables
from carriers.sandbox import soap
from carriers.sandbox.alpha_rules import (
    CONTRACT_REFUSAL,
    Fields,
    Shipment,
    check_credentials,
    check_shipment,
    read_shipment,
)
from carriers.sandbox.fault_registry import Operation, Play
from carriers.sandbox.label import Label, PageFormat, label_pdf

if TYPE_CHECKING:
    from collections.abc import Callable

    from carriers.sandbox.exchange import Answer, Request
    from carriers.sandbox.state import Depot

BUY = "shippingMultiParcelV4"
REPRINT = "getReservedSkybillWithTypeAndModeAuth"
FORMATS: dict[str, PageFormat] = {"PDF": "A4", "SPD": "A4", "THE": "10x15"}
DONE = "SANDBOX: done"


def answer_shipping(depot: Depot, request: Request) -> Answer:
    return answer_soap(depot, request, tables.SHIPPING, {BUY: _buy, REPRINT: _reprint})


def answer_soap(
    depot: Depot,
    request: Request,
    namespace: str,
    operations: dict[str, Callable[[Depot, soap.Message], Answer]],
) -> Answer:
    """Answer one of a service's operations, its refusals by code and anything else by a SOAP fault."""
    try:
        message = soap.read_message(request, namespace, operations)
        return operations[message.operation](depot, message)
    except soap.SoapError as error:
        return soap.fault(str(error))
    except soap.RefusalError as refusal:
        return refused(namespace, message.operation, refusal.code, refusal.message)


def refused(namespace: str, operation: str, code: int, message: str) -> Answer:
    return soap.response(namespace, operation, [("errorCode", str(code)), ("errorMessage", message)])


def refusal_of(namespace: str, operation: str) -> Callable[[str], Answer]:
    """Return what makes an operation's refusal of a fault's name or an error code."""

    def refuse(name: str) -> Answer:
        if name == "soapfault":
            return soap.fault("SANDBOX: internal error", "soap:Server")
        if name == "contract":
            return refused(namespace, operation, 33, CONTRACT_REFUSAL)
        if not name.isdigit():
            return refused(namespace, operation, 33, f"invalid data: SANDBOX has no such fault for alpha ({name})")
        message = tables.MESSAGES.get(int(name), "SANDBOX: undocumented error")
        return refused(namespace, operation, int(name), message)

    return refuse


def _buy(depot: Depot, message: soap.Message) -> Answer:
    shipment = read_shipment(message)
    check_shipment(shipment)
    ref, skybill = shipment.refs[0], shipment.skybills[0]
    texts = (ref.get("recipientRef", ""), skybill.get("content1", ""))
    operation = Operation("alpha", BUY, ref.get("shipperRef", ""), texts=texts)
    return depot.perform(operation, lambda play: _make(depot, shipment, play), refusal_of(tables.SHIPPING, BUY))


def _make(depot: Depot, shipment: Shipment, play: Play | None) -> Answer:
    """Enter the parcels in the ledger, then answer with their labels."""
    fault = play.fault.name if play else ""
    numbers = depot.numbers("alpha", len(shipment.skybills), play)
    labels = [_label(shipment, rank, number) for rank, number in enumerate(numbers)]
    depot.sell(labels, shipment.one("headerValue")["accountNumber"], play)
    return soap.response(
        tables.SHIPPING,
        BUY,
        [
            ("errorCode", "0"),
            ("errorMessage", DONE),
            ("reservationNumber", numbers[0]),
            *(("resultMultiParcelValue", _result(label, fault)) for label in labels),
        ],
    )


def _result(label: Label, fault: str) -> list[tuple[str, soap.Tree]]:
    number = ("skybillNumber", label.tracking_number)
    if fault == "nolabel":
        return [number]
    pdf = b"SANDBOX: this is no PDF" if fault == "notpdf" else label_pdf(label)
    text = base64.b64encode(pdf).decode()
    if fault == "base64":
        text = text[: len(text) // 2 // 4 * 4 + 1]  # one character alone encodes nothing
    # `codeService` stands for the children that the page says may be present and are ignored.
    return [("codeService", label.product_code[-3:]), ("pdfEtiquette", text), number]


def _label(shipment: Shipment, index: int, number: str) -> Label:
    recipient, skybill, ref = shipment.one("recipientValue"), shipment.skybills[index], shipment.refs[index]
    relay = ref.get("idRelais", "")
    return Label(
        carrier="alpha",
        tracking_number=number,
        product_name=tables.PRODUCTS[skybill["productCode"]].name,
        product_code=f"{skybill['productCode']} {skybill['service']}",
        sender=_lines(shipment.one("shipperValue"), "shipper"),
        recipient=_lines(recipient, "recipient"),
        phone=recipient.get("recipientMobilePhone") or recipient.get("recipientPhone", ""),
        postal_code=recipient["recipientZipCode"],
        pickup_point=relay,
        order_reference=ref.get("shipperRef", ""),
        reference=skybill.get("content1", "") if relay else ref.get("recipientRef", ""),
        weight_kg=float(skybill["weight"]),
        rank=index + 1,
        count=len(shipment.skybills),
        ship_date=skybill["shipDate"][:10],
        page_format=FORMATS[shipment.one("skybillParamsValue")["mode"]],
    )


def _lines(block: Fields, prefix: str) -> tuple[str, ...]:
    names = ("Name", "Name2", "Adress1", "Adress2")
    town = f"{block[f'{prefix}ZipCode']} {block[f'{prefix}City']}"
    return (*(block.get(prefix + name, "") for name in names), town, block[f"{prefix}Country"])


def _reprint(depot: Depot, message: soap.Message) -> Answer:
    number, mode, account, password = message.texts("numberSearch", "mode", "accountNumber", "password")
    check_credentials(account, password)
    if mode not in FORMATS:
        raise soap.RefusalError(33, "invalid data: mode")
    purchase, label = depot.ledger.purchase("alpha", number), depot.ledger.label("alpha", number)
    if purchase is None or label is None or purchase.account != account:
        raise soap.RefusalError(33, "invalid data: numberSearch, no parcel of yours")

    def reprint(play: Play | None) -> Answer:
        pdf = b"SANDBOX: this is no PDF" if play and play.fault.name == "notpdf" else label_pdf(label)
        printed = [("skybill", base64.b64encode(pdf).decode()), ("type", mode)]
        content = [] if play and play.fault.name == "nolabel" else printed
        return soap.response(tables.SHIPPING, REPRINT, [("errorCode", "0"), ("errorMessage", DONE), *content])

    operation = Operation("alpha", REPRINT, purchase.reference)
    return depot.perform(operation, reprint, refusal_of(tables.SHIPPING, REPRINT))
