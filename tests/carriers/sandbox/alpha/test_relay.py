"""alpha's relays as destinations, customs on its label, and the schema's order, as the ledger shows them."""

from typing import Any

import pytest
import requests

from carriers.sandbox.alpha.shipping import as_accepted
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import RECIPIENT, REF, SKYBILL, alpha_buy, alpha_order, product, to
from tests.carriers.sandbox.changes import Changes
from tests.carriers.sandbox.control import TIMEOUT_S, get, ledger

POINT: Changes = {
    **product("86", "0"),
    f"{REF}.recipientRef": "1487R",
    f"{REF}.idRelais": "1487R",
    f"{RECIPIENT}.recipientName": "Epicerie du Marche",
    f"{RECIPIENT}.recipientAdress1": "3 place du Marche",
    f"{RECIPIENT}.recipientZipCode": "35000",
    f"{RECIPIENT}.recipientCity": "Rennes",
}


def sold(sandbox: SandboxServer, changes: Changes) -> dict[str, Any]:
    """Buy a parcel and return all that the ledger knows of it."""
    reply = alpha_buy(sandbox, changes)
    assert reply.code == "0", reply.texts("errorMessage")
    parcel: dict[str, Any] = get(f"{sandbox.url}/ledger/parcel", tracking_number=reply.texts("skybillNumber")[0])
    return parcel


def test_a_parcel_to_the_relays_own_address_arrives(sandbox: SandboxServer) -> None:
    parcel = sold(sandbox, POINT)

    assert (parcel["misrouted"], parcel["misrouted_by"], parcel["routing"]) == (False, [], "FR 35000")
    assert "Epicerie du Marche" in parcel["printed"]


def test_a_customers_home_sends_the_parcel_to_the_wrong_depot(sandbox: SandboxServer) -> None:
    parcel = sold(sandbox, {**POINT, f"{RECIPIENT}.recipientZipCode": "75011", f"{RECIPIENT}.recipientCity": "Paris"})

    assert parcel["misrouted"] is True
    assert parcel["misrouted_by"] == ["recipientZipCode", "recipientCity"]
    assert parcel["routing"] == "FR 75011"
    assert ledger(sandbox)[0]["misrouted"] is True


@pytest.mark.parametrize(
    "changes",
    [
        {f"{RECIPIENT}.recipientName": "Marie Curie"},
        {f"{RECIPIENT}.recipientAdress1": "12 rue de la Paix"},
        {f"{RECIPIENT}.recipientAdress2": "3e etage"},
        {f"{RECIPIENT}.recipientCountry": "MC", f"{RECIPIENT}.recipientZipCode": "98000"},
        *({f"{REF}.recipientRef": code, f"{REF}.idRelais": code} for code in ("9999Z", "5601C", "5603E", "1487r")),
    ],
)
def test_any_other_address_or_a_point_that_takes_nothing_misroutes(sandbox: SandboxServer, changes: Changes) -> None:
    assert sold(sandbox, {**POINT, **changes})["misrouted"] is True


@pytest.mark.parametrize(
    ("street", "is_misrouted"),
    [("14 rue des Ecoles Batiment B", False), ("14 RUE DES ECOLES", True), ("14 rue desEcoles Batiment B", True)],
)
def test_a_relays_address_is_the_directorys_word_for_word(
    sandbox: SandboxServer, street: str, is_misrouted: bool
) -> None:
    relay = {
        f"{REF}.recipientRef": "2047h",
        f"{REF}.idRelais": "2047h",
        f"{RECIPIENT}.recipientName": "Librairie L Etoile",
        f"{RECIPIENT}.recipientAdress1": street,
        f"{RECIPIENT}.recipientZipCode": "31000",
        f"{RECIPIENT}.recipientCity": "Toulouse",
    }
    parcel = sold(sandbox, {**POINT, **relay})

    assert parcel["misrouted_by"] == (["recipientAdress1"] if is_misrouted else [])
    assert sold(sandbox, {**POINT, **relay, f"{RECIPIENT}.recipientName": "Librairie LEtoile"})["misrouted"] is True


@pytest.mark.parametrize(
    ("written", "accepted"),
    [
        ("12-14 RUE DE L'EGLISE", "12-14 RUE DE L EGLISE"),
        ("n°5, A & B", "N 5 A B"),
        ("Saint--Michel-", "SAINT MICHEL"),
        ("12 - 14 Świętokrzyska", "12 14 SWIETOKRZYSKA"),
        ("7\u20139 rue", "7 9 RUE"),
    ],
)
def test_the_carriers_own_texts_are_compared_as_it_accepts_them(written: str, accepted: str) -> None:
    assert as_accepted(written) == accepted


