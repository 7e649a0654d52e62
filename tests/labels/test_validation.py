"""Bad values in a label order: every field at fault is named at once by its JSON path, and no carrier is called."""

from typing import Any

import pytest

from carriers.products import PRODUCTS
from tests.labels.bad_orders import BETA, REQUIRED, STRINGS, assert_refused, changed
from tests.labels.conftest import Sandbox
from tests.labels.orders import Json, order, post, weighing
from tests.support.api import Caller, assert_error
from tests.support.cases import in_one_test

pytestmark = pytest.mark.any_database

EMPTY = "must not be empty."
ALL_PRODUCTS = ", ".join(PRODUCTS)
OWN = {name: ", ".join(code for code, each in PRODUCTS.items() if each.carrier == name) for name in ("alpha", "beta")}
TOO_LONG = "must have at most 1000 characters."
COUNTRY = "must be an ISO 3166-1 alpha-2 country code in upper case."
PHONE = "must be a phone number."
EMAIL = "must be an e-mail address."
WEIGHT = "must be above 0 and at most 30 kilograms."
RELAY_WEIGHT = "must be above 0 and at most 20 kilograms for relais."
ADDRESSES = ("originAddress", "destinationAddress")

BAD_VALUES: list[tuple[str, str, Any, str]] = [
    ("alpha-13", "orderId", "", EMPTY),
    ("alpha-13", "orderId", " \u00a0\n", EMPTY),
    ("alpha-13", "orderId", "x" * 256, "must have at most 255 characters."),
    ("alpha-13", "carrierCode", "gamma", "must be one of alpha, beta."),
    ("alpha-13", "carrierCode", "Alpha", "must be one of alpha, beta."),
    ("alpha-13", "carrierCode", "", "must be one of alpha, beta."),
    ("alpha-13", "carrierCode", "beta", f"is a product of alpha, not of beta, which has {OWN['beta']}."),
    (BETA, "carrierCode", "alpha", f"is a product of beta, not of alpha, which has {OWN['alpha']}."),
    ("alpha-13", "productCode", "alpha-14", f"must be one of {ALL_PRODUCTS}."),
    ("alpha-13", "productCode", "", f"must be one of {ALL_PRODUCTS}."),
    ("alpha-13", "productCode", "ALPHA-13", f"must be one of {ALL_PRODUCTS}."),
    ("alpha-13", "reference", "x" * 36, "must have at most 35 characters for alpha."),
    (BETA, "reference", "x" * 16, "must have at most 15 characters for beta."),
    ("relais", "pickupPointCode", ..., "is required for relais."),
    ("relais", "pickupPointCode", "", "is required for relais."),
    *(
        ("relais", "pickupPointCode", code, "must be a pickup point code of alpha: 4 digits and a letter.")
        for code in ("1234", "1234ab", "12345", "A1234", " 1234A", "1234A\n", "12345A", "\u0661234A", "001234")
    ),
    *(
        ("beta_point_retrait_france", "pickupPointCode", code, "must be a pickup point code of beta: 6 digits.")
        for code in ("12345", "1234567", "1234A", "12345A", "\uff11\uff12\uff13\uff14\uff15\uff16")
    ),
    # Given where none is needed, it is looked at all the same.
    ("alpha-13", "pickupPointCode", "x" * 17, "must be a pickup point code of alpha: 4 digits and a letter."),
    (BETA, "pickupPointCode", "1234A", "must be a pickup point code of beta: 6 digits."),
    *(
        ("alpha-13", f"{address}.{name}", value, said)
        for address in ADDRESSES
        for name in ("firstName", "lastName", "address1", "city", "zip")
        for value, said in (("", EMPTY), ("  \t", EMPTY), ("x" * 1001, TOO_LONG))
    ),
    *(
        ("alpha-13", f"{address}.countryCode", code, COUNTRY)
        for address in ADDRESSES
        for code in ("FRA", "F", "", "XX", "UK", "\uff26\uff32")
    ),
    *(("alpha-13", "destinationAddress.countryCode", code, f"{COUNTRY} Use FR.") for code in ("fr", "Fr", "FR ")),
    *(
        ("alpha-13", f"{address}.phone", phone, PHONE)
        for address in ADDRESSES
        for phone in ("0", "abc", "+", "06123", "061234567890123456", "+999612345678", "+33", "---", "\u202d")
    ),
    ("alpha-13", "destinationAddress.phone", "32471123456", f"{PHONE} Write a + in front of the country code."),
    ("alpha-13", "destinationAddress.phone", "0" * 101, "must have at most 100 characters."),
    *(
        ("alpha-13", "destinationAddress.email", email, EMAIL)
        for email in (
            *("x", "a@", "@b.example", "a b@c.example", "a@b", "a@b..example", " ", "a@b.example\n", "a@localhost"),
            *('"é"@b.example', '"a b"@c.example'),
        )
    ),
    *(
        ("alpha-13", "destinationAddress.email", email, f"{EMAIL[:-1]} of ASCII characters at a domain name.")
        for email in ("a@é.fr", "a@[127.0.0.1]", "a@[::1]")
    ),
    ("alpha-13", "destinationAddress.email", f"{'x' * 60}@{'y' * 20}.example", "must have at most 80 characters."),
    *(
        ("relais", f"destinationAddress.{name}", value, "is required for relais.")
        for name in ("phone", "email")
        for value in ("", ...)
    ),
    ("relais", "destinationAddress.phone", "  ", "is required for relais."),
    *(
        ("alpha-13", "parcels[0].weight", weight, WEIGHT)
        for weight in (0, 0.0, -0.0, -1, 30.001, 31, 10**30, -1e300, 1e300)
    ),
    *((BETA, "parcels[0].weight", weight, WEIGHT) for weight in (0, -0.001, 30.0001)),
    *(("relais", "parcels[0].weight", weight, RELAY_WEIGHT) for weight in (20.001, 21, 30)),
    *(
        (code, "parcels[0].weight", 20.001, f"must be above 0 and at most 20 kilograms for {code}.")
        for code, product in PRODUCTS.items()
        if product.carrier == "alpha" and product.needs_pickup_point
    ),
    ("relais", "parcels[0].weight", 30.1, WEIGHT),
    ("alpha-13", "parcels[0].weight", ..., REQUIRED),
]


