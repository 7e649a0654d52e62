"""alpha's shipping service: buys labels (`shippingMultiParcelV4`) and prints them again."""

import base64
import re
from dataclasses import replace

from anyascii import anyascii

from carriers.sandbox.alpha import service, soap, tables
from carriers.sandbox.alpha.validation import Fields, Shipment, read_shipment, validate_credentials, validate_shipment
from carriers.sandbox.data import EU_TERRITORY
from carriers.sandbox.faults import Fault
from carriers.sandbox.http import Response
from carriers.sandbox.papers import Label, PageFormat, faulty_pdf
from carriers.sandbox.parcel import Parcel, without_secrets
from carriers.sandbox.pickup_points import point_of
from carriers.sandbox.state import State

BUY = "shippingMultiParcelV4"
REPRINT = "getReservedSkybillWithTypeAndModeAuth"
FORMATS: dict[str, PageFormat] = {"PDF": "A4", "PPR": "A4", "SPD": "A4", "THE": "10x15"}
NO_LOCKERS = ("5X", "6B")  # which are searched with type C


def _buy(state: State, message: soap.Message) -> Response:
    shipment = read_shipment(message)
    validate_shipment(shipment)
    ref, skybill = shipment.refs[0], shipment.skybills[0]
    texts = (ref.get("recipientRef", ""), skybill.get("content1", ""))

    def make(fault: Fault) -> Response:
        """Enter the parcels in the ledger; answer with the numbers and labels."""
        numbers, reservation = state.numbers("alpha", len(shipment.skybills), fault), state.reservation()
        parcels = [
            Parcel(
                label=_label(shipment, index, number),
                request=without_secrets({**shipment.structures, **shipment.top}),
                reservation_number=reservation,
                misrouted_by=misrouted_by(shipment, index),
                is_in_schema_order=shipment.is_in_schema_order,
            )
            for index, number in enumerate(numbers)
        ]
        state.ledger.record(parcels, shipment.one("headerValue")["accountNumber"], fault)
        has_label = shipment.one("skybillParamsValue")["withReservation"] == "2"
        results = (_result(parcel.label, fault, has_label=has_label) for parcel in parcels)
        made: soap.Elements = [("resultMultiParcelValue", result) for result in results]
        return service.succeeded(message, [("reservationNumber", reservation), *made])

    return service.perform(state, message, make, ref.get("shipperRef", ""), texts)


def _result(label: Label, fault: Fault, *, has_label: bool) -> soap.Elements:
    number = ("skybillNumber", label.tracking_number)
    pdf = faulty_pdf(fault.name, label) if has_label else None
    if pdf is None:
        return [number]
    text = base64.b64encode(pdf).decode()
    if fault.name == "base64":
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
        product_code=" ".join(filter(None, (skybill["productCode"], skybill["service"], skybill.get("as")))),
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
        customs=_customs(recipient, skybill),
    )


def _customs(recipient: Fields, skybill: Fields) -> str:
    """Return the goods and their value in euros, as printed outside the EU."""
    if recipient["recipientCountry"] in EU_TERRITORY:
        return ""
    contents = (skybill.get(f"content{rank}") for rank in range(1, 6))
    return " ".join([f"{float(skybill.get('customsValue') or 0):.2f} EUR", *filter(None, contents)])


def _lines(block: Fields, prefix: str) -> tuple[str, ...]:
    names = ("Name", "Name2", "Adress1", "Adress2")
    town = f"{block[f'{prefix}ZipCode']} {block[f'{prefix}City']}"
    return (*(block.get(prefix + name, "") for name in names), town, block[f"{prefix}Country"])


def _reprint(state: State, message: soap.Message) -> Response:
    """Print all labels of a reservation again; a parcel's number is no reservation's."""
    fields = message.fields()
    number, mode, account = fields["numberSearch"], fields["mode"], fields["accountNumber"]
    validate_credentials(account, fields["password"])
    soap.require(mode in FORMATS, 33, "mode")
    purchases = [row for row in state.ledger.reserved(number) if row.account == account]
    parcels = [state.ledger.parcel("alpha", row.tracking_number) for row in purchases]
    printed = [replace(parcel.label, page_format=FORMATS[mode]) for parcel in parcels if parcel]
    soap.require(number and printed, 33, "numberSearch, no reservation of yours")

    def reprint(fault: Fault) -> Response:
        pdf = faulty_pdf(fault.name, *printed)
        if pdf is None:
            return service.succeeded(message, [])
        content: soap.Elements = [("skybill", base64.b64encode(pdf).decode()), ("type", mode)]
        return service.succeeded(message, content)

    return service.perform(state, message, reprint, purchases[0].reference)


def misrouted_by(shipment: Shipment, index: int) -> tuple[str, ...]:
    """Return the fields that are not the relay's own: the carrier sells the label and sorts by them all the same."""
    skybill = shipment.skybills[index]
    if not tables.PRODUCTS[skybill["productCode"]].is_relay:
        return ()
    relay = point_of("alpha", shipment.refs[index]["idRelais"])
    is_locker_refused = skybill["productCode"] in NO_LOCKERS and relay is not None and relay.is_locker
    if relay is None or is_locker_refused or not relay.is_open or float(skybill["weight"]) > relay.max_weight_kg:
        return ("idRelais",)
    recipient = shipment.one("recipientValue")
    sent_street = f"{recipient['recipientAdress1']} {recipient.get('recipientAdress2', '')}"
    pairs = {
        "recipientName": (recipient["recipientName"], relay.name),
        "recipientAdress1": (sent_street, f"{relay.address1} {relay.address2 or relay.address3}"),
        "recipientZipCode": (recipient["recipientZipCode"], relay.zip_code),
        "recipientCity": (recipient["recipientCity"], relay.city),
        "recipientCountry": (recipient["recipientCountry"], relay.country),
    }
    return tuple(name for name, (sent, own) in pairs.items() if as_accepted(sent) != as_accepted(own))


def as_accepted(text: str) -> str:
    """Return a text as the carrier takes it: letters spelled out, hyphens inside, a space for every other symbol."""
    spelled = "".join(anyascii(char) if char.isalnum() else char if char == "-" else " " for char in text)
    return " ".join(re.sub(r"(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])", " ", spelled).split()).upper()


OPERATIONS = {BUY: _buy, REPRINT: _reprint}
