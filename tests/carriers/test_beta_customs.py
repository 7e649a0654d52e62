"""beta's customs: the forms are kept, the declaration is true, and what is missing is refused before it is sent."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from carriers.beta import messages as beta_message
from carriers.errors import AddressRejected, RequestRejected
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Customs, CustomsItem, Package
from tests.carriers.conftest import Clients, Serve
from tests.carriers.sandbox.control import arm, ledger
from tests.carriers.support.beta import fields_of, labels
from tests.carriers.support.pdfs import merged, sizes, texts
from tests.carriers.support.refusals import label_of
from tests.carriers.support.sandbox import order
from tests.carriers.support.servers import MULTIPART, always, answer_file, http
from tests.carriers.support.shipments import CREDENTIALS, client, shipment
from tests.support.cases import in_one_test

WORLD = "beta_domicile_signature_monde"
SIGNED_OVERSEAS, UNSIGNED_OVERSEAS = "beta_domicile_signature_outre_mer", "beta_domicile_sans_signature_outre_mer"
EORI = "FR33890120700017"
CANDLES = CustomsItem("Bougies parfumées", 2, Decimal("12.50"), Decimal("0.4"), "340600", "IT")
SOAP = CustomsItem("Savon", 3, Decimal("4.10"), Decimal("0.1"), "340111")
OWN = Customs((CANDLES, SOAP), shipping_cost_eur=Decimal("12.00"))
SIDES: dict[str, Any] = {"length_cm": 30, "width_cm": 20, "height_cm": 11}
FORM_PAGES = 4


def swiss(count: int) -> dict[str, Any]:
    packages = (Package(Decimal("0.85")), Package(Decimal("0.3"))) if count > 1 else (Package(Decimal("1.25")),)
    return {"recipient": {"country_code": "CH", "zip_code": "8001"}, "customs": OWN, "packages": packages}


def sent(product_code: str, country_code: str, count: int = 1, **changes: Any) -> list[dict[str, Any]]:
    recipient = {"country_code": country_code, **changes.pop("recipient", {})}
    ordered = shipment(product_code, count, recipient=recipient, **changes)
    return [beta_message.message(body, ordered, CREDENTIALS["beta"]) for body in beta_message.bodies(ordered)]


def articles(body: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = body["letter"]["customsDeclarations"]["contents"]["article"]
    return found


# The papers


@pytest.mark.parametrize("count", [1, 2])
def test_the_customs_forms_follow_the_labels_in_pages_of_their_own_size(count: int) -> None:
    label = label_of("beta", *labels(count, "customs"), **swiss(count))
    found = sizes(merged(label))
    assert [width for width, _ in found[:count]] == [281, 282][:count]
    assert found[count:] == [(595, 841)] * FORM_PAGES + [(595, 842)] * FORM_PAGES * (count - 1)
    assert not label.is_customs_form_missing


def test_one_missing_form_of_several_is_noticed() -> None:
    label = label_of("beta", labels(1, "customs")[0], labels(2)[1], **swiss(2))
    assert label.is_customs_form_missing
    assert len(sizes(merged(label))) == 2 + FORM_PAGES


@pytest.mark.parametrize("head", [b"Content-ID: <", b"X-ID: <"])  # the page's order tells, too, which is the form
def test_a_form_that_was_not_asked_for_is_kept_too(head: bytes) -> None:
    answer = answer_file("beta_customs_1.multipart").replace(b"Content-ID: <", head)
    label = label_of("beta", http(answer, content_type=MULTIPART))
    assert len(sizes(merged(label))) == 1 + FORM_PAGES
    assert not label.is_customs_form_missing


def test_no_form_is_missed_where_none_is_needed() -> None:
    label = label_of("beta", *labels(1))
    assert not label.is_customs_form_missing


def test_all_labels_and_forms_come_by_name_whatever_comes_after_them(serve: Serve) -> None:
    refused = http(b'{"messages": [{"id": "30204", "type": "ERROR", "messageContent": "street"}]}', 400)
    server = serve(always(labels(2, "customs")[0], refused))
    with pytest.raises(AddressRejected) as caught:
        client("beta", server.url).create_label(shipment("beta", **swiss(2)), CREDENTIALS["beta"])
    number = "6A12345678901"
    assert caught.value.made.tracking_numbers == (number,)
    assert list(caught.value.made.pdfs) == [number, f"{number}-customs-form"]
    assert [sizes(pdf)[0][0] for pdf in caught.value.made.pdfs.values()] == [281, 595]


# The declaration


def test_the_orders_own_declaration_is_sent() -> None:
    customs = replace(
        OWN, invoice_number="F_2026/17 #3", eori=EORI.lower(), comments="TVA n° GB123 & \u201cMarché\u201d"
    )
    (body,) = sent("beta", "CH", customs=customs)
    letter = body["letter"]
    assert letter["service"]["totalAmount"] == 1200
    assert letter["customsDeclarations"] == {
        "includeCustomsDeclarations": True,
        "numberOfCopies": 4,
        "invoiceNumber": "F_2026/17 #3",
        "comments": 'TVA n GB123 & "Marche"',
        "contents": {
            "article": [
                {
                    "description": "Bougies parfumees",
                    "quantity": 2,
                    "weight": 0.4,
                    "value": 12.5,
                    "hsCode": "340600",
                    "originCountry": "IT",
                    "currency": "EUR",
                },
                {
                    "description": "Savon",
                    "quantity": 3,
                    "weight": 0.1,
                    "value": 4.1,
                    "hsCode": "340111",
                    "originCountry": "FR",
                    "currency": "EUR",
                },
            ],
            "category": {"value": 3},
        },
    }
    assert fields_of(body) == {"EORI": EORI}
    assert letter["parcel"] == {"weight": 1.25}


@pytest.mark.parametrize(("cost_eur", "cents"), [("0.01", 1), ("0", 1), ("0.004", 1), ("7.90", 790), ("4.355", 436)])
def test_the_total_is_the_postage_in_cents_and_never_nothing(cost_eur: str, cents: int) -> None:
    for is_for_each in (False, True):
        customs = replace(OWN, shipping_cost_eur=Decimal(cost_eur), is_for_each_parcel=is_for_each)
        (body,) = sent("beta", "CH", customs=customs)
        assert body["letter"]["service"]["totalAmount"] == cents


def test_the_postage_of_an_order_is_declared_once_and_that_of_a_contract_with_each_parcel() -> None:
    packages = (Package(Decimal(1)),) * 3
    customs = Customs((replace(SOAP, quantity=30),), shipping_cost_eur=Decimal("10.00"))
    shares = [
        body["letter"]["service"]["totalAmount"] for body in sent("beta", "CH", packages=packages, customs=customs)
    ]
    assert shares == [334, 333, 333]
    default = replace(customs, items=(SOAP,), is_for_each_parcel=True)
    each = [body["letter"]["service"]["totalAmount"] for body in sent("beta", "CH", packages=packages, customs=default)]
    assert each == [1000] * 3


def test_no_parcel_is_left_without_goods_while_there_are_enough_pieces() -> None:
    packages = (Package(Decimal(2)), Package(Decimal("0.1")), Package(Decimal(2)))
    goods = replace(OWN, items=(replace(CANDLES, quantity=3), replace(SOAP, quantity=1, weight_kg=Decimal("0.1"))))
    declared = [articles(body) for body in sent("beta", "CH", packages=packages, customs=goods)]
    pieces = [[(article["description"], article["quantity"]) for article in each] for each in declared]
    assert pieces == [[("Bougies parfumees", 2)], [("Savon", 1)], [("Bougies parfumees", 1)]]
    with pytest.raises(RequestRejected, match="leave a parcel without goods"):
        sent("beta", "CH", packages=packages, customs=replace(OWN, items=(replace(SOAP, quantity=2),)))


def test_goods_of_unknown_weight_share_what_the_others_leave() -> None:
    (body,) = sent("beta", "CH", customs=replace(OWN, items=(CANDLES, replace(SOAP, weight_kg=None))))
    assert [article["weight"] for article in articles(body)] == [0.4, 0.15]


@pytest.mark.parametrize(
    ("description", "plain"),
    [
        ("Œufs de Pâques à l'anis", "OEufs de Paques a l'anis"),
        ("T-shirt (100% coton), n°5", "T-shirt (100% coton), n 5"),
        ("Bougie 🕯️ « Été »", "Bougie Ete"),
        ("Straße & Łódź", "Strasse & Lodz"),
        ("Vis M4*20; \u201cinox\u201d, 5\u20136 @ 2:1", 'Vis M4*20; "inox", 5-6 @ 2:1'),
        ("1/2 savon", "1/2 savon"),
    ],
)
def test_descriptions_lose_their_accents_and_pictograms(description: str, plain: str) -> None:
    (body,) = sent("beta", "CH", customs=replace(OWN, items=(replace(SOAP, description=description),)))
    assert articles(body)[0]["description"].lower() == plain.lower()
    assert articles(body)[0]["description"].isascii()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"items": (CANDLES, replace(SOAP, description="🕯️"))}, "customs.items[1].description"),
        ({"items": (replace(SOAP, description="x" * 65),)}, "customs.items[0].description"),
        ({"items": (replace(SOAP, description="蜡烛"),)}, "customs.items[0].description"),
        ({"items": (replace(SOAP, description="🕯️"),), "is_for_each_parcel": True}, "customs"),
        ({"items": (replace(SOAP, quantity=20),)}, "customs.items"),
        ({"items": (CANDLES, replace(SOAP, hs_code=""))}, "customs.items[1].hsCode"),
        ({"invoice_number": "1" * 36}, "customs.invoiceNumber"),
    ],
)
def test_a_wrong_declaration_is_refused_before_it_is_sent(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(RequestRejected) as caught:
        sent("beta", "CH", customs=replace(OWN, **changes))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("sender", "recipient", "is_declared"),
    [
        ({}, {"country_code": "DE", "zip_code": "10115"}, False),
        *(({}, {"country_code": "ES", "zip_code": each}, True) for each in ("35001", "38001", "51001", "52001")),
        # As it is printed: without an invisible character, and in plain digits.
        *(
            ({}, {"country_code": "ES", "zip_code": each}, True)
            for each in ("35 001", "\u200b35001", "\uff13\uff15000")
        ),
        ({}, {"country_code": "ES", "zip_code": "28001"}, False),
        ({}, {"country_code": "IT", "zip_code": "23041"}, True),
        ({}, {"country_code": "DE", "zip_code": "27498"}, True),
        ({}, {"country_code": "FI", "zip_code": "22100"}, True),
        ({}, {"country_code": "GR", "zip_code": "63086"}, True),
        ({}, {"country_code": "AD", "zip_code": "AD500"}, True),
        ({"country_code": "RE", "zip_code": "97400"}, {"country_code": "FR", "zip_code": "75011"}, True),
        ({"country_code": "GP", "zip_code": "97100"}, {"country_code": "DE", "zip_code": "10115"}, True),
    ],
)
def test_customs_are_declared_where_the_union_ends(
    sender: dict[str, str], recipient: dict[str, str], is_declared: bool
) -> None:
    country_code = recipient["country_code"]
    (body,) = sent("beta", country_code, recipient=recipient, sender=sender, customs=OWN)
    assert ("customsDeclarations" in body["letter"]) == ("totalAmount" in body["letter"]["service"]) == is_declared
    if is_declared:
        with pytest.raises(RequestRejected, match=r"^customs: "):
            sent("beta", country_code, recipient=recipient, sender=sender, customs=None)
    else:
        assert sent("beta", country_code, recipient=recipient, sender=sender, customs=None)


# Codes by direction


@in_one_test(
    "product_code, country_code, carrier_code",
    [
        ("beta", "FR", "COM"),
        ("beta_domicile_sans_signature_france", "FR", "COM"),
        ("beta_domicile_signature_france", "FR", "CDS"),
        ("beta_domicile_signature_france", "MC", "CDS"),
        ("beta", "DE", "COLI"),
        ("beta_domicile_signature_europe", "BE", "COLI"),
        ("beta_domicile_signature_monde", "IT", "COLI"),
        ("beta", "RE", "COM"),
    ],
)
@in_one_test("origin", ["GP", "MF", "YT", "NC"])
def test_products_from_overseas_have_codes_of_their_own(
    product_code: str, country_code: str, carrier_code: str, origin: str
) -> None:
    (body,) = sent(product_code, country_code, sender={"country_code": origin})
    assert body["letter"]["service"]["productCode"] == carrier_code


@pytest.mark.parametrize(
    ("product_code", "country_code"),
    [
        ("beta_point_retrait_france", "FR"),
        ("beta_point_retrait_europe", "DE"),
        ("beta_domicile_sans_signature_europe", "BE"),
    ],
)
def test_products_that_do_not_start_overseas_are_refused(product_code: str, country_code: str) -> None:
    with pytest.raises(RequestRejected, match=f"does not go from RE to {country_code}") as caught:
        sent(product_code, country_code, sender={"country_code": "RE"})
    assert caught.value.field == "destinationAddress.countryCode"


# Numbers, states and duties

PAID = replace(OWN, eori=EORI, is_duties_paid_by_sender=True)
SIDED, LIGHT = Package(Decimal(2), **SIDES), Package(Decimal("0.8"), **SIDES)


def worth(*euros: str) -> Customs:
    """Goods of these values, each in a parcel of its own, with the European number alone."""
    items = (replace(SOAP, quantity=1, unit_value_eur=Decimal(each), parcel=rank) for rank, each in enumerate(euros))
    return Customs(tuple(items), eori=EORI)


@pytest.mark.parametrize(
    ("country_code", "customs", "changes", "field"),
    [
        ("US", OWN, {}, "customs.eori"),
        ("US", replace(OWN, eori=EORI), {"recipient": {"province_code": ""}}, "destinationAddress.provinceCode"),
        ("CA", OWN, {}, "destinationAddress.provinceCode"),
        ("CH", replace(PAID, eori=""), {"packages": (SIDED,)}, "customs.eori"),
        ("CH", PAID, {}, "parcels[0].length"),
        ("CH", PAID, {"packages": (Package(Decimal(2), 30, 20),)}, "parcels[0].height"),
        ("CH", PAID, {"packages": (LIGHT, Package(Decimal("0.5")))}, "parcels[1].length"),
        ("US", PAID, {"packages": (SIDED,), "recipient": {"phone": ""}}, "destinationAddress.phone"),
        ("GB", worth("1000"), {}, "customs.eori"),
        ("GB", worth("10", "1500"), {"packages": (LIGHT, LIGHT)}, "customs.eori"),  # the first parcel would be bought
        ("GB", replace(worth("1000"), eori=""), {}, "customs.eori"),
    ],
)
def test_what_a_destination_needs_is_missed_before_it_is_sent(
    serve: Serve, country_code: str, customs: Customs, changes: dict[str, Any], field: str
) -> None:
    server = serve(always(*labels(1)))
    recipient = {"country_code": country_code, **changes.pop("recipient", {})}
    ordered = shipment("beta", recipient=recipient, customs=customs, **changes)
    with pytest.raises(RequestRejected) as caught:
        client("beta", server.url).create_label(ordered, CREDENTIALS["beta"])
    assert caught.value.field == field
    assert server.requests == []


@pytest.mark.parametrize(
    ("country_code", "customs"),
    [
        ("GB", worth("999.99", "999.99")),
        ("GB", replace(worth("999.99", "5"), eori="")),
        ("GB", replace(worth("1000", "5"), eori=f"{EORI} GB123456789000")),
        ("CH", worth("1000", "5")),
    ],
)
def test_the_british_number_is_needed_for_a_parcel_of_a_thousand_euros(country_code: str, customs: Customs) -> None:
    bodies = sent("beta", country_code, customs=customs, packages=(LIGHT, LIGHT))
    assert [fields_of(body).get("EORI", "") for body in bodies] == [customs.eori] * 2


def test_all_that_is_missing_is_named_at_once() -> None:
    items = tuple(replace(item, hs_code="") for item in OWN.items)
    customs = replace(OWN, items=items, is_duties_paid_by_sender=True)
    with pytest.raises(RequestRejected) as caught:
        sent("beta", "US", recipient={"province_code": "", "phone": ""}, customs=customs)
    names = ("customs.eori", "destinationAddress.provinceCode", "destinationAddress.phone")
    goods = ("customs.items[0].hsCode", "customs.items[1].hsCode")
    sides = ("parcels[0].length", "parcels[0].width", "parcels[0].height")
    assert [str(caught.value).count(f"{name}: ") for name in (*names, *goods, *sides)] == [1] * 8


@pytest.mark.parametrize(("country_code", "province"), [("US", "NY"), ("CA", "QC"), ("CH", "ZH")])
def test_the_state_is_sent_to_the_united_states_and_canada(country_code: str, province: str) -> None:
    customs = replace(OWN, eori=EORI)
    (body,) = sent("beta", country_code, recipient={"province_code": province}, customs=customs)
    expected = None if country_code == "CH" else province
    assert body["letter"]["addressee"]["address"].get("stateOrProvinceCode") == expected
    assert "stateOrProvinceCode" not in body["letter"]["sender"]["address"]


def test_duties_that_the_sender_pays_are_said_with_the_sides_and_a_description_of_it_all() -> None:
    (body,) = sent("beta", "US", customs=PAID, packages=(Package(Decimal("1.5"), **SIDES),))
    assert body["letter"]["parcel"] == {"weight": 1.5, "ddp": True}
    assert fields_of(body) == {"EORI": EORI, "LENGTH": "30", "WIDTH": "20", "HEIGHT": "11"}
    assert body["letter"]["customsDeclarations"]["description"] == "Bougies parfumees, Savon"


@pytest.mark.parametrize("country_code", ["GF", "GP", "MQ", "RE"])
def test_duties_overseas_have_an_option_of_their_own_for_the_signed_product(country_code: str) -> None:
    customs = replace(OWN, is_duties_paid_by_sender=True)
    (body,) = sent(SIGNED_OVERSEAS, country_code, customs=customs)
    assert body["letter"]["parcel"] == {"weight": 1.25, "ftd": True}
    assert "fields" not in body
    with pytest.raises(RequestRejected) as caught:
        sent(UNSIGNED_OVERSEAS, country_code, customs=customs)
    assert caught.value.field == "customs.dutiesPaidBySender"


def test_nothing_of_customs_is_sent_within_the_union() -> None:
    customs = replace(OWN, eori=EORI, comments="x", invoice_number="y")
    (body,) = sent("beta", "DE", customs=customs)
    assert "customsDeclarations" not in body["letter"]
    assert "fields" not in body
    assert body["letter"]["parcel"] == {"weight": 1.25}


# The sandbox


@pytest.mark.parametrize(
    ("product_code", "changes", "carrier_code"),
    [
        ("beta", {"recipient": {"country_code": "CH"}}, "DOM"),
        (SIGNED_OVERSEAS, {"recipient": {"country_code": "RE"}}, "CDS"),
        ("beta", {"recipient": {"country_code": "ES", "zip_code": "35001"}}, "DOS"),
        ("beta", {"sender": {"country_code": "RE", "zip_code": "97400"}}, "COM"),
        ("beta", {"sender": {"country_code": "RE", "zip_code": "97400"}, "recipient": {"country_code": "DE"}}, "COLI"),
        (WORLD, {"recipient": {"country_code": "US"}, "duties": True}, "DOS"),
        (WORLD, {"recipient": {"country_code": "GB"}}, "DOS"),
        (WORLD, {"recipient": {"country_code": "CA", "zip_code": "H2X 1Y4", "province_code": "QC"}}, "DOS"),
        (SIGNED_OVERSEAS, {"recipient": {"country_code": "MQ"}, "duties": True}, "CDS"),
    ],
)
@pytest.mark.parametrize("count", [1, 3])
def test_the_sandbox_prints_what_was_declared(
    sandbox: SandboxServer,
    clients: Clients,
    product_code: str,
    changes: dict[str, Any],
    carrier_code: str,
    count: int,
) -> None:
    items = (replace(CANDLES, quantity=count, weight_kg=Decimal(1)), replace(SOAP, hs_code="34011100"))
    is_paid = changes.get("duties", False)
    customs = Customs(items, shipping_cost_eur=Decimal("9.00"), eori=EORI, is_duties_paid_by_sender=is_paid)
    packages = (Package(Decimal("1.5"), **SIDES),) * count
    order_changes = {name: value for name, value in changes.items() if name != "duties"}
    ordered = order(product_code, packages=packages, customs=customs, **order_changes)
    label = clients["beta"].create_label(ordered, CREDENTIALS["beta"])
    assert not label.is_customs_form_missing
    assert {row["product_code"] for row in ledger(sandbox)} == {carrier_code}
    pages = texts(merged(label))
    assert len(pages) == count * (1 + FORM_PAGES)
    forms = pages[count:]
    postage = {1: "9.00", 3: "3.00"}[count]
    assert all(f"Postage: {postage} EUR" in page and EORI in page for page in forms)
    assert sum("Bougies parfumees" in page for page in forms) == count * FORM_PAGES
    assert set(sizes(merged(label))[count:]) == {(595, 842)}


@pytest.mark.parametrize("fault", ["nocn23", "badcn23"])
def test_a_form_that_the_sandbox_withholds_is_missing(sandbox: SandboxServer, clients: Clients, fault: str) -> None:
    arm(sandbox, fault, carrier="beta")
    ordered = order("beta", recipient={"country_code": "CH"})
    label = clients["beta"].create_label(ordered, CREDENTIALS["beta"])
    assert label.is_customs_form_missing
    assert len(sizes(merged(label))) == 1
