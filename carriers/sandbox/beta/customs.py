"""Validates a customs declaration, and returns the form that is printed from it."""

import re

from carriers.sandbox.beta.answers import Violations
from carriers.sandbox.beta.order import EORI, SIZE_KEYS, Order
from carriers.sandbox.beta.tables import DUTIES_PAID_TO, FORMATS, MOST_ARTICLES, RULES
from carriers.sandbox.data import COUNTRIES, EU, FRANCE, OVERSEAS, is_outside_union
from carriers.sandbox.http import Json
from carriers.sandbox.papers import CustomsForm

EORI_NUMBER = r"[A-Z]{2}[A-Z0-9]{1,15}"
DECLARED_TWICE_EUR = 1000  # from this value on, goods to GB need the sender's number and GB's own
STATES = ("US", "CA")
MANUFACTURER = " - MID: "
DUTIES_PAID_OVERSEAS = ("GF", "GP", "MQ", "RE")


def validate_customs(violations: Violations, order: Order) -> None:
    address, service = order.addressee, order.service
    if order.country in COUNTRIES and needs_customs(order.origin, order.country, address.get("zipCode", "")):
        violations.require(order.is_declared, 30500, "it is needed here")
    if order.is_declared:
        violations.require(service.get("totalAmount", 0) > 0, 30020, "totalAmount, the price of carriage")
        _validate_declaration(violations, order)
        if order.country == "US":
            _validate_manufacturer(violations, order)
    else:
        violations.require("totalAmount" not in service, 30020, "totalAmount is for customs only")
    if order.country in STATES:
        is_state = re.fullmatch("[A-Z]{2}", address.get("stateOrProvinceCode", ""))
        violations.require(is_state, 30212, "stateOrProvinceCode")
    _validate_eori(violations, order)
    _validate_duties(violations, order)


def needs_customs(sender_country: str, country: str, zip_code: str) -> bool:
    """Return whether a parcel between these places needs a declaration; one that stays on its island does not."""
    if sender_country in OVERSEAS:
        return country != sender_country
    return country not in EU | FRANCE or is_outside_union(country, zip_code)


def _validate_declaration(violations: Violations, order: Order) -> None:
    articles, contents = order.articles, order.declarations["contents"]
    violations.validate(order.declarations, RULES["customsDeclarations"])
    violations.require(1 <= len(articles) <= MOST_ARTICLES, 30502, "article")
    violations.require(len({article.get("currency") for article in articles}) <= 1, 30517, "one currency for all")
    violations.validate(contents["category"], RULES["category"])
    for article in articles:
        violations.validate(article, RULES["article"])
    violations.require(order.sum_of("weight") <= order.parcel.get("weight", 0), 30515, "heavier than the parcel")


def _validate_manufacturer(violations: Violations, order: Order) -> None:
    """Validate the manufacturer's code to the United States: at the end of descriptions, else with one article only."""
    for article in order.articles:
        description = article.get("description", "")
        is_at_the_end = re.fullmatch(rf".*\S{MANUFACTURER}[A-Z0-9]+", description, re.ASCII) is not None
        violations.require(is_at_the_end or "MID:" not in description, 30510, f"description, without{MANUFACTURER}code")
    is_one = len(order.articles) == 1 or not order.declarations.get("comments")
    violations.require(is_one, 30554, "comments, with one article only")


def _validate_eori(violations: Violations, order: Order) -> None:
    eori, is_british = order.fields.get(EORI, ""), order.country == "GB"
    is_twice = is_british and order.is_declared and order.sum_of("value") >= DECLARED_TWICE_EUR
    if not eori:
        violations.require(order.country != "US" and not is_twice, 30562, "EORI is needed here")
        return
    is_one = re.fullmatch(EORI_NUMBER, eori, re.ASCII) and not is_twice
    is_pair = re.fullmatch(rf"(?=.*\bGB){EORI_NUMBER} {EORI_NUMBER}", eori, re.ASCII) and is_british
    violations.require(is_one or is_pair, 30562, "EORI")  # to GB both numbers are allowed below the value, too


def _validate_duties(violations: Violations, order: Order) -> None:
    """Validate the duties that the sender pays: `ftd` to four islands, `ddp` from FR to the countries of a list."""
    if order.parcel.get("ftd"):
        is_possible = order.country in DUTIES_PAID_OVERSEAS and order.code == "CDS"
        violations.require(is_possible, 30318, "ftd is for CDS to GF, GP, MQ and RE")
    if not order.parcel.get("ddp"):
        return
    is_possible = order.is_declared and order.origin == "FR" and order.country in DUTIES_PAID_TO
    violations.require(is_possible, 30318, "ddp is not offered from there to here")
    for key in SIZE_KEYS:
        is_whole = re.fullmatch(r"[1-9]\d{0,2}", order.fields.get(key, ""), re.ASCII)
        violations.require(is_whole, 30317, f"{key}, whole cm")
    violations.require(order.fields.get(EORI), 30562, "EORI is needed for ddp")
    violations.require(order.declarations.get("description"), 30554, "description is needed for ddp")


def customs_form(order: Order) -> CustomsForm | None:
    """Return the form of a valid request; None when nothing was declared."""
    if not order.is_declared:
        return None
    declarations, parcel = order.declarations, order.parcel
    facts = {
        "Postage": f"{order.service['totalAmount'] / 100:.2f} EUR",
        "Goods": f"{order.sum_of('value'):.2f} EUR",
        "Invoice": declarations.get("invoiceNumber", ""),
        "EORI": order.fields.get(EORI, ""),
        "Description": declarations.get("description", ""),
        "Comments": declarations.get("comments", ""),
        "Size": " x ".join(order.fields[key] for key in SIZE_KEYS if key in order.fields),
        "Duties paid by the sender": "yes" if parcel.get("ddp") or parcel.get("ftd") else "",
    }
    lines = tuple(f"{name}: {value}" for name, value in facts.items() if value)
    copies, page_format = declarations.get("numberOfCopies", 4), FORMATS[order.form_format]
    return CustomsForm(lines, tuple(map(_article_line, order.articles)), copies, page_format)


def _article_line(article: Json) -> str:
    return (
        f"{article['quantity']} x {article['description']}, {article['weight']} kg, "
        f"{article['value']} {article['currency']}, HS {article['hsCode']}, {article['originCountry']}"
    )