@in_one_test("product_code, path, value, said", BAD_VALUES)
def test_a_bad_value_is_refused_by_its_path(
    product_code: str, path: str, value: Any, said: str, asker: Caller, sandbox: Sandbox
) -> None:
    where = "productCode" if said.startswith("is a product of") else path
    assert_refused(asker, sandbox, changed(order(product_code), path, value), f"{where}: {said}")


@in_one_test("code", [code for code, product in PRODUCTS.items() if product.needs_pickup_point])
def test_every_pickup_product_needs_its_point_a_phone_and_an_email(code: str, asker: Caller, sandbox: Sandbox) -> None:
    body = order(code)
    del body["pickupPointCode"], body["destinationAddress"]["phone"], body["destinationAddress"]["email"]
    paths = ("destinationAddress.phone", "destinationAddress.email")
    said = " ".join(f"{path}: is required for {code}." for path in paths)
    assert_refused(asker, sandbox, body, f"pickupPointCode: is required for {code}. {said}")


@in_one_test("path", STRINGS)
def test_a_nul_character_is_refused_in_any_text(path: str, asker: Caller, sandbox: Sandbox) -> None:
    response = post(asker, changed(order("relais"), path, "06\0"))
    assert_error(response, 400)
    assert response.json()["message"].startswith(f"{path}: ")
    assert sandbox.calls() == 0


@in_one_test(
    "product_code, count, said",
    [
        ("alpha-13", 0, "must have 1 to 99 elements."),
        ("alpha-13", 100, "must have 1 to 99 elements."),
        (BETA, 0, "must have 1 to 99 elements."),
        (BETA, 5, "must have 1 to 4 elements for beta."),
        (BETA, 100, "must have 1 to 99 elements."),
    ],
)
def test_the_number_of_parcels_has_limits(
    product_code: str, count: int, said: str, asker: Caller, sandbox: Sandbox
) -> None:
    assert_refused(asker, sandbox, order(product_code, parcels=weighing(*[1] * count)), f"parcels: {said}")