@pytest.mark.parametrize("code", ["2047h", "ABCDE", "31Z9Q", "12345"])
def test_a_relays_code_is_any_five_letters_or_digits(sandbox: SandboxServer, code: str) -> None:
    assert alpha_buy(sandbox, {**POINT, f"{REF}.recipientRef": code, f"{REF}.idRelais": code}).code == "0"


def test_value_and_contents_are_printed_outside_the_eu(sandbox: SandboxServer) -> None:
    customs = {f"{SKYBILL}.customsValue": "24.90", f"{SKYBILL}.customsCurrency": "EUR", f"{SKYBILL}.content1": "Shirts"}
    swiss = {**product("17", "0"), **to("CH", "3005"), **customs}

    assert "24.90 EUR Shirts" in sold(sandbox, swiss)["printed"]
    assert not [text for text in sold(sandbox, {**swiss, **to("DE", "10115")})["printed"] if "EUR" in text]


def test_all_contents_are_printed_outside_the_eu(sandbox: SandboxServer) -> None:
    goods = {f"{SKYBILL}.content1": "Shirts", f"{SKYBILL}.content2": "Socks", f"{SKYBILL}.customsValue": "0"}

    assert "0.00 EUR Shirts Socks" in sold(sandbox, {**product("17", "0"), **to("CH", "3005"), **goods})["printed"]


def test_the_ledger_says_what_was_insured_and_on_what_paper(sandbox: SandboxServer) -> None:
    changes = {
        f"{SKYBILL}.insuredValue": "12345", f"{SKYBILL}.insuredCurrency": "EUR", "skybillParamsValue.mode": "SPD",
    }  # fmt: skip
    parcel = sold(sandbox, changes)

    assert parcel["request"]["skybillValue"][0]["insuredValue"] == "12345"
    assert parcel["page_format"] == "A4"


def test_the_ledger_says_whether_structures_are_in_the_schemas_order(sandbox: SandboxServer) -> None:
    assert sold(sandbox, {})["in_schema_order"] is False
    order = alpha_order()
    recipient = {name: order["recipientValue"][0][name] for name in RECIPIENT_ORDER}
    skybill = {name: order["skybillValue"][0][name] for name in SKYBILL_ORDER}
    shipper = {f"shipper{name}": order["shipperValue"][0][f"shipper{name}"] for name in PARTY_ORDER}
    customer = {f"customer{name}": order["customerValue"][f"customer{name}"] for name in PARTY_ORDER}
    ref = {"recipientRef": "ORDER 1001", "shipperRef": "LABEL0000000001"}
    ordered = {
        "shipperValue.0": shipper, "customerValue": customer, "recipientValue.0": recipient, "refValue.0": ref,
        "skybillValue.0": skybill,
    }  # fmt: skip

    assert sold(sandbox, ordered)["in_schema_order"] is True


PARTY_ORDER = ("Adress1", "City", "Civility", "Country", "Name", "PreAlert", "ZipCode")
RECIPIENT_ORDER = [f"recipient{name}" for name in PARTY_ORDER if name != "Civility"]
SKYBILL_ORDER = (
    "bulkNumber", "evtCode", "objectType", "productCode", "service", "shipDate", "shipHour", "skybillRank", "weight",
    "weightUnit", "height", "length", "width",
)  # fmt: skip


def test_the_kept_request_has_no_credentials(sandbox: SandboxServer) -> None:
    parcel = sold(sandbox, {"headerValue.subAccount": "12"})

    assert parcel["request"]["headerValue"] == [{"idEmit": "CHRFR", "identWebPro": "", "subAccount": "12"}]
    assert "password" not in parcel["request"]


def test_an_unknown_parcel_is_a_404(sandbox: SandboxServer) -> None:
    assert requests.get(f"{sandbox.url}/ledger/parcel", timeout=TIMEOUT_S).status_code == 404


@pytest.mark.parametrize("zip_code", ["1", "2", "D02 X285", "A65F4E2"])
def test_ireland_takes_an_eircode_or_an_old_code(sandbox: SandboxServer, zip_code: str) -> None:
    assert alpha_buy(sandbox, {**product("44", "0"), **to("IE", zip_code)}).code == "0"
