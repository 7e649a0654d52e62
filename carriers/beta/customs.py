"""beta's customs declaration (CN23): the articles and all else that a parcel's message holds because of customs."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any, Final

from carriers.beta.parties import CARRIER, WITH_PROVINCES
from carriers.customs import customs_of, described, items_by_parcel, needs_customs, value_eur
from carriers.errors import RequestRejected
from carriers.shipment import Customs, CustomsItem, Package, Party, Shipment
from carriers.text import CarrierField, fitting, required, to_plain
from carriers.validation import RECIPIENT, all_of

COMMERCIAL_GOODS: Final = 3
COPIES: Final = 4
CURRENCY: Final = "EUR"
DESCRIPTION_LENGTH: Final = 64
INVOICE_LENGTH: Final = 35
COMMENTS_LENGTH: Final = 200  # the page names no limit
EORI_LENGTH: Final = 40  # two numbers with a space
GRAM: Final = Decimal("0.001")

EORI_REQUIRED: Final = frozenset({"US"})
TWO_EORI: Final = frozenset({"GB"})  # its own number beside the European one, from so much goods in a parcel on
TWO_FROM_EUR: Final = 1000
# Duties paid by the sender: `ftd` there, and only with signature; else `ddp`.
DUTIES_OVERSEAS: Final = frozenset({"GF", "GP", "MQ", "RE"})
DUTIES_PAID_FROM: Final = frozenset({"FR"})
DUTIES_PAID_TO: Final = frozenset("GB CH AU CA CN HK JP KR SG TH US AE BH EG ID KW MX OM PH SA ZA".split())
UNSIGNED_OVERSEAS: Final = "COM"
# There the comments are the manufacturer's code, which stands at the end of each article's description, too.
MANUFACTURERS_CODE: Final = frozenset({"US"})
_CODE: Final = re.compile(r"[A-Za-z0-9]{1,15}")
_BY_SENDER: Final = "is required when the sender pays the duties"

Json = dict[str, Any]


def declarations(shipment: Shipment) -> list[tuple[Json, Json]]:
    """Return each parcel's declaration, as blocks of its letter and key-value fields, empty where none is needed.

    Raises RequestRejected for what is missing.
    """
    customs = customs_of(CARRIER, shipment)
    if customs is None:
        return [({}, {})] * len(shipment.packages)
    texts, contents, fields = all_of(
        lambda: _texts(customs),
        lambda: _contents(shipment, customs),
        lambda: _fields(shipment, customs),
    )
    duties = {"ddp" if is_ddp(shipment) else "ftd": True} if customs.is_duties_paid_by_sender else {}
    blocks = (
        {"service": {"totalAmount": cents}, "parcel": duties, "customsDeclarations": texts | content}
        for cents, content in zip(_postage_cents(shipment, customs), contents, strict=True)
    )
    return list(zip(blocks, fields, strict=True))


def check_duties(shipment: Shipment, carrier_code: str) -> None:
    """Refuse duties paid by the sender where there are none, and where the carrier does not take them."""
    if shipment.customs is not None and shipment.customs.is_duties_paid_by_sender:
        problem = _duties_problem(shipment.sender, shipment.recipient, carrier_code)
        if problem:
            raise RequestRejected(CARRIER, problem, field="customs.dutiesPaidBySender")


def _duties_problem(sender: Party, recipient: Party, carrier_code: str) -> str:
    country_code = recipient.country_code
    if not needs_customs(sender, recipient):
        return "is for orders that cross the border of the customs union"
    if country_code in DUTIES_OVERSEAS:
        is_signed = carrier_code != UNSIGNED_OVERSEAS
        return "" if is_signed else f"is possible to {country_code} with beta_domicile_signature_outre_mer only"
    is_offered = sender.country_code in DUTIES_PAID_FROM and country_code in DUTIES_PAID_TO
    return "" if is_offered else f"is not possible from {sender.country_code} to {country_code}"


def is_ddp(shipment: Shipment) -> bool:
    """Return whether the sender pays the duties by the option `ddp`."""
    is_paid = shipment.customs is not None and shipment.customs.is_duties_paid_by_sender
    return is_paid and shipment.recipient.country_code in DUTIES_PAID_TO


def _postage_cents(shipment: Shipment, customs: Customs) -> list[int]:
    """Return each parcel's postage, at least a cent: its share of the order's, or what the contract declares for each.

    Customs add the postage to the goods' value, so an order's must not be declared with every parcel.
    """
    count = len(shipment.packages)
    cents = max(1, int((customs.shipping_cost_eur * 100).to_integral_value(ROUND_HALF_UP)))
    if customs.is_for_each_parcel:
        return [cents] * count
    share, rest = divmod(cents, count)
    return [max(1, share + (rank < rest)) for rank in range(count)]


def _texts(customs: Customs) -> Json:
    invoice = _plain(customs.invoice_number, "customs.invoiceNumber", INVOICE_LENGTH)
    given = {"invoiceNumber": invoice} if invoice else {}
    return {"includeCustomsDeclarations": True, "numberOfCopies": COPIES, **given}


def _comments(shipment: Shipment, customs: Customs) -> str:
    """Return the comments; to the United States they are the manufacturer's code."""
    comments = _plain(customs.comments, "customs.comments", COMMENTS_LENGTH)
    is_code = shipment.recipient.country_code in MANUFACTURERS_CODE
    if is_code and comments and not _CODE.fullmatch(comments):
        problem = "is the manufacturer's code of the goods to the US: at most 15 letters and digits"
        raise RequestRejected(CARRIER, problem, field="customs.comments")
    return comments.upper() if is_code else comments


