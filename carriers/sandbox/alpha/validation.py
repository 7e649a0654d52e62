"""Reads the shipment of a request of `shippingMultiParcelV4`, and validates it as strictly as alpha's documents say."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from carriers.sandbox.alpha import tables
from carriers.sandbox.alpha.soap import CHILDREN, Message, SoapError, fields_of, leaf_text, refusal
from carriers.sandbox.countries import EU_TERRITORY, FRANCE, PARIS, is_postal_code_of
from carriers.sandbox.rules import PATTERNS, Rule, broken

Fields = dict[str, str]
RELAY_EUROPE = "49"
EMPTY, WRONG_LENGTH, INVALID, NOT_A_NUMBER, NOT_FOUND = 31, 32, 33, 34, 35
_refusal = partial(refusal, tables.MESSAGES)
_invalid = partial(_refusal, INVALID)


@dataclass(frozen=True)
class Shipment:
    """Structures by name, each possibly repeated, and the top-level fields."""

    structures: dict[str, list[Fields]]
    top: Fields
    is_in_schema_order: bool  # inside every structure

    def one(self, name: str) -> Fields:
        return self.structures[name][0]

    @property
    def refs(self) -> list[Fields]:
        return self.structures["refValue"]

    @property
    def skybills(self) -> list[Fields]:
        return self.structures["skybillValue"]


def read_shipment(message: Message) -> Shipment:
    """Return the shipment; SoapError for a child that is unknown, out of order or wrongly repeated."""
    names = [name for name, _ in message.children]
    known = CHILDREN[message.operation]
    if not set(names) <= set(known) or names != sorted(names, key=known.index):
        raise SoapError(f"Unmarshalling Error: expected, in this order: {', '.join(known)}")
    for name in set(names) - tables.REPEATABLE:
        if names.count(name) > 1:
            raise SoapError(f"Unmarshalling Error: {name} is not repeated")
    schemas = {name: [rule.field for rule in rules] for name, rules in tables.STRUCTURES.items()}
    structures: dict[str, list[Fields]] = {name: [] for name in schemas}
    top: Fields = {}
    for name, element in message.children:
        if name in structures:
            structures[name].append(fields_of(element, schemas[name]))
        else:
            top[name] = leaf_text(element)
    is_ordered = all(
        list(block) == sorted(block, key=schemas[name].index) for name, blocks in structures.items() for block in blocks
    )
    return Shipment(structures, top, is_ordered)


def validate_shipment(shipment: Shipment) -> None:
    """Raise RefusalError for the first rule that the shipment breaks."""
    for name, blocks in shipment.structures.items():
        if not blocks:
            raise _refusal(EMPTY, name)
    validate_credentials(shipment.one("headerValue").get("accountNumber", ""), shipment.top.get("password", ""))
    for name, blocks in shipment.structures.items():
        for block in blocks:
            _validate_fields(block, tables.STRUCTURES[name])
    _validate_fields(shipment.top, tables.RULES[""])
    _validate_counts(shipment)
    _validate_money(shipment.skybills)
    for prefix in ("shipper", "customer", "recipient"):
        for block in shipment.structures[f"{prefix}Value"]:
            if not _is_postal_code(block[f"{prefix}Country"], block[f"{prefix}ZipCode"]):
                raise _refusal(38, f"{prefix}Country and {prefix}ZipCode do not fit")
    for ref, skybill in zip(shipment.refs, shipment.skybills, strict=True):
        _validate_parcel(shipment, ref, skybill)


def validate_credentials(account: str, password: str) -> None:
    """Accept any account of 8 and password of 6 digits, except those that `GET /` lists as refused."""
    for name, value, length in (("accountNumber", account, 8), ("password", password, 6)):
        _validate_fields({name: value}, [Rule(name, PATTERNS["integer"], EMPTY, NOT_A_NUMBER, 0, 0, name)])
        if len(value) != length:
            raise _refusal(WRONG_LENGTH, name)
    if password == "000000":  # noqa: S105 a documented magic value
        raise _refusal(30)
    if account[-6:] in tables.REFUSED_ACCOUNTS:
        raise tables.refusal_named(tables.REFUSED_ACCOUNTS[account[-6:]])


def _validate_fields(block: Fields, rules: Sequence[Rule]) -> None:
    for code, name in broken(rules, block):
        raise _refusal(code, name)


def _validate_counts(shipment: Shipment) -> None:
    count = int(shipment.top["numberOfParcel"])
    if not 1 <= count <= tables.MOST_PARCELS:
        raise _invalid("numberOfParcel")
    if shipment.top["multiParcel"] != ("Y" if count > 1 else "N"):
        raise _invalid("multiParcel")
    for name, allowed in (
        ("shipperValue", {1, count}),
        ("recipientValue", {1}),
        ("refValue", {count}),
        ("skybillValue", {count}),
    ):
        if len(shipment.structures[name]) not in allowed:
            raise _invalid(f"{name}, does not fit numberOfParcel")
    for rank, skybill in enumerate(shipment.skybills, start=1):
        _validate_rank(skybill, rank, count)


def _validate_rank(skybill: Fields, rank: int, count: int) -> None:
    for name, expected in (("bulkNumber", count), ("skybillRank", rank)):
        value = skybill.get(name, "")
        if not value and count > 1:
            raise _refusal(EMPTY, name)
        if value and int(value) != expected:
            raise _invalid(name)


def _validate_money(skybills: list[Fields]) -> None:
    for skybill in skybills:
        for name in ("cod", "customs", "insured"):
            if float(skybill.get(f"{name}Value") or 0) and not skybill.get(f"{name}Currency"):
                raise _refusal(EMPTY, f"{name}Currency")
        if int(skybill.get("codValue") or 0):
            raise _refusal(EMPTY, "toTheOrderOf")  # which the schema's order has no place for
        if int(skybill.get("insuredValue") or 0) > tables.MOST_INSURED_CENTS:
            raise _invalid("insuredValue")


def _is_postal_code(country: str, zip_code: str) -> bool:
    if country == "IE":  # an Eircode, or 1 (Dublin) or 2 as in the specification of 2018
        return re.fullmatch(r"[12]|[A-Z]\d[\dW] ?[A-Z\d]{4}", zip_code.upper(), re.ASCII) is not None
    return is_postal_code_of(country, zip_code)


def _validate_parcel(shipment: Shipment, ref: Fields, skybill: Fields) -> None:
    recipient = shipment.one("recipientValue")
    product = tables.PRODUCTS.get(skybill["productCode"])
    if product is None:
        raise tables.refusal_named("contract")
    weight_kg = float(skybill["weight"])
    _validate_weight(weight_kg, product)
    is_served = recipient["recipientCountry"] in product.countries
    if not is_served or not product.has_service(int(skybill["service"]), weight_kg):
        raise _refusal(NOT_FOUND)
    if skybill.get("as", "") != product.as_code:
        raise _refusal(NOT_FOUND, "as")
    _validate_relay(ref, product)
    _validate_day(skybill)
    if recipient["recipientCountry"] not in EU_TERRITORY and not skybill.get("content1"):
        raise _refusal(EMPTY, "content1")
    if skybill["productCode"] == RELAY_EUROPE:
        _validate_phones(recipient)


def _validate_phones(recipient: Fields) -> None:
    """Demand a phone of a relay abroad, and the country's number apart from the rest."""
    phones = {name: recipient.get(name, "") for name in ("recipientPhone", "recipientMobilePhone")}
    if recipient["recipientCountry"] not in FRANCE and not any(phones.values()):
        raise _refusal(EMPTY, "recipientPhone")
    for name, phone in phones.items():
        if phone and not re.fullmatch(tables.RELAY_EUROPE_PHONE, phone, re.ASCII):
            raise _invalid(name)


