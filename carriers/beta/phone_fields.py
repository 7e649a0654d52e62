"""beta's two fields for phone numbers: which number goes into which, and when the mobile's may not be empty."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from carriers.shipment import Party
from carriers.text import CarrierField
from carriers.validation import is_french_mobile, is_mobile, is_number_in_use, phone_of

# There any number goes into the mobile's field.
MOBILE_ONLY: Final = frozenset({"BE", "US"})

SHORTEST_MOBILE: Final = 10  # of its field; some countries have shorter numbers

_BELGIAN_MOBILE: Final = re.compile(r"\+324[0-9]{8}")


@dataclass(frozen=True)
class MobileRule:
    """The need of an address's mobile number, in words, and if it has to be one that a message reaches."""

    reason: str = ""
    is_notice: bool = False


def addressees_rule(country_code: str, *, is_at_point: bool, is_duty_paid: bool) -> MobileRule:
    """Return the rule for an addressee; a notice alone tells of a parcel at a pickup point, or of duties."""
    if is_at_point:
        return MobileRule("at a pickup point", is_notice=True)
    if is_duty_paid:
        return MobileRule("when the sender pays the duties", is_notice=True)
    if country_code in MOBILE_ONLY:
        return MobileRule(f"for {country_code}", is_notice=country_code == "US")
    return MobileRule()


def numbers(party: Party, field: CarrierField, rule: MobileRule) -> Mapping[str, str]:
    """Return the number in the field of its kind; raises the field's error for a number that breaks the rule."""
    phone = phone_of(party, field)
    is_mobile = bool(phone) and _is_mobile(phone, party.country_code)
    if rule.reason and not is_mobile:
        kind = "phone" if party.country_code in MOBILE_ONLY else "mobile"
        raise field.error(f"a {kind} number is required {rule.reason}")
    if rule.is_notice and party.country_code == "BE" and not _BELGIAN_MOBILE.fullmatch(phone):
        raise field.error(f"a Belgian mobile number (+324 and 8 digits) is required {rule.reason}")
    if rule.is_notice and not is_number_in_use(phone):
        raise field.error(f"a number that is in use is required {rule.reason}")
    return {"mobileNumber" if is_mobile else "phoneNumber": phone}


def _is_mobile(phone: str, country_code: str) -> bool:
    """At a French address only French mobiles count as mobile."""
    if country_code in MOBILE_ONLY:
        return True
    is_of_kind = is_french_mobile if country_code == "FR" else is_mobile
    return len(phone) >= SHORTEST_MOBILE and is_of_kind(phone)
