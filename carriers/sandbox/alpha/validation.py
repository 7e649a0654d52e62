"""Reads the shipment of a request of `shippingMultiParcelV4`, and validates it as strictly as alpha's documents say."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from carriers.sandbox.alpha import tables
from carriers.sandbox.alpha.soap import (
    CHILDREN,
    Message,
    RefusalError,
    SoapError,
    children_of,
    leaf_text,
    leaves,
    require,
    validate,
)
from carriers.sandbox.data import EU_TERRITORY, FRANCE, PARIS, is_postal_code_of

Fields = dict[str, str]
RELAY_EUROPE = "49"
LAST_HOUR = 23
EMPTY, WRONG_LENGTH, INVALID, NOT_A_NUMBER, NOT_FOUND, NOT_ROUTED = 31, 32, 33, 34, 35, 38


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
            structures[name].append(leaves(children_of(element), schemas[name], name))
        elif name != tables.GOODS:
            top[name] = leaf_text(element)
    is_ordered = all(
        list(block) == sorted(block, key=schemas[name].index) for name, blocks in structures.items() for block in blocks
    )
    return Shipment(structures, top, is_ordered)


def validate_shipment(shipment: Shipment) -> None:
    """Raise RefusalError for the first rule that the shipment breaks."""
    for name, blocks in shipment.structures.items():
        require(blocks, EMPTY, name)
    validate_credentials(shipment.one("headerValue").get("accountNumber", ""), shipment.top.get("password", ""))
    for name, blocks in shipment.structures.items():
        for block in blocks:
            validate(block, tables.STRUCTURES[name])
    validate(shipment.top, tables.RULES[""])
    _validate_counts(shipment)
    for skybill in shipment.skybills:
        _validate_money(skybill)
    for prefix in ("shipper", "customer", "recipient"):
        for block in shipment.structures[f"{prefix}Value"]:
            fits = _is_postal_code(block[f"{prefix}Country"], block[f"{prefix}ZipCode"])
            # Routing is to the recipient: the others' places are values as any.
            code = NOT_ROUTED if prefix == "recipient" else INVALID
            require(fits, code, f"{prefix}ZipCode does not fit {prefix}Country")
    for ref, skybill in zip(shipment.refs, shipment.skybills, strict=True):
        _validate_parcel(shipment.one("recipientValue"), ref, skybill)


def validate_credentials(account: str, password: str) -> None:
    """Accept any account of 8 and password of 6 digits, except those that `GET /` lists as refused."""
    for name, value, length in (("accountNumber", account, 8), ("password", password, 6)):
        require(value, EMPTY, name)
        require(re.fullmatch(r"\d+", value, re.ASCII), NOT_A_NUMBER, name)
        require(len(value) == length, WRONG_LENGTH, name)
    require(password != "000000", 30)  # noqa: S105 a documented magic value
    if account[-6:] in tables.REFUSED_ACCOUNTS:
        raise tables.refusal_named(tables.REFUSED_ACCOUNTS[account[-6:]])


def _validate_counts(shipment: Shipment) -> None:
    count = int(shipment.top["numberOfParcel"])
    require(1 <= count <= tables.MOST_PARCELS, INVALID, "numberOfParcel")
    require(shipment.top["multiParcel"] == ("Y" if count > 1 else "N"), INVALID, "multiParcel")
    allowed = {"shipperValue": (1, count), "recipientValue": (1,), "refValue": (count,), "skybillValue": (count,)}
    for name, counts in allowed.items():
        require(len(shipment.structures[name]) in counts, INVALID, f"{name}, does not fit numberOfParcel")
    for rank, skybill in enumerate(shipment.skybills, start=1):
        for name, expected in (("bulkNumber", count), ("skybillRank", rank)):
            value = skybill.get(name, "")
            require(value or count == 1, EMPTY, name)
            require(not value or int(value) == expected, INVALID, name)


def _validate_money(skybill: Fields) -> None:
    for name in ("cod", "customs", "insured"):
        is_worth = float(skybill.get(f"{name}Value") or 0) > 0
        require(skybill.get(f"{name}Currency") or not is_worth, EMPTY, f"{name}Currency")
    # The schema's order has no place for what a cash on delivery needs.
    require(not int(skybill.get("codValue") or 0), EMPTY, "toTheOrderOf")
    require(int(skybill.get("insuredValue") or 0) <= tables.MOST_INSURED_CENTS, INVALID, "insuredValue")


def _is_postal_code(country: str, zip_code: str) -> bool:
    if country == "IE":  # an Eircode, or 1 (Dublin) or 2 as in the specification of 2018
        return re.fullmatch(r"[12]|[A-Z]\d[\dW] ?[A-Z\d]{4}", zip_code.upper(), re.ASCII) is not None
    return is_postal_code_of(country, zip_code)


def _validate_parcel(recipient: Fields, ref: Fields, skybill: Fields) -> None:
    product, country = tables.PRODUCTS.get(skybill["productCode"]), recipient["recipientCountry"]
    weight_kg = float(skybill["weight"])
    if product is None:
        raise tables.refusal_named("contract")
    require(0 < weight_kg <= product.heaviest_kg, INVALID, f"weight, above 0 and at most {product.heaviest_kg} kg")
    require(country in product.countries, NOT_FOUND)
    above_kg, up_to_kg = product.services.get(int(skybill["service"]), (0, 0))
    require(above_kg < weight_kg <= up_to_kg, NOT_FOUND)
    require(skybill.get("as", "") == product.as_code, NOT_FOUND, "as")
    relay = ref.get("idRelais", "")
    if product.is_relay:
        for name in ("recipientRef", "idRelais"):
            require(ref.get(name), EMPTY, name)
        require(ref["recipientRef"] == relay, INVALID, "recipientRef, the relay's code is expected")
    require(product.is_relay or not relay, INVALID, "idRelais, for relays only")
    _validate_day(skybill)
    require(country in EU_TERRITORY or skybill.get("content1"), EMPTY, "content1")
    if skybill["productCode"] == RELAY_EUROPE:
        _validate_phones(recipient)


def _validate_phones(recipient: Fields) -> None:
    """Demand a phone of a relay abroad, and the country's number apart from the rest."""
    phones = {name: recipient.get(name, "") for name in ("recipientPhone", "recipientMobilePhone")}
    require(recipient["recipientCountry"] in FRANCE or any(phones.values()), EMPTY, "recipientPhone")
    for name, phone in phones.items():
        require(not phone or re.fullmatch(tables.RELAY_EUROPE_PHONE, phone, re.ASCII), INVALID, name)


def _validate_day(skybill: Fields) -> None:
    try:
        ship_date = datetime.fromisoformat(skybill["shipDate"]).replace(tzinfo=PARIS)
    except ValueError:
        raise RefusalError(INVALID, "shipDate") from None
    # A day of tolerance, for clocks that differ.
    require(ship_date >= datetime.now(PARIS) - timedelta(days=1), INVALID, "shipDate, in the past")
    require(int(skybill["shipHour"]) <= LAST_HOUR, INVALID, "shipHour")
    is_saturdays = int(skybill["service"]) == tables.SATURDAY_RELAY_SERVICE
    is_before = ship_date.weekday() in tables.SATURDAY_RELAY_WEEKDAYS
    require(is_before or not is_saturdays, NOT_FOUND, "Saturday delivery is for Thursdays and Fridays")
