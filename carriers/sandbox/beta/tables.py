"""beta's published tables, as the sandbox reads them: the request's shape, destinations, error codes."""

from decimal import Decimal

from carriers.sandbox.countries import COUNTRIES, EU, FRANCE, codes
from carriers.sandbox.data import content, rows
from carriers.sandbox.papers import PageFormat

REQUEST, SLIP = content("beta/label_request.json"), content("beta/slip_request.json")

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


PRODUCTS = {row["code"]: row["name"] for row in rows("beta/products.csv")}
PICKUP_CODES = frozenset(code for code, name in PRODUCTS.items() if name == "Pickup point")
# The product codes served to each country.
DESTINATIONS = dict.fromkeys(COUNTRIES, codes("DOS COLI")) | {
    country: codes(row["codes"]) for row in rows("beta/destinations.csv") for country in codes(row["countries"])
}
# From overseas senders: to France, to the EU, and nowhere else.
FROM_OVERSEAS = dict.fromkeys(FRANCE, codes("COM CDS")) | dict.fromkeys(EU - FRANCE, codes("COLI"))