def test_twenty_thousand_parcels_are_one_fault(asker: Caller, sandbox: Sandbox) -> None:
    assert_refused(asker, sandbox, order(parcels=[0] * 20_000), "parcels: must have 1 to 99 elements.")


# --- All at once ---

MANY: list[tuple[str, Json, list[str]]] = [
    (
        "of every part",
        changed(
            order(
                "relais",
                orderId=5,
                reference="x" * 36,
                pickupPointCode="1",
                origin={"city": "", "phone": "no"},
                destination={"zip": None, "phone": "no", "email": "no"},
                parcels=[{"weight": 1}, {"weight": "1"}, 5, {}, {"weight": 25}],
            ),
            "destinationAddress.lastName",
            ...,
        ),
        [
            "orderId: must be a string, not an integer.",
            "originAddress.city: must not be empty.",
            "originAddress.phone: must be a phone number.",
            "destinationAddress.lastName: is required.",
            "destinationAddress.zip: must not be null.",
            "destinationAddress.email: must be an e-mail address.",
            "destinationAddress.phone: must be a phone number.",
            "parcels[1].weight: must be a number, not a string.",
            "parcels[2]: must be an object, not an integer.",
            "parcels[3].weight: is required.",
            "parcels[4].weight: must be above 0 and at most 20 kilograms for relais.",
            "pickupPointCode: must be a pickup point code of alpha: 4 digits and a letter.",
            "reference: must have at most 35 characters for alpha.",
        ],
    ),
    (
        "too many parcels, and each too heavy",
        order("relais", parcels=weighing(*[25] * 100)),
        [
            "parcels: must have 1 to 99 elements.",
            *(f"parcels[{n}].weight: must be above 0 and at most 20 kilograms for relais." for n in range(99)),
        ],
    ),
    (
        "too many parcels for beta, the first and the last too heavy",
        order(BETA, parcels=weighing(31, 1, 1, 1, 31)),
        [
            "parcels[0].weight: must be above 0 and at most 30 kilograms.",
            "parcels[4].weight: must be above 0 and at most 30 kilograms.",
            "parcels: must have 1 to 4 elements for beta.",
        ],
    ),
    (
        "an unknown product, no parcels, a long reference",
        order(parcels=[], productCode="unknown", reference="x" * 36),
        [
            "parcels: must have 1 to 99 elements.",
            f"productCode: must be one of {ALL_PRODUCTS}.",
            "reference: must have at most 35 characters for alpha.",
        ],
    ),
    (
        "an unknown carrier, and the product's own rules",
        changed(order("relais", carrierCode="gamma"), "destinationAddress.email", ...),
        ["carrierCode: must be one of alpha, beta.", "destinationAddress.email: is required for relais."],
    ),
    (
        "a product of the other carrier, and goods in no parcel and heavier than all",
        order(
            "alpha-13",
            carrierCode="beta",
            customs={"items": [{"description": "Soap", "quantity": 99, "unitValue": 4, "weight": 1, "parcel": 7}]},
        ),
        [
            f"productCode: is a product of alpha, not of beta, which has {OWN['beta']}.",
            "customs.items[0].parcel: must be the index of a parcel, from 0 to 0.",
            "customs.items: must not weigh more than the parcels.",
        ],
    ),
    (
        "an unknown country: its phone numbers can't be read, the rest can",
        order(destination={"countryCode": "XX", "phone": "no"}, origin={"phone": "no"}),
        [
            "originAddress.phone: must be a phone number.",
            "destinationAddress.countryCode: must be an ISO 3166-1 alpha-2 country code in upper case.",
        ],
    ),
]


@pytest.mark.parametrize(("body", "said"), [case[1:] for case in MANY], ids=[case[0] for case in MANY])
def test_all_faults_are_told_at_once(body: Json, said: list[str], asker: Caller, sandbox: Sandbox) -> None:
    response = post(asker, body)
    assert_error(response, 400)
    rest = response.json()["message"]
    for fault in sorted(said, key=len, reverse=True):
        assert rest.count(fault) == 1, (fault, rest)
        rest = rest.replace(fault, "")
    assert rest.strip() == ""
    assert sandbox.calls() == 0


