"""Validates a customs declaration, and returns the form that is printed from it."""

import re
from decimal import Decimal

from carriers.sandbox.beta.answers import Violations
from carriers.sandbox.beta.request_fields import EORI, SIZE_KEYS, Fields, read_fields
from carriers.sandbox.beta.tables import DUTIES_PAID_TO, MOST_ARTICLES, RULES
from carriers.sandbox.countries import COUNTRIES, EU, FRANCE, OVERSEAS
from carriers.sandbox.json_request import Json
from carriers.sandbox.papers import CustomsForm

EORI_NUMBER = r"[A-Z]{2}[A-Z0-9]{1,15}"
DECLARED_TWICE_EUR = 1000  # from this value on, goods to GB need the sender's number and GB's own
STATES = ("US", "CA")
MANUFACTURER = " - MID: "
DUTIES_PAID_OVERSEAS = ("GF", "GP", "MQ", "RE")
# Postal codes outside the customs union, by their beginnings: the Canaries, Ceuta and Melilla; Livigno and Campione;
# Helgoland and Büsingen; Åland; Mount Athos.
OUTSIDE = {
    "ES": ("35", "38", "51", "52"),
    "IT": ("23041", "23030", "22061", "22060"),
    "DE": ("27498", "78266"),
    "FI": ("22",),
    "GR": ("63086", "63087"),
}


def validate_customs(violations: Violations, body: Json) -> None:
    letter = body["letter"]
    service, declarations = letter["service"], letter["customsDeclarations"]
    sender, addressee = letter["sender"]["address"], letter["addressee"]["address"]
    country = addressee.get("countryCode", "")
    is_declared = declarations.get("includeCustomsDeclarations", False)
    if country in COUNTRIES and needs_customs(sender.get("countryCode", ""), country, addressee.get("zipCode", "")):
        violations.require(is_declared, 30500, "it is needed here")
    if is_declared:
        violations.require(service.get("totalAmount", 0) > 0, 30020, "totalAmount, the price of carriage")
        _validate_declaration(violations, letter)
        _validate_manufacturer(violations, letter)
    else:
        violations.require("totalAmount" not in service, 30020, "totalAmount is for customs only")
    if country in STATES:
        is_state = re.fullmatch("[A-Z]{2}", addressee.get("stateOrProvinceCode", ""))
        violations.require(is_state, 30212, "stateOrProvinceCode")
    _validate_eori(violations, body, is_declared=is_declared)
    _validate_duties(violations, body, is_declared=is_declared)


def needs_customs(sender_country: str, country: str, zip_code: str) -> bool:
    """Return whether a parcel between these places needs a declaration; one that stays on its island does not."""
    if sender_country in OVERSEAS:
        return country != sender_country
    if country not in EU | FRANCE:
        return True
    return zip_code.replace(" ", "").startswith(OUTSIDE.get(country, ("none",)))


def _validate_declaration(violations: Violations, letter: Json) -> None:
    declarations = letter["customsDeclarations"]
    articles = declarations["contents"].get("article", [])
    violations.validate(declarations, RULES["customsDeclarations"])
    violations.require(1 <= len(articles) <= MOST_ARTICLES, 30502, "article")
    violations.require(len({article.get("currency") for article in articles}) <= 1, 30517, "one currency for all")
    violations.validate(declarations["contents"]["category"], RULES["category"])
    for article in articles:
        violations.validate(article, RULES["article"])
    weight = sum(article.get("weight", 0) * article.get("quantity", 1) for article in articles)
    violations.require(weight <= letter["parcel"].get("weight", 0), 30515, "heavier than the parcel")


def _validate_manufacturer(violations: Violations, letter: Json) -> None:
    """Validate the manufacturer's code to the United States: at the end of descriptions, else with one article only."""
    declarations = letter["customsDeclarations"]
    if letter["addressee"]["address"].get("countryCode") != "US":
        return
    articles = declarations["contents"].get("article", [])
    for article in articles:
        description = article.get("description", "")
        is_at_the_end = re.fullmatch(rf".*\S{MANUFACTURER}[A-Z0-9]+", description, re.ASCII) is not None
        violations.require(is_at_the_end or "MID:" not in description, 30510, f"description, without{MANUFACTURER}code")
    violations.require(len(articles) == 1 or not declarations.get("comments"), 30554, "comments, with one article only")