def _plain(text: str, path: str, max_length: int) -> str:
    field = CarrierField(CARRIER, path, max_length, RequestRejected)
    return fitting(to_plain(text, field), field)


def _contents(shipment: Shipment, customs: Customs) -> list[Json]:
    """Return each parcel's articles and comments and, for duties paid by the sender, the description of them all."""
    code = _code(shipment, customs)
    describe = partial(printed_goods, ending=code)
    comments, parcels = all_of(
        lambda: _comments(shipment, customs),
        lambda: items_by_parcel(CARRIER, shipment, described(customs, describe)),
    )
    return [
        ({"description": _summary(items)} if is_ddp(shipment) else {})
        # In the place of the comments a code is that of the only article.
        | ({"comments": comments} if comments and (not code or len(items) == 1) else {})
        | {"contents": {"article": _articles(items, package, code), "category": {"value": COMMERCIAL_GOODS}}}
        for package, items in zip(shipment.packages, parcels, strict=True)
    ]


def _code(shipment: Shipment, customs: Customs) -> str:
    """Return what stands behind each description: to the United States the manufacturer's code, if it is one."""
    comments = ""
    if shipment.recipient.country_code in MANUFACTURERS_CODE:
        with suppress(RequestRejected):  # as the comments are, by name
            comments = _comments(shipment, customs)
    return f" - MID: {comments}" if comments else ""


def printed_goods(words: str, path: str, ending: str = "") -> str:
    """Return an article's description in plain ASCII, without the ending that is put behind it.

    Raises RequestRejected for one that cannot be printed.
    """
    field = CarrierField(CARRIER, path, DESCRIPTION_LENGTH - len(ending), RequestRejected)
    return required(to_plain(words, field).removesuffix(ending), field)


def _articles(items: Sequence[CustomsItem], package: Package, code: str) -> list[Json]:
    # Pieces of unknown weight have what the others leave of the parcel's, at least a gram.
    known_kg = sum((item.weight_kg * item.quantity for item in items if item.weight_kg), Decimal(0))
    pieces = sum(item.quantity for item in items if not item.weight_kg)
    share_kg = max(((package.weight_kg - known_kg) / max(pieces, 1)).quantize(GRAM, ROUND_DOWN), GRAM)
    return [
        {
            "description": item.description + code,
            "quantity": item.quantity,
            "weight": float(item.weight_kg or share_kg),
            "value": float(item.unit_value_eur),
            "hsCode": item.hs_code,
            "originCountry": item.origin_country_code,
            "currency": CURRENCY,
        }
        for item in items
    ]


def _summary(items: Sequence[CustomsItem]) -> str:
    """Return the descriptions, as many as fit."""
    summary, *others = dict.fromkeys(item.description for item in items)
    for description in others:
        longer = f"{summary}, {description}"
        summary = longer if len(longer) <= DESCRIPTION_LENGTH else summary
    return summary


def _fields(shipment: Shipment, customs: Customs) -> list[Json]:
    """Return each parcel's key-value fields; raises RequestRejected for those that are missing."""
    sides: list[Json] = [
        {"length": each.length_cm, "width": each.width_cm, "height": each.height_cm} if is_ddp(shipment) else {}
        for each in shipment.packages
    ]
    eori, *_ = all_of(
        lambda: _eori(shipment, customs),
        *(partial(_require, value, path, problem) for value, path, problem in _needed(shipment, customs, sides)),
    )
    return [({"EORI": eori} if eori else {}) | {name.upper(): str(cm) for name, cm in each.items()} for each in sides]


def _needed(shipment: Shipment, customs: Customs, sides: Sequence[Json]) -> Iterator[tuple[object, str, str]]:
    """Yield what may not be missing: value, path, and the words of the refusal."""
    recipient = shipment.recipient
    if recipient.country_code in WITH_PROVINCES:
        problem = f"is required for {recipient.country_code}: the two letters of the state or province"
        yield recipient.province_code, f"{RECIPIENT}.provinceCode", problem
    for index, item in enumerate(customs.items):
        yield item.hs_code, f"customs.items[{index}].hsCode", "is required: 6, 8 or 10 digits"
    for index, of_parcel in enumerate(sides):
        yield from ((side_cm, f"parcels[{index}].{name}", _BY_SENDER) for name, side_cm in of_parcel.items())


def _eori(shipment: Shipment, customs: Customs) -> str:
    number = _plain(customs.eori, "customs.eori", EORI_LENGTH).upper()
    country_code = shipment.recipient.country_code
    if country_code in EORI_REQUIRED or is_ddp(shipment):
        problem = f"is required for {country_code}: the sender's number at the customs of the European Union"
        _require(number, "customs.eori", problem)
    if country_code in TWO_EORI and " " not in number:
        dearest_eur = max(map(value_eur, items_by_parcel(CARRIER, shipment, customs)))
        problem = f"needs {country_code}'s own number too, after a space, from {TWO_FROM_EUR:,} EUR of goods a parcel"
        _require(dearest_eur < TWO_FROM_EUR, "customs.eori", problem)
    return number


def _require(value: object, path: str, problem: str) -> None:
    if not value:
        raise RequestRejected(CARRIER, problem, field=path)