def test_a_fault_says_nothing_of_the_values(asker: Caller) -> None:
    body = order(
        origin={"phone": "04 what"},
        destination={"email": "soren at mail.example", "countryCode": "Villeneuve"},
        carrierCode="Grünwald",
        productCode="Grünwald",
    )
    message = post(asker, body).json()["message"].lower()
    for value in ("what", "mail.example", "villeneuve", "grünwald"):
        assert value not in message


# --- Limits that are kept ---


@in_one_test("product_code, weight", [("alpha-13", 30), ("alpha-13", 1e-9), ("relais", 20), (BETA, 30), (BETA, 0.001)])
def test_a_weight_at_the_limit_is_taken(product_code: str, weight: float, buyer: Caller) -> None:
    response = post(buyer, order(product_code, parcels=weighing(weight)))
    assert (response.status_code, response.json()["weight"]) == (201, weight)


def test_an_order_id_at_the_limit_is_taken(buyer: Caller) -> None:
    assert post(buyer, order(orderId="x" * 255)).json()["orderId"] == "x" * 255


def test_a_pickup_point_where_none_is_needed_is_left_out(buyer: Caller, sandbox: Sandbox) -> None:
    assert post(buyer, order(pickupPointCode="1234A")).status_code == 201
    assert sandbox.printed(sandbox.made()[0]).pickup_point == ""


# Values of another JSON type

EACH_TYPE: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "a boolean"),
    (1, "an integer"),
    (1.5, "a number"),
    ("text", "a string"),
    ([], "an array"),
    ({}, "an object"),
]


def wrong(json_type: str, *right: str) -> list[tuple[Any, str]]:
    """A value of each other type, and what is said of it."""
    return [
        (value, "must not be null." if value is None else f"must be {json_type}, not {name}.")
        for value, name in EACH_TYPE
        if name not in right
    ]


WRONG_TYPES = [
    *((path, value, said) for path in STRINGS for value, said in wrong("a string", "a string")),
    *(
        (path, value, said)
        for path in ("originAddress", "destinationAddress", "parcels[0]")
        for value, said in wrong("an object", "an object")
    ),
    *(("parcels[0].weight", value, said) for value, said in wrong("a number", "an integer", "a number")),
    *(
        ("parcels", value, "must not be null." if value is None else f"must be an array, not {name}.")
        for value, name in EACH_TYPE
        if name != "an array"
    ),
]


@in_one_test("path, value, said", WRONG_TYPES)
def test_a_value_of_another_type_is_refused_by_its_path(
    path: str, value: Any, said: str, asker: Caller, sandbox: Sandbox
) -> None:
    assert_refused(asker, sandbox, changed(order("relais"), path, value), f"{path}: {said}")


NO_OBJECTS = [(value, name) for value, name in EACH_TYPE if name != "an object"]


@in_one_test("value, name", NO_OBJECTS)
def test_a_body_that_is_no_object_is_refused(value: Any, name: str, asker: Caller, sandbox: Sandbox) -> None:
    assert_refused(asker, sandbox, value, f"The JSON as a whole must be an object, not {name}.")


def test_an_empty_object_lacks_all_that_is_required(asker: Caller, sandbox: Sandbox) -> None:
    names = ("orderId", "carrierCode", "productCode", "destinationAddress", "parcels")
    faults = " ".join(f"{name}: is required." for name in names)
    faults += " originAddress: is required, as the shop has no sender address of its own."
    assert_refused(asker, sandbox, {}, faults)


ADDRESS_FIELDS = ("firstName", "lastName", "address1", "city", "zip", "countryCode")


@pytest.mark.parametrize("address", ["originAddress", "destinationAddress"])
def test_an_address_needs_all_but_the_phone_and_the_email(address: str, asker: Caller, sandbox: Sandbox) -> None:
    said = " ".join(f"{address}.{name}: is required." for name in ADDRESS_FIELDS)
    assert_refused(asker, sandbox, changed(order(), address, {}), said)