def _validate_eori(violations: Violations, body: Json, *, is_declared: bool) -> None:
    letter = body["letter"]
    country, eori = letter["addressee"]["address"].get("countryCode", ""), read_fields(body).get(EORI, "")
    is_twice = country == "GB" and is_declared and goods_eur(letter) >= DECLARED_TWICE_EUR
    if not eori:
        violations.require(country != "US" and not is_twice, 30562, "EORI is needed here")
        return
    is_one = re.fullmatch(EORI_NUMBER, eori, re.ASCII) and not is_twice
    is_pair = re.fullmatch(rf"(?=.*\bGB){EORI_NUMBER} {EORI_NUMBER}", eori, re.ASCII) and country == "GB"
    violations.require(is_one or is_pair, 30562, "EORI")  # to GB both numbers are allowed below the value, too


def goods_eur(letter: Json) -> Decimal:
    articles = letter["customsDeclarations"]["contents"].get("article", [])
    return sum((article.get("value", Decimal()) * article.get("quantity", 1) for article in articles), Decimal())


def _validate_duties(violations: Violations, body: Json, *, is_declared: bool) -> None:
    """Validate the duties that the sender pays: `ftd` to four islands, `ddp` from FR to the countries of a list."""
    letter, fields = body["letter"], read_fields(body)
    country = letter["addressee"]["address"].get("countryCode", "")
    if letter["parcel"].get("ftd"):
        is_possible = country in DUTIES_PAID_OVERSEAS and letter["service"].get("productCode") == "CDS"
        violations.require(is_possible, 30318, "ftd is for CDS to GF, GP, MQ and RE")
    if not letter["parcel"].get("ddp"):
        return
    is_from_france = letter["sender"]["address"].get("countryCode") == "FR"
    is_possible = is_declared and is_from_france and country in DUTIES_PAID_TO
    violations.require(is_possible, 30318, "ddp is not offered from there to here")
    for key in SIZE_KEYS:
        violations.require(re.fullmatch(r"[1-9]\d{0,2}", fields.get(key, ""), re.ASCII), 30317, f"{key}, whole cm")
    violations.require(fields.get(EORI), 30562, "EORI is needed for ddp")
    violations.require(letter["customsDeclarations"].get("description"), 30554, "description is needed for ddp")


def customs_form(body: Json) -> CustomsForm | None:
    """Return the form of a valid request; None when nothing was declared."""
    letter = body["letter"]
    declarations = letter["customsDeclarations"]
    if not declarations.get("includeCustomsDeclarations"):
        return None
    articles = tuple(map(_article_line, declarations["contents"]["article"]))
    return CustomsForm(_facts(letter, read_fields(body)), articles, declarations.get("numberOfCopies", 4))


def _facts(letter: Json, fields: Fields) -> tuple[str, ...]:
    declarations = letter["customsDeclarations"]
    facts = {
        "Postage": f"{letter['service']['totalAmount'] / 100:.2f} EUR",
        "Goods": f"{goods_eur(letter):.2f} EUR",
        "Invoice": declarations.get("invoiceNumber", ""),
        "EORI": fields.get(EORI, ""),
        "Description": declarations.get("description", ""),
        "Comments": declarations.get("comments", ""),
        "Size": " x ".join(fields[key] for key in SIZE_KEYS if key in fields),
        "Duties paid by the sender": "yes" if letter["parcel"].get("ddp") or letter["parcel"].get("ftd") else "",
    }
    return tuple(f"{name}: {value}" for name, value in facts.items() if value)


def _article_line(article: Json) -> str:
    return (
        f"{article['quantity']} x {article['description']}, {article['weight']} kg, "
        f"{article['value']} {article['currency']}, HS {article['hsCode']}, {article['originCountry']}"
    )
