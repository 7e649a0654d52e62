"""The meaning of beta's documented error codes: class, our field, cause and remedy."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    PickupPointRejected,
    ProductNotInContract,
    Refusal,
    RequestRejected,
)
from carriers.pickup_points import FIELD as POINT
from carriers.validation import RECIPIENT, SENDER

_LATER: Final = "order again later"
_CORRECT: Final = "correct it and order again"
_ADDRESS: Final = "correct the address and order again"
ANOTHER_POINT: Final = "let the customer choose another one"
_ANOTHER_PRODUCT: Final = "order another product"
_CREDENTIALS: Final = "set the contract number and password, or the API key, that the carrier gave for this service"
_OUR_OPTIONS: Final = (
    "compare the order with the product's conditions; if nothing is wrong, show the carrier's code to support"
)
BUSY: Final = Refusal(CarrierUnavailable, cause="the carrier reports a failure of its own", remedy=_LATER)


def same(codes: str, error: type[CarrierError], field: str, cause: str, remedy: str) -> Iterator[tuple[str, Refusal]]:
    """Give several codes one meaning; a range is written `30900-30904`."""
    refusal = Refusal(error, field, cause, remedy)
    for code in codes.split():
        prefix, first, last = re.fullmatch(r"(\D*)(\d+)(?:-(\d+))?", code).groups()  # type: ignore[union-attr]
        yield from ((f"{prefix}{number}", refusal) for number in range(int(first), int(last or first) + 1))


_CONTRACT: Final = (
    *same("30000", CredentialsRejected, "", "the contract number, the password or the API key is wrong", _CREDENTIALS),
    *same("30007", CredentialsRejected, "", "the contract is inactive", "have the carrier activate it"),
    *same(
        "30008",
        CredentialsRejected,
        "",
        "the login may not use this service",
        "have the carrier allow it, or set another login",
    ),
    *same(
        "30009 30700",
        ProductNotInContract,
        "productCode",
        "the contract does not include the product",
        "order another product, or have the carrier add this one to the contract",
    ),
)
_PRODUCT: Final = (
    *same(
        "30014 30015",
        RequestRejected,
        "productCode",
        "the carrier does not know the product's code",
        "order another product, or correct the carrier code that the contract sets for this one",
    ),
    *same("30318", RequestRejected, "productCode", "the product is not possible with these options", _ANOTHER_PRODUCT),
    *same(
        "30213 ROUTING_18-22",
        RequestRejected,
        "productCode",
        "the product does not go to this destination",
        _ANOTHER_PRODUCT,
    ),
    *same(
        "30109",
        RequestRejected,
        f"{SENDER}.countryCode",
        "the product is not possible from the sender's country",
        "send from another country, or order another product",
    ),
)
_SERVICE: Final = (
    *same(
        "30002",
        RequestRejected,
        "",
        "the deposit date is in the past",
        "order again; if it happens every time, check the clock of the server",
    ),
    *same("30010", RequestRejected, "", "the deposit date is wrong", "order again later"),
    *same(
        "30018",
        RequestRejected,
        "",
        "the shop's commercial name is missing or wrong",
        "set the contract's commercial name, or the sender's company",
    ),
    *same(
        "30020",
        RequestRejected,
        "customs.shippingCost",
        "the postage for customs is missing or wrong",
        "give the postage in euros, above 0",
    ),
    *same(
        "30017 30022 30023 30025 30026 30090",
        RequestRejected,
        "",
        "the carrier refuses an option of the service",
        _OUR_OPTIONS,
    ),
    *same(
        "30303 30306 30309-30313 30316 30317 30321 30323-30327",
        RequestRejected,
        "parcels[]",
        "the carrier refuses an option of the parcel",
        _OUR_OPTIONS,
    ),
    *same(
        "30702 30703 14040 40011-40013 40016 40017", RequestRejected, "", "the carrier refuses the order", _OUR_OPTIONS
    ),
    *same(
        "30704 30705 30800-30820",
        RequestRejected,
        "",
        "the carrier answers as if a return or a collection had been ordered",
        "order another product, or correct the carrier code that the contract sets for this one",
    ),
)
_SENDER: Final = (
    *same("30043 30045-30047 30085", AddressRejected, SENDER, "the sender's address is wrong", _ADDRESS),
    *same("30065", AddressRejected, SENDER, "the sender's address or phone number is missing or wrong", _ADDRESS),
    *same("30100", AddressRejected, f"{SENDER}.address1", "the sender's street is missing", _ADDRESS),
    *same(
        "30102 30103", AddressRejected, f"{SENDER}.countryCode", "the sender's country is missing or unknown", _ADDRESS
    ),
    *same("30104", AddressRejected, f"{SENDER}.city", "the sender's city is missing", _ADDRESS),
    *same("30106 30107", AddressRejected, f"{SENDER}.zip", "the sender's postal code is missing or wrong", _ADDRESS),
    *same(
        "30108", AddressRejected, f"{SENDER}.zip", "the sender's postal code and country do not fit together", _ADDRESS
    ),
)
_RECIPIENT: Final = (
    *same(
        "30089 30200 30202",
        AddressRejected,
        f"{RECIPIENT}.lastName",
        "the recipient's name is missing or wrong",
        "give first and last name, or the company",
    ),
    *same("30204", AddressRejected, f"{RECIPIENT}.address1", "the recipient's street is missing", _ADDRESS),
    *same(
        "30206 30207",
        AddressRejected,
        f"{RECIPIENT}.countryCode",
        "the recipient's country is missing or unknown",
        _ADDRESS,
    ),
    *same("30208", AddressRejected, f"{RECIPIENT}.city", "the recipient's city is missing", _ADDRESS),
    *same(
        "30210 30211", AddressRejected, f"{RECIPIENT}.zip", "the recipient's postal code is missing or wrong", _ADDRESS
    ),
    *same(
        "30212",
        AddressRejected,
        f"{RECIPIENT}.zip",
        "the recipient's postal code and country do not fit together",
        "correct the postal code or the country, and for US and CA the province",
    ),
    *same(
        "ROUTING_0 ROUTING_2 ROUTING_5-9 ROUTING_26-27 ROUTING_200-203 GEO_ROUTING_IV106-108",
        AddressRejected,
        f"{RECIPIENT}.zip",
        "the carrier does not deliver to this postal code and country, perhaps because of an embargo",
        "correct the postal code or the country",
    ),
    *same(
        "30220",
        RequestRejected,
        f"{RECIPIENT}.phone",
        "the recipient's mobile number is missing",
        "give a mobile number, in France one of 06 or 07",
    ),
    *same("30221", RequestRejected, f"{RECIPIENT}.phone", "the recipient's phone number is wrong", _CORRECT),
    *same(
        "30222 30223",
        RequestRejected,
        f"{RECIPIENT}.email",
        "the recipient's e-mail address is missing or wrong",
        _CORRECT,
    ),
)
_PARCEL: Final = (
    *same(
        "30300 30301",
        RequestRejected,
        "parcels[].weight",
        "the weight is missing, or outside the product's limits",
        "give the weight in kilograms, at least 0.01 and at most 30",
    ),
    *same("30400", PickupPointRejected, POINT, "the pickup point is missing", "give the point's 6 digits"),
    *same("30401", PickupPointRejected, POINT, "the pickup point is unknown", ANOTHER_POINT),
    *same(
        "30402 30403",
        PickupPointRejected,
        POINT,
        "the product does not go to this pickup point",
        "let the customer choose another one, or order another product",
    ),
    *same(
        "30900-30904", PickupPointRejected, POINT, "the pickup point cannot take the parcel at present", ANOTHER_POINT
    ),
)
_CUSTOMS: Final = (
    *same(
        "30500-30518 30520-30554",
        RequestRejected,
        "customs",
        "the customs declaration is missing, incomplete or wrong",
        "correct the order's customs, or the contract's default ones",
    ),
    *same(
        "30519",
        RequestRejected,
        "customs.items",
        "the tariff number (hsCode) of an item is missing or wrong",
        "give 6, 8 or 10 digits",
    ),
    *same(
        "30562",
        RequestRejected,
        "customs.eori",
        "the EORI number is missing or malformed",
        "give the sender's number; to GB the one that GB gave, and both, separated by a space, from 1,000 EUR of goods",
    ),
    *same(
        "30600",
        RequestRejected,
        "",
        "a text has a character that the carrier refuses",
        "use Latin letters, digits and plain punctuation, also in the contract's commercial name and customs",
    ),
)
REFUSALS: Final[Mapping[str, Refusal]] = MappingProxyType(
    {
        **dict((*_CONTRACT, *_PRODUCT, *_SERVICE, *_SENDER, *_RECIPIENT, *_PARCEL, *_CUSTOMS)),
        **dict.fromkeys(("1", "30701", "40014", "40018", "ROUTING_23", "ROUTING_24", "ROUTING_25"), BUSY),
        "40015": Refusal(CarrierUnavailable, cause="the carrier is temporarily unavailable", remedy=_LATER),
    }
)
# Failures of which the page gives only the beginning.
FAILURE_FAMILIES: Final = MappingProxyType({"3xx": re.compile(r"3[0-9]{2}"), "10xx": re.compile(r"10[0-9]{2}")})


def refusal_of(code: str) -> Refusal | None:
    """Return the meaning of a label service's code, None for an undocumented one."""
    is_failing = any(family.fullmatch(code) for family in FAILURE_FAMILIES.values())
    return BUSY if is_failing else REFUSALS.get(code)


def is_failure(refusal: Refusal) -> bool:
    """Return true if the carrier itself fails, whatever it is asked."""
    return issubclass(refusal.error, CarrierUnavailable)
