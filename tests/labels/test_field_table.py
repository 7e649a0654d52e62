"""The field table holds: each declared field of an order is on the wire where it says, refused, kept, or ignored."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

import pytest
from rest_framework.serializers import ListSerializer

from carriers import CARRIERS, itinerary
from carriers.beta.customs import DUTIES_PAID_TO
from carriers.order_table import CONDITIONS, ORDER_FIELDS, Case, cases_of, described
from labels.order_rules import facts_in
from labels.serializers import READER
from shops.api.serializer_fields import ObjectSerializer
from tests.labels.conftest import Sandbox
from tests.labels.orders import Json, order, post
from tests.support.api import Caller
from tests.support.cases import in_one_test

pytestmark = pytest.mark.any_database

PERSON: Json = {
    "firstName": "Markfirst",
    "lastName": "Marklast",
    "company": "Markfirm",
    "address1": "7 rue Markstreet",
    "address2": "Markhouse",
    "city": "Marktown",
}
SENDER = {name: value.replace("Mark", "Sent") for name, value in PERSON.items()}
GOODS: Json = {"quantity": 3, "unitValue": 7.25, "hsCode": "330499", "originCountry": "IT", "weight": 0.21}
CUSTOMS: Json = {
    "items": [
        {"description": "Markgoods", **GOODS, "parcel": 0},
        {"description": "Markothers", **GOODS, "unitValue": 8.5, "parcel": 1},
    ],
    "shippingCost": 12.34,
    "invoiceNumber": "MARKINVOICE",
    "eori": "FR89456123000",
    "comments": "MARKMID",
    "dutiesPaidBySender": False,
}
SIDES = {"length": 41, "width": 32, "height": 23}
PLACES: dict[str, Json] = {
    "FR": {"countryCode": "FR", "zip": "69003", "phone": "+33699001122"},
    "BE": {"countryCode": "BE", "zip": "1000", "phone": "+32470001122"},
    "CH": {"countryCode": "CH", "zip": "8001", "phone": "+41790001122"},
    "US": {"countryCode": "US", "zip": "10001", "phone": "+12125550100", "provinceCode": "NY"},
    "AE": {"countryCode": "AE", "zip": "MARKBOX 7", "phone": "+971501122334"},
}
# By carrier: each order that makes a difference, as its product, destination and changes.
ORDERS: dict[str, list[tuple[str, str, Json]]] = {
    "alpha": [("alpha-13", "FR", {}), ("relais", "FR", {}), ("alpha_express_world", "CH", {})],
    "beta": [
        ("beta_domicile_signature_france", "FR", {}),
        ("beta_point_retrait_france", "FR", {}),
        ("beta_domicile_sans_signature_europe", "BE", {"insuredValue": None}),
        ("beta_domicile_signature_monde", "CH", {}),
        ("beta_domicile_signature_monde", "US", {}),
        ("beta_domicile_signature_monde", "AE", {}),
        ("beta_domicile_signature_monde", "CH", {"customs": CUSTOMS | {"dutiesPaidBySender": True}}),
    ],
}
# As the carrier's page has the values that are not sent as they were given.
ON_THE_WIRE: dict[str, dict[str, set[str]]] = {
    "alpha": {
        "productCode": {"01", "86", "17"},
        "insuredValue": {"12345"},
        "labelFormat": {"SPD"},
        "customs.items[].quantity": {"21.75", "25.5"},
        "customs.items[].unitValue": {"21.75", "25.5"},
        "customs.items[].parcel": {"21.75"},
        "originAddress.phone": {"+33472001122"},
        "destinationAddress.phone": {"+33699001122", "+41790001122"},
    },
    "beta": {
        "productCode": {"DOS", "HD", "DOM"},
        "insuredValue": {"12345"},
        "labelFormat": {"PDF_A4_300dpi"},
        "customs.shippingCost": {"617"},
        "customs.dutiesPaidBySender": {"True"},
        "customs.items[].parcel": {"Markgoods"},
    },
}


def full(product_code: str, country_code: str, changes: Json) -> Json:
    """An order that says all that it can there."""
    parcels = [{"weight": 1.37, **SIDES, "reference": "MARKFIRSTREF"}, {"weight": 2.48, **SIDES}]
    body = order(
        product_code,
        reference="MARKREF",
        origin=SENDER | {"zip": "69002"},
        destination={"provinceCode": "ZH"} | PLACES[country_code] | PERSON,
        parcels=parcels,
        shipDate=itinerary.now().date().isoformat(),
        insuredValue=123.45,
        labelFormat="A4",
        customs=CUSTOMS,
    )
    is_alpha = body["carrierCode"] == "alpha"
    if not is_alpha:
        body["destinationAddress"]["instructions"] = "Markwords"
    body = {"pickupPointCode": "1234A" if is_alpha else "001234"} | body
    return {name: value for name, value in (body | changes).items() if value is not None}


def declared(serializer: Any, path: str = "") -> Iterator[str]:
    """The JSON paths of all fields that hold a value."""
    for name, each in serializer.fields.items():
        if isinstance(each, ListSerializer):
            yield from declared(each.child, f"{path}{name}[].")
        elif isinstance(each, ObjectSerializer):
            yield from declared(each, f"{path}{name}.")
        else:
            yield path + name


def values_at(value: Any, names: list[str]) -> list[Any]:
    """Return an object's value at a path; of an array each element's, of key-value pairs the value."""
    if isinstance(value, list):
        pairs = [pair["value"] for pair in value if isinstance(pair, dict) and pair.get("key") in names[:1]]
        return pairs or [found for each in value for found in values_at(each, names)]
    if not names:
        return [value]
    if not isinstance(value, dict):
        return []
    if names[0] == "fields" and "fields" in value:
        return values_at(value["fields"]["field"], names[1:])
    return values_at(value[names[0]], names[1:]) if names[0] in value else []


def given(body: Json, path: str) -> list[Any]:
    return values_at(body, path.replace("[]", "").split("."))


def is_sent(request: Mapping[str, Any], case: Case, expected: set[str]) -> bool:
    found = str([values_at(request, name.split(".")) for name in case.wire.split()])
    return any(text in found for text in expected)


@pytest.mark.parametrize("carrier_code", CARRIERS)
def test_each_field_arrives_is_kept_or_is_named(carrier_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    seen: set[tuple[str, Case]] = set()
    for product_code, country_code, changes in ORDERS[carrier_code]:
        body = full(product_code, country_code, changes)
        answer = post(buyer, body)
        assert answer.status_code == 201, (product_code, answer.json())
        ledger = sandbox.server.state.ledger
        made = [ledger.parcel(carrier_code, row.tracking_number) for row in sandbox.made(answer.json()["id"])]
        requests = [parcel.request for parcel in made if parcel]
        named = answer.headers.get("Ignored-Fields", "").split(", ")
        ignored = []
        for path, case in cases_of(facts_in(body)).items():
            sent = given(body, path)
            if sent in ([], [""]) or (path.startswith("customs.") and "customs" in named):
                continue
            seen.add((path, case))
            expected = ON_THE_WIRE[carrier_code].get(path, set(map(str, sent)))
            if case.wire:
                assert any(is_sent(request, case, expected) for request in requests), (path, case, requests)
            elif case.is_ignored:
                ignored.append(path)
                texts = {text for text in map(str, sent) if "MARK" in text.upper()}
                assert not any(text in str(requests) for text in texts), (path, requests)
        assert {name.replace("[0]", "[]").replace("[1]", "[]") for name in named if name} == set(ignored)
    table = {(path, case) for path, of in ORDER_FIELDS.items() for case in of[carrier_code] if not case.refusal}
    assert table - seen == UNWALKED[carrier_code]


# The words to a driver are either refused by alpha, or there are none.
UNWALKED: dict[str, set[tuple[str, Case]]] = {
    carrier: {
        (path, case)
        for path, carriers in ORDER_FIELDS.items()
        for case in carriers[carrier]
        if (carrier, path) == ("alpha", "destinationAddress.instructions") and not case.refusal
    }
    for carrier in CARRIERS
}


def in_days(days: int) -> str:
    day: date = itinerary.now().date() + timedelta(days=days)
    return day.isoformat()


# Refused on the day that the run begins, and on the next.
REFUSED: list[tuple[str, Json]] = [
    ("alpha-13", {"shipDate": in_days(2)}),
    ("alpha-13", {"shipDate": in_days(-1)}),
    ("beta_domicile_signature_france", {"shipDate": in_days(9)}),
    ("beta_domicile_signature_france", {"shipDate": in_days(-1)}),
    ("alpha-13", {"destination": {"instructions": "Sonner"}}),
    ("relais", {"destination": {"instructions": "Sonner"}}),
    ("alpha_express_world", {"customs": CUSTOMS | {"dutiesPaidBySender": True}, "parcels": [{"weight": 3}] * 2}),
    ("alpha-13", {"customs": CUSTOMS | {"dutiesPaidBySender": True}, "parcels": [{"weight": 3}] * 2}),
]


@in_one_test("product_code, changes", REFUSED)
def test_what_has_no_place_is_refused_in_the_table_s_words(
    product_code: str, changes: Json, asker: Caller, sandbox: Sandbox
) -> None:
    answer = post(asker, order(product_code, **changes))
    assert answer.status_code == 400
    carrier = "beta" if product_code.startswith("beta") else "alpha"
    words = {f"{path}: {case.refusal}" for path, of in ORDER_FIELDS.items() for case in of[carrier] if case.refusal}
    assert answer.json()["message"] in words
    assert sandbox.calls() == 0


def test_each_refusal_of_the_table_is_provoked() -> None:
    provoked = {("alpha", "shipDate"), ("beta", "shipDate")}
    provoked |= {("alpha", "destinationAddress.instructions"), ("alpha", "customs.dutiesPaidBySender")}
    assert provoked == {
        (carrier, path)
        for path, carriers in ORDER_FIELDS.items()
        for carrier, cases in carriers.items()
        if any(case.refusal for case in cases)
    }


def test_the_table_has_every_declared_field_and_no_other() -> None:
    leaves = set(declared(READER))
    assert ORDER_FIELDS.keys() == leaves | {"customs"}
    assert all(set(carriers) == set(CARRIERS) for carriers in ORDER_FIELDS.values())


def test_the_tables_conditions_and_countries_are_those_of_the_code() -> None:
    cases = [case for carriers in ORDER_FIELDS.values() for of_carrier in carriers.values() for case in of_carrier]
    assert {case.when for case in cases} - {""} == set(CONDITIONS)
    duties = ORDER_FIELDS["customs.dutiesPaidBySender"]["beta"][0]
    assert f"from FR to {' '.join(sorted(DUTIES_PAID_TO))}," in duties.limit


def test_nothing_is_ignored_of_an_order_that_names_no_product() -> None:
    assert not cases_of(facts_in({"customs": {}}))


def test_the_words_of_a_field_say_which_case_is_for_all_others() -> None:
    assert described(ORDER_FIELDS["pickupPointCode"]["beta"]) == "to a pickup point: sent; else not needed"
    assert described(ORDER_FIELDS["orderId"]["beta"]) == "kept with the label"
