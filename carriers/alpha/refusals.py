"""alpha's documented error codes: class, our field, cause and remedy."""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from carriers.errors import (
    AddressRejected,
    CancellationRefused,
    CarrierUnavailable,
    CredentialsRejected,
    PickupPointRejected,
    ProductNotInContract,
    Refusal,
    RequestRejected,
)
from carriers.validation import RECIPIENT, SENDER

Refusals = Mapping[str, Refusal]
PRODUCT: Final = "productCode"

_LATER: Final = "order again later"
_CREDENTIALS: Final = "set the account number and password that the carrier gave for this service"
_BUSY: Final = Refusal(CarrierUnavailable, cause="the carrier reports a failure of its own", remedy=_LATER)
_PASSWORD: Final = Refusal(
    CarrierUnavailable,
    cause="the carrier could not check the password",
    remedy="order again later; if it happens every time, check the contract's account number and password",
)
_CONTRACT: Final = Refusal(
    CredentialsRejected, cause="the account number or the password is wrong", remedy=_CREDENTIALS
)

# Documented for the shipping service's operations.
REFUSALS: Final[Refusals] = MappingProxyType(
    {
        "1": _BUSY,
        "29": _PASSWORD,
        "30": _CONTRACT,
        "31": Refusal(RequestRejected, cause="a required value is empty", remedy="give it"),
        "32": Refusal(RequestRejected, cause="a value is too long or too short", remedy="correct its length"),
        "33": Refusal(RequestRejected, cause="a value is malformed", remedy="correct it"),
        "34": Refusal(RequestRejected, cause="a value is not a number", remedy="give a number"),
        "35": Refusal(
            RequestRejected,
            "productCode",
            cause="the product is not possible between these places",
            remedy="order another product",
        ),
        "36": _BUSY,
        "37": _BUSY,
        "38": Refusal(
            AddressRejected,
            f"{RECIPIENT}.zip",
            cause="the postal code does not fit the country",
            remedy="correct the postal code or the country",
        ),
    }
)
# Code 33 has several meanings; only its text tells them apart. The first that matches counts. A text that names a
# field is about the value there, whatever words are in it.
MEANINGS_OF_33: Final = (
    (
        re.compile(r"invalid (accesColis (account number|password)|identWebPro password)", re.IGNORECASE),
        Refusal(
            CredentialsRejected,
            cause="the account number or the password is wrong, or the contract lacks this service",
            remedy=_CREDENTIALS,
        ),
    ),
    (
        re.compile(r"\b(contract|contrat|account|compte|product|produit)(s|Number|Code)?\b", re.IGNORECASE),
        Refusal(
            ProductNotInContract,
            "productCode",
            cause="the contract does not include the product",
            remedy="order another product, or have the carrier add this one to the contract",
        ),
    ),
)
# Of `cancelSkybill`; it answers a wrong contract with 2.
CANCELLATION_REFUSALS: Final[Refusals] = MappingProxyType(
    {
        "1": _BUSY,
        "2": Refusal(
            CancellationRefused,
            cause="the parcel is not this contract's, or the carrier has not registered it yet",
            remedy="cancel it again within the hour",
        ),
        "3": Refusal(
            CancellationRefused, cause="the carrier has taken the parcel in charge", remedy="ask the carrier to stop it"
        ),
        **{code: REFUSALS[code] for code in ("29", "30")},
    }
)
# Of `trackSkybillV2`, the only one it documents.
TRACKING_REFUSALS: Final[Refusals] = MappingProxyType({"1": _BUSY})
# Of the point service's look-ups, which send nothing of the order but the code and the country. Its other codes, of
# invalid data, would be a mistake of this client's.
POINT_REFUSALS: Final[Refusals] = MappingProxyType(
    {
        "601": Refusal(
            PickupPointRejected,
            "pickupPointCode",
            cause="the carrier knows no such pickup point in this country",
            remedy="let the customer choose another one",
        ),
        "1500": _CONTRACT,
        "700": _BUSY,
        **{
            code: Refusal(CarrierUnavailable, cause="the carrier's point service refuses the look-up", remedy=_LATER)
            for code in ("300", "301", "302", "306", "307", "309", "317", "319", "320", "321")
        },
    }
)
# Of its searches, whose place and day are the customer's. 700 is also an empty city, which is never sent.
SEARCH_REFUSALS: Final[Refusals] = MappingProxyType(
    {
        "1500": _CONTRACT,
        "700": _BUSY,
        **{
            code: Refusal(RequestRejected, field, cause="the carrier's point service refuses it", remedy="correct it")
            for field, codes in (
                ("zip", "302"),
                ("shipDate", "306 307"),
                ("weight", "321"),
                ("", "300 301 309 317 319 320"),
            )
            for code in codes.split()
        },
    }
)
# Of the price service's `calculateProducts`.
CONTRACT_REFUSALS: Final[Refusals] = MappingProxyType(
    {
        "1": _BUSY,
        "2": REFUSALS["31"],
        "3": _CONTRACT,
        **{
            code: Refusal(RequestRejected, cause="the contract has no product there", remedy="ask for another place")
            for code in ("4", "5")
        },
    }
)
# Failures of the carrier itself, for every shop. One shop's contract may cause 29, and one order the invalid data.
FAILURES: Final = frozenset({"1", "36", "37", "700"})