def _validate_weight(weight_kg: float, product: tables.Product) -> None:
    heaviest_kg = tables.HEAVIEST_RELAY_KG if product.is_relay else tables.HEAVIEST_KG
    if not 0 < weight_kg <= heaviest_kg:
        raise _invalid(f"weight, above 0 and at most {heaviest_kg} kg")


def _validate_relay(ref: Fields, product: tables.Product) -> None:
    relay = ref.get("idRelais", "")
    if not product.is_relay:
        if relay:
            raise _invalid("idRelais, for relays only")
        return
    for name in ("recipientRef", "idRelais"):
        if not ref.get(name):
            raise _refusal(EMPTY, name)
    if ref["recipientRef"] != relay:
        raise _invalid("recipientRef, the relay's code is expected")


def _validate_day(skybill: Fields) -> None:
    try:
        ship_date = datetime.fromisoformat(skybill["shipDate"]).replace(tzinfo=PARIS)
    except ValueError:
        raise _invalid("shipDate") from None
    # A day of tolerance, for clocks that differ.
    if ship_date < datetime.now(PARIS) - timedelta(days=1):
        raise _invalid("shipDate, in the past")
    if int(skybill["shipHour"]) > 23:  # noqa: PLR2004 the last hour of a day
        raise _invalid("shipHour")
    is_saturdays = int(skybill["service"]) == tables.SATURDAY_RELAY_SERVICE
    if is_saturdays and ship_date.weekday() not in tables.SATURDAY_RELAY_WEEKDAYS:
        raise _refusal(NOT_FOUND, "Saturday delivery is for Thursdays and Fridays")
