"""beta's published tables, as the sandbox reads them: the request's shape, destinations, error codes."""

from decimal import Decimal

from carriers.sandbox.data import COUNTRIES, EU, FRANCE, codes, content, rows, rules_of
from carriers.sandbox.papers import SIZES_MM, PageFormat

REQUEST, SLIP = content("beta/label_request.json"), content("beta/slip_request.json")

RULES = rules_of("beta/fields.csv")  # of a label request, those that depend on nothing else in it; and of the points'
MOST_ARTICLES = 100
LIGHTEST_KG, HEAVIEST_KG = Decimal("0.01"), Decimal("30.00")
MOST_PARCELS = 4
RETURN_CHOICES = (2, 3)
RETURN_CHOICES_OF = {"US": (2,)}  # at the sender's cost
DUTIES_PAID_TO = codes("GB CH AU CA CN HK JP KR SG TH US AE BH EG ID KW MX OM PH SA ZA")  # `ddp`, from FR
FORMATS: dict[str, PageFormat] = {f"PDF_{size}_300dpi": size for size in SIZES_MM}  # of labels and customs forms


PRODUCTS = {row["code"]: row["name"] for row in rows("beta/products.csv")}
PICKUP_CODES = frozenset(code for code, name in PRODUCTS.items() if name == "Pickup point")
# The product codes served to each country.
DESTINATIONS = dict.fromkeys(COUNTRIES, codes("DOS COLI")) | {
    country: codes(row["codes"]) for row in rows("beta/destinations.csv") for country in codes(row["countries"])
}
# From overseas senders: to France, to the EU, and nowhere else.
FROM_OVERSEAS = dict.fromkeys(FRANCE, codes("COM CDS")) | dict.fromkeys(EU - FRANCE, codes("COLI"))
