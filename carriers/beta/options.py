"""A parcel's options at beta: insurance, words to the driver, the network abroad."""

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from carriers.beta.parties import CARRIER, LINE_LENGTH
from carriers.customs import is_in_union
from carriers.errors import RequestRejected
from carriers.shipment import Party, Shipment
from carriers.text import CarrierField, fitting, to_plain
from carriers.validation import RECIPIENT

INSURED: Final = frozenset("DOS CDS COL HD CORE CORI COLI".split())
NOT_INSURED: Final = frozenset({"SS", "SX"})  # countries
MOST_INSURED_EUR: Final = Decimal(5000)
MOST_INSURED_AT_POINTS_EUR: Final = Decimal(1000)
LOCAL_POST: Final = 1  # of `reseauPostal`

Json = dict[str, Any]
_SYMBOLS: Final = re.compile(r"[^A-Za-z0-9]+")


def insurance(shipment: Shipment, carrier_code: str, *, is_at_point: bool) -> Json:
    """Return a parcel's insured value in cents; raises RequestRejected where the carrier insures none or less."""
    value_eur = shipment.insured_value_eur
    if value_eur is None:
        return {}
    if carrier_code not in INSURED:
        raise RequestRejected(CARRIER, f"is not offered by this product ({carrier_code})", field="insuredValue")
    if shipment.recipient.country_code in NOT_INSURED:
        raise RequestRejected(CARRIER, f"is not offered to {shipment.recipient.country_code}", field="insuredValue")
    most_eur = MOST_INSURED_AT_POINTS_EUR if is_at_point else MOST_INSURED_EUR
    if not 0 < value_eur <= most_eur:
        problem = f"is not above 0 and at most {most_eur} EUR with this product"
        raise RequestRejected(CARRIER, problem, field="insuredValue")
    return {"insuranceValue": int((value_eur * 100).to_integral_value(ROUND_HALF_UP))}


def instructions(shipment: Shipment) -> Json:
    """Return the words to the driver in letters and digits: accents spelled out, other symbols as a space."""
    field = CarrierField(CARRIER, f"{RECIPIENT}.instructions", LINE_LENGTH, RequestRejected)
    words = _SYMBOLS.sub(" ", to_plain(shipment.instructions, field)).strip()
    return {"instructions": fitting(words, field)} if words else {}


def network(recipient: Party) -> Json:
    """Return the network where the carrier leaves no choice of it: to the Canaries, Ceuta and Melilla."""
    is_local = recipient.country_code == "ES" and not is_in_union(recipient)
    return {"reseauPostal": LOCAL_POST} if is_local else {}
