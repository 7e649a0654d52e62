"""alpha's price service: the products of a contract for a destination."""

from datetime import datetime

import pytest

from carriers.products import PRODUCTS
from carriers.sandbox.alpha.soap import CHILDREN, OPTIONAL
from carriers.sandbox.data import COUNTRIES, EUROPE, PARIS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import ACCOUNT, PASSWORD, Reply, alpha_call
from tests.carriers.sandbox.control import arm
from tests.support.cases import in_one_test

SOAP_FAULT = 500
LIST = "calculateProducts"


def ask(sandbox: SandboxServer, **changes: str) -> Reply:
    values = {
        "accountNumber": ACCOUNT, "password": PASSWORD, "depCountryCode": "FR", "depZipCode": "69002",
        "arrCountryCode": "FR", "arrZipCode": "75001", "arrCity": "Paris", "type": "M", "weight": "1",
    }  # fmt: skip
    return alpha_call(sandbox, "ALPHA_QUICKCOST_URL", LIST, values | changes)


def test_the_products_of_a_place_come_without_leading_zeros_and_without_amounts(sandbox: SandboxServer) -> None:
    reply = ask(sandbox)
    assert (reply.response.status_code, reply.code) == (200, "0")
    assert reply.texts("productCode") == ["1", "16", "4I", "44", "17", "86", "49", "5E", "5X"]
    assert set(reply.texts("amount") + reply.texts("amountTTC") + reply.texts("amountTVA")) == {"0.0"}
    assert ask(sandbox, arrCountryCode="US").texts("productCode") == ["17"]
    assert {ask(sandbox, arrCity=city, type=kind).code for city in ("-", "A" * 50) for kind in "MD"} == {"0"}


def test_relays_take_no_parcel_above_20_kg(sandbox: SandboxServer) -> None:
    assert ask(sandbox, weight="20").texts("productCode") == ask(sandbox).texts("productCode")
    assert ask(sandbox, weight="20.01").texts("productCode") == ["1", "16", "4I", "44", "17"]


def test_sides_and_a_day_may_be_asked_with(sandbox: SandboxServer) -> None:
    more = {"height": "10", "length": "20", "width": "15", "shippingDate": "2026-11-26T12:00:00"}
    assert ask(sandbox, **more).texts("productCode") == ask(sandbox).texts("productCode")
    assert ask(sandbox, shippingDate=more["shippingDate"]).code == "0"
    assert ask(sandbox, width="15", height="10").response.status_code == 500  # out of order


def test_an_account_may_lack_a_product_or_all(sandbox: SandboxServer) -> None:
    assert "86" not in ask(sandbox, accountNumber="19000086").texts("productCode")
    assert (ask(sandbox, accountNumber="19000033").code, ask(sandbox, accountNumber="19000033").texts("x")) == ("0", [])


@in_one_test(
    "changes, code",
    [
        *(({name: ""}, "2") for name in CHILDREN[LIST] if name not in OPTIONAL[LIST]),
        ({"password": "000000"}, "3"),
        ({"password": "12345"}, "3"),
        ({"accountNumber": "19000030"}, "3"),
        ({"arrCountryCode": "FRA"}, "5"),
        ({"arrZipCode": "5"}, "5"),
        ({"depZipCode": "5"}, "5"),
        ({"depCountryCode": "BE"}, "5"),
        ({"weight": "31"}, "5"),
        ({"weight": "one"}, "5"),
        ({"type": "X"}, "2"),
        *(({"arrCity": city}, "2") for city in ("Saint-Étienne", "L'Hay", "Lyon--3", "A" * 51)),
    ],
)
def test_a_mistake_has_its_code(sandbox: SandboxServer, changes: dict[str, str], code: str) -> None:
    assert ask(sandbox, **changes).code == code


def test_an_armed_code_comes_in_this_services_words(sandbox: SandboxServer) -> None:
    arm(sandbox, "5", carrier="alpha", operation="calculateProducts")
    assert (ask(sandbox).code, ask(sandbox).texts("errorMessage")) == ("5", ["no tariff"])


def test_other_children_are_a_fault(sandbox: SandboxServer) -> None:
    reply = alpha_call(sandbox, "ALPHA_QUICKCOST_URL", LIST, {"accountNumber": ACCOUNT})
    assert reply.response.status_code == SOAP_FAULT


def day(sandbox: SandboxServer, *left_out: str, **changes: str) -> Reply:
    values = {
        "depCountryCode": "FR", "depZipCode": "69002", "arrCountryCode": "FR", "arrZipCode": "75001", "arrCity": "-",
        "productCode": "1", "type": "M", "service": "0", "shippingDate": "2026-11-27T12:00:00",
    }  # fmt: skip
    asked = {name: value for name, value in (values | changes).items() if name not in left_out}
    return alpha_call(sandbox, "ALPHA_QUICKCOST_URL", "calculateDeliveryTime", asked)


def test_the_day_of_arrival_is_told_without_credentials(sandbox: SandboxServer) -> None:
    assert day(sandbox).texts("date") == ["2026-11-28T18:00:00+01:00"]
    assert day(sandbox, productCode="44").texts("date") == ["2026-12-01T18:00:00+01:00"]


def test_the_town_and_the_day_may_be_left_out(sandbox: SandboxServer) -> None:
    # The page marks all other children as required; a parcel of no day is handed in today.
    assert day(sandbox, "arrCity").texts("date") == ["2026-11-28T18:00:00+01:00"]
    assert day(sandbox, "arrCity", "shippingDate").texts("date")[0][:10] > datetime.now(PARIS).date().isoformat()
    assert day(sandbox, "service").response.status_code == SOAP_FAULT


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"productCode": "86"}, "4"),
        ({"productCode": "01"}, "4"),
        ({"depZipCode": ""}, "2"),
        ({"shippingDate": "x"}, "2"),
        ({"type": "X"}, "2"),
        ({"service": "1"}, "2"),
        ({"arrCity": "L'Hay"}, "2"),
    ],
)
def test_a_product_that_the_service_does_not_know_has_no_day(
    sandbox: SandboxServer, changes: dict[str, str], code: str
) -> None:
    assert day(sandbox, **changes).code == code


def test_europe_is_one_for_the_service_and_its_sandbox() -> None:
    zone = PRODUCTS["alpha_rapide_eco"].zone
    assert {country for country in COUNTRIES if country in zone} == EUROPE
