"""What beta asks of a label request beyond its form, checked as strictly as its specification says."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from carriers.sandbox import beta_tables as tables
from carriers.sandbox.places import COUNTRIES, FRANCE, OVERSEAS, is_postal_code_of
from carriers.sandbox.violations import Findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carriers.sandbox.beta_reading import Json

PARIS = ZoneInfo("Europe/Paris")
MAGIC_CREDENTIALS = ("30000", "30007", "30008", "30009", "30700")
FRENCH_MOBILE = r"(0|\+33)[67]\d{8}"
FOREIGN_MOBILE = r"\+[1-9]\d{8,13}"
MOBILES = {"FR": (FRENCH_MOBILE,), "MC": (FRENCH_MOBILE, FOREIGN_MOBILE)}
# What is neither Latin-1 nor a Latin letter and prints all the same.
MARKS = frozenset("\u2018\u2019“”\u2013—…€")
LAST_LATIN_1 = "\xff"


def check_request(body: Json, api_key: str) -> Findings:
    """Return every error and warning; a request whose credentials fail is looked at no further."""
    findings = Findings()
    _check_credentials(findings, body, api_key)
    if findings.errors:
        return findings
    letter = body["letter"]
    _check_characters(findings, letter)
    _check_service(findings, letter["service"], body["outputFormat"])
    _check_sender(findings, letter["sender"])
    _check_addressee(findings, letter["addressee"])
    _check_product(findings, letter)
    _check_weight(findings, letter["parcel"])
    _check_pickup(findings, letter)
    _check_abroad(findings, letter)
    return findings


def account_of(body: Json, api_key: str) -> str:
    """Return what the ledger calls the contract; an API key is a secret and only its ending is shown."""
    contract: str = body.get("contractNumber", "")
    return contract or f"api key ...{api_key[-4:]}"


def destination_of(letter: Json) -> tables.Destination | None:
    return tables.DESTINATIONS.get(letter["addressee"]["address"].get("countryCode", ""))


def _check_credentials(findings: Findings, body: Json, api_key: str) -> None:
    contract, password = body.get("contractNumber", ""), body.get("password", "")
    is_one_way = not (contract or password) if api_key else (contract and password)
    findings.require(is_one_way, 30000, "contractNumber and password, or the header apiKey")
    for code in MAGIC_CREDENTIALS:
        if (api_key or contract).endswith(code):
            findings.error(int(code))


def _check_characters(findings: Findings, letter: Json) -> None:
    for path, text in _texts(letter, "letter"):
        if any(not _is_latin(char) for char in text):
            findings.error(30600, path)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, path)


def _is_latin(char: str) -> bool:
    if char <= LAST_LATIN_1:
        return char.isprintable() or char == "\xa0"
    return char in MARKS or (char.isalpha() and "LATIN" in unicodedata.name(char, "").split())


def _check_service(findings: Findings, service: Json, output: Json) -> None:
    findings.require(output.get("outputPrintingType") in tables.FORMATS, 30318, "outputPrintingType")
    findings.cut(service, tables.LONGEST_SERVICE, 30018)
    try:
        is_past = date.fromisoformat(_plain_date(service)) < datetime.now(PARIS).date()
    except ValueError:
        findings.error(30010, "depositDate")
    else:
        findings.require(not is_past, 30002, "depositDate")


def _plain_date(service: Json) -> str:
    """Return the date if it is written yyyy-MM-dd: Python reads other ISO forms as well."""
    text: str = service.get("depositDate", "")
    return text if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else ""


def _check_sender(findings: Findings, sender: Json) -> None:
    address = sender["address"]
    findings.cut(sender, {"senderParcelRef": tables.LONGEST_REFERENCE}, 30100)
    findings.cut(address, tables.LONGEST_ADDRESS, 30100)
    findings.require(address.get("companyName") or address.get("lastName"), 30100, "companyName or lastName")
    findings.require(address.get("line2"), 30100, "line2")
    findings.require(address.get("city"), 30104)
    _check_zip(findings, address, {"country": 30102, "unknown": 30103, "zip": 30106, "wrong": 30107, "fit": 30108})
    findings.require(address.get("countryCode") in {None, *FRANCE}, 30109, "not served from this country")
    _check_contact(findings, address)


def _check_addressee(findings: Findings, addressee: Json) -> None:
    address = addressee["address"]
    findings.cut(addressee, {"addresseeParcelRef": tables.LONGEST_REFERENCE}, 30204)
    findings.cut(address, tables.LONGEST_ADDRESS, 30204)
    if not address.get("companyName"):
        findings.require(address.get("lastName"), 30200, "lastName")
        findings.require(address.get("firstName"), 30202, "firstName")
    findings.require(address.get("line2"), 30204, "line2")
    findings.require(address.get("city"), 30208)
    _check_zip(findings, address, {"country": 30206, "unknown": 30207, "zip": 30210, "wrong": 30211, "fit": 30212})
    _check_contact(findings, address)


def _check_zip(findings: Findings, address: Json, codes: dict[str, int]) -> None:
    country, postal_code = address.get("countryCode", ""), address.get("zipCode", "")
    findings.require(country, codes["country"], "countryCode")
    findings.require(not country or country in COUNTRIES, codes["unknown"], "countryCode")
    findings.require(postal_code, codes["zip"], "zipCode")
    if country == "FR" and postal_code and not re.fullmatch(r"\d{5}", postal_code, re.ASCII):
        findings.error(codes["wrong"], "zipCode")
    elif country and postal_code and not is_postal_code_of(country, postal_code):
        findings.error(codes["fit"], "zipCode and countryCode")


def _check_contact(findings: Findings, address: Json) -> None:
    if email := address.get("email"):
        is_email = 5 <= len(email) <= 80 and re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", email)  # noqa: PLR2004 the page's figures
        findings.require(is_email, 30223, "email")
    if phone := address.get("phoneNumber"):
        findings.require(re.fullmatch(r"\+?\d{1,14}", phone, re.ASCII), 30221, "phoneNumber")
    if mobile := address.get("mobileNumber"):
        forms = MOBILES.get(address.get("countryCode", ""), (FOREIGN_MOBILE,))
        is_mobile = any(re.fullmatch(form, mobile, re.ASCII) for form in forms)
        findings.require(is_mobile, 30221, "mobileNumber")


def _check_product(findings: Findings, letter: Json) -> None:
    code, destination = letter["service"].get("productCode", ""), destination_of(letter)
    findings.require(code, 30014)
    findings.require(not code or code in tables.PRODUCTS, 30015)
    if destination is None or code not in tables.PRODUCTS:
        return
    served = destination.home | destination.home_signed | destination.pickup
    findings.require(code in served, 30213)


def _check_weight(findings: Findings, parcel: Json) -> None:
    weight = parcel.get("weight")
    if weight is None:
        findings.error(30300)
        return
    is_in_range = tables.LIGHTEST_KG <= weight <= tables.HEAVIEST_KG
    findings.require(is_in_range and weight == round(weight, 2), 30301)


def _check_pickup(findings: Findings, letter: Json) -> None:
    service, point = letter["service"], letter["parcel"].get("pickupLocationId", "")
    if service.get("productCode") not in tables.PICKUP_CODES:
        findings.require(not point, 30402, "pickupLocationId is for pickup products only")
        return
    findings.require(point, 30400)
    findings.require(not point or re.fullmatch(r"\d{6}", point, re.ASCII), 30401)
    findings.require(service.get("commercialName"), 30018)
    findings.require(letter["addressee"]["address"].get("mobileNumber"), 30220)


def _check_abroad(findings: Findings, letter: Json) -> None:
    service, declarations = letter["service"], letter["customsDeclarations"]
    country = letter["addressee"]["address"].get("countryCode", "")
    choice = service.get("returnTypeChoice")
    is_international = country in COUNTRIES - FRANCE - OVERSEAS
    findings.require(choice is not None or not is_international, 30550, "returnTypeChoice")
    findings.require(choice in (None, *tables.RETURN_CHOICES), 30550, "returnTypeChoice")
    destination = destination_of(letter)
    if destination is not None and destination.is_customs:
        findings.require(declarations.get("includeCustomsDeclarations"), 30500, "it is needed here")
    if declarations.get("includeCustomsDeclarations"):
        _check_customs(findings, letter)
    else:
        findings.require("totalAmount" not in service, 30501, "totalAmount is for customs only")


def _check_customs(findings: Findings, letter: Json) -> None:
    contents = letter["customsDeclarations"]["contents"]
    articles = contents.get("article", [])
    findings.require(letter["service"].get("totalAmount", 0) > 0, 30501, "totalAmount")
    findings.require(articles, 30502, "article")
    findings.require(contents["category"].get("value") in tables.CATEGORIES, 30503, "category")
    for article in articles:
        _check_article(findings, article)
    weight = sum(article.get("weight", 0) for article in articles)
    findings.require(weight <= letter["parcel"].get("weight", 0), 30515, "heavier than the parcel")


def _check_article(findings: Findings, article: Json) -> None:
    findings.cut(article, {"description": tables.LONGEST_DESCRIPTION}, 30510)
    findings.require(article.get("description"), 30510, "description")
    findings.require(article.get("quantity", 0) > 0, 30511, "quantity")
    findings.require(article.get("weight", 0) > 0, 30512, "weight")
    findings.require(article.get("value", 0) > 0, 30513, "value")
    findings.require(re.fullmatch(r"\d[\d.]{3,12}", article.get("hsCode", ""), re.ASCII), 30514, "hsCode")
    findings.require(article.get("originCountry") in COUNTRIES, 30516, "originCountry")
    findings.require(re.fullmatch(r"[A-Z]{3}", article.get("currency", "")), 30517, "currency")