def _named(prefix: str, path: str) -> Iterator[tuple[str, str]]:
    names = {
        "address1": "Adress1",
        "address2": "Adress2",
        "zip": "ZipCode",
        "city": "City",
        "countryCode": "Country CountryName",
        "email": "Email",
        "phone": "Phone MobilePhone",
        "lastName": "Name Name2 ContactName",
    }
    return ((prefix + name, f"{path}.{ours}") for ours, theirs in names.items() for name in theirs.split())


# The API's fields by the carrier's names.
FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict(_named("shipper", SENDER)),
        **dict(_named("customer", SENDER)),
        **dict(_named("recipient", RECIPIENT)),
        "idRelais": "pickupPointCode",
        "recipientRef": "reference",
        PRODUCT: "productCode",
        "numberOfParcel": "parcels",
        "content1": "customs",
        "customsValue": "customs",
    }
)
_FIELD: Final = re.compile(rf"\b({'|'.join(FIELDS)})\b")


def refusal_of(code: str, text: str, refusals: Refusals = REFUSALS) -> Refusal | None:
    """Return the meaning of a code, None for an undocumented one.

    The text has the order's own words masked: a street is no reason.
    """
    is_about_a_value = any(name != PRODUCT for name in _FIELD.findall(text))
    meanings = MEANINGS_OF_33 if code == "33" and refusals is REFUSALS and not is_about_a_value else ()
    return next((refusal for pattern, refusal in meanings if pattern.search(text)), refusals.get(code))


def in_our_words(text: str) -> str:
    """Replace the carrier's names of fields by the API's."""
    return _FIELD.sub(lambda match: FIELDS[match[1]], text)


def field_of(refusal: Refusal, text: str) -> str:
    """Return the field at fault: the refusal's own, the sender's where the text names that, else the one named."""
    named = [FIELDS[name] for name in _FIELD.findall(text)]
    if not refusal.field:
        return next(iter(named), "")
    return next((field for field in named if _last(field) == _last(refusal.field)), refusal.field)


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def rows() -> Iterable[tuple[str, str, Refusal]]:
    """Return all documented codes for a table: operation, code, meaning."""
    purchase = (*REFUSALS.items(), *(("33", refusal) for _, refusal in MEANINGS_OF_33))
    yield from (("purchase", code, refusal) for code, refusal in sorted(purchase, key=lambda row: int(row[0])))
    yield from (("cancellation", code, refusal) for code, refusal in CANCELLATION_REFUSALS.items())
    yield from (("pickup point", code, refusal) for code, refusal in POINT_REFUSALS.items())
