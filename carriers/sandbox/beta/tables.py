"""beta's published tables, as the sandbox reads them: the request's shape, destinations, error codes."""

from decimal import Decimal
from typing import Any

from carriers.sandbox.countries import COUNTRIES, EU, FRANCE, codes
from carriers.sandbox.papers import PageFormat

NUMBER = (int, Decimal)
_ADDRESS_FIELDS = "companyName lastName firstName line0 line1 line2 line3 city zipCode countryCode stateOrProvinceCode"
_CONTACT_FIELDS = "phoneNumber mobileNumber email"
ADDRESS: dict[str, Any] = dict.fromkeys(codes(f"{_ADDRESS_FIELDS} {_CONTACT_FIELDS}"), str)
ARTICLE: dict[str, Any] = {
    "description": str, "quantity": int, "weight": NUMBER, "value": NUMBER, "hsCode": str,
    "originCountry": str, "currency": str,
}  # fmt: skip
# A whole request: a type, a block, or a list of one kind of block.
ACCOUNT: dict[str, Any] = {
    "contractNumber": str,
    "password": str,
    "fields": {"field": [{"key": str, "value": str}]},
}
SLIP: dict[str, Any] = ACCOUNT | {"generateBordereauParcelNumberList": {"parcelsNumbers": [str]}}
REQUEST: dict[str, Any] = ACCOUNT | {
    "outputFormat": {"x": int, "y": int, "outputPrintingType": str},
    "letter": {
        "service": {
            "productCode": str, "depositDate": str, "orderNumber": str, "commercialName": str,
            "totalAmount": int, "transportationAmount": int, "returnTypeChoice": int, "reseauPostal": int,
        },
        "parcel": {
            "weight": NUMBER, "pickupLocationId": str, "instructions": str, "insuranceValue": int, "ddp": bool,
            "ftd": bool,
        },
        "sender": {"senderParcelRef": str, "address": ADDRESS},
        "addressee": {"addresseeParcelRef": str, "address": ADDRESS},
        "customsDeclarations": {
            "includeCustomsDeclarations": bool, "numberOfCopies": int, "invoiceNumber": str, "comments": str,
            "description": str,
            "contents": {"article": [ARTICLE], "category": {"value": int}},
        },
    },
}  # fmt: skip

# The lengths to which the carrier cuts text, with a warning.
LONGEST_SERVICE = {"orderNumber": 30, "commercialName": 35}
LONGEST_REFERENCE = 15
LONGEST_INSTRUCTIONS = 35
LONGEST_ADDRESS = {
    "companyName": 35, "lastName": 35, "firstName": 29, "line0": 35, "line1": 35, "line2": 35, "line3": 35,
    "city": 35,
}  # fmt: skip
LONGEST_DESCRIPTION, LONGEST_INVOICE = 64, 35
MOST_COPIES = 4
MOST_ARTICLES = 100
CURRENCIES = codes("USD EUR CHF GBP CNY JPY CAD AUD")
LIGHTEST_KG, HEAVIEST_KG = Decimal("0.01"), Decimal("30.00")
MOST_PARCELS = 4
CATEGORIES = range(1, 7)  # of a customs declaration; 3 is commercial
RETURN_CHOICES = (2, 3)
RETURN_CHOICES_OF = {"US": (2,)}  # at the sender's cost
DUTIES_PAID_TO = codes("GB CH AU CA CN HK JP KR SG TH US AE BH EG ID KW MX OM PH SA ZA")  # `ddp`, from FR
FORMATS: dict[str, PageFormat] = {"PDF_A4_300dpi": "A4", "PDF_10x15_300dpi": "10x15"}


_PICKUP_EUROPE = "HD CMT BDP PCS"
_GROUPS = (
    ("FR MC", "DOM DOS HD BPR A2P"),
    ("AD CH", "DOM DOS"),
    ("BE", f"DOM DOS {_PICKUP_EUROPE}"),
    ("DE LU NL AT ES IE IT PT CZ DK EE HU LT LV PL SE SI SK FI", f"DOS {_PICKUP_EUROPE}"),
    ("BG CY GR HR MT RO", "DOS"),
    ("BL GF GP MQ PM RE YT NC PF TF WF", "COM CDS"),
)
NOT_SERVED = codes("SO")
# The product codes served to each country.
DESTINATIONS = dict.fromkeys(COUNTRIES - NOT_SERVED, codes("DOS COLI")) | {
    country: codes(served) for countries, served in _GROUPS for country in codes(countries)
}
# From overseas senders: to France, to the EU, and nowhere else.
FROM_OVERSEAS = dict.fromkeys(FRANCE, codes("COM CDS")) | dict.fromkeys(EU - FRANCE, codes("COLI"))
PICKUP_CODES = codes("HD BPR A2P CMT BDP PCS")
PRODUCTS = {
    "DOM": "Home, without signature", "DOS": "Home, with signature", "COM": "Overseas, without signature",
    "CDS": "Overseas, with signature", "COLI": "Worldwide, with signature",
    **dict.fromkeys(PICKUP_CODES, "Pickup point"),
}  # fmt: skip
