"""Both clients buy from the sandbox over HTTP: every product, every destination, every error code."""

import io
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal

import pypdf
import pypdfium2
import pytest
import zxingcpp

from carriers.base import Carrier
from carriers.errors import RequestRejected
from carriers.products import OVERSEAS, PARIS, PRODUCTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Credentials, Package, PickupPoint
from tests.carriers.sandbox.orders import ledger
from tests.carriers.support.sandbox import bought, creates, order, received
from tests.carriers.support.shipments import CREDENTIALS, client
from tests.carriers.test_labels_bought import WIRE_CODES
from tests.carriers.test_product_rules import BETA_DESTINATIONS, HOME, PICKUP, SIGNED

Clients = Mapping[str, Carrier]
# By weight, and where the tests run on a Saturday.
OTHER_SERVICES = {"alpha_relais_europe_outre_mer": {"338"}, "alpha_jour_j": {"974"}}
SATURDAY = 5


def text_of(pdf: bytes) -> list[str]:
    """The text of each page."""
    return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages]


def barcodes_of(pdf: bytes) -> tuple[str, ...]:
    """What a scanner reads from each page at the resolution of a label printer."""
    with pypdfium2.PdfDocument(pdf) as document:
        images = [page.render(scale=203 / 72).to_pil() for page in document]
    return tuple(code.text for image in images for code in zxingcpp.read_barcodes(image))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("code", PRODUCTS)
def test_every_product_is_bought_and_stands_in_the_ledger(
    sandbox: SandboxServer, clients: Clients, code: str, count: int
) -> None:
    carrier = PRODUCTS[code].carrier
    shipment = order(code, count)

    label = clients[carrier].create_label(shipment, CREDENTIALS[carrier])

    rows = ledger(sandbox)
    wire_code, service = WIRE_CODES[code]
    assert tuple(row["tracking_number"] for row in rows) == label.tracking_numbers
    assert {row["carrier"] for row in rows} == {carrier}
    assert {row["reference"] for row in rows} == {shipment.id}
    assert {row["account"] for row in rows} == {CREDENTIALS[carrier].account_number}
    assert [row["weight_kg"] for row in rows] == [float(package.weight_kg) for package in shipment.packages]
    assert [(row["parcel_rank"], row["parcel_count"]) for row in rows] == [
        (rank, count) for rank in range(1, count + 1)
    ]
    services = {service, *OTHER_SERVICES.get(code, ())}
    assert {row["product_code"] for row in rows} <= {f"{wire_code} {each}" if each else wire_code for each in services}
    assert label.warnings == ()
    assert barcodes_of(label.pdf) == label.tracking_numbers
    pages = text_of(label.pdf)
    assert len(pages) == count
    for page, number in zip(pages, label.tracking_numbers, strict=True):
        assert number in page.replace(" ", "")
        assert shipment.reference in page
    assert creates(sandbox, carrier) == (1 if carrier == "alpha" else count)


@pytest.mark.parametrize(("country", "home", "signed", "pickup", "customs"), BETA_DESTINATIONS)
def test_beta_takes_every_destination_of_its_page(
    sandbox: SandboxServer,
    clients: Clients,
    country: str,
    home: str | None,
    signed: str,
    pickup: str | None,
    customs: object,
) -> None:
    codes = []
    for code in ("beta", *HOME, *SIGNED, *PICKUP):
        recipient = {"country_code": country}
        with suppress(RequestRejected):
            clients["beta"].create_label(order(code, recipient=recipient), CREDENTIALS["beta"])
            codes.append(ledger(sandbox)[-1]["product_code"])
    assert set(codes) == {home or signed, signed} | ({home} if home else set()) | ({pickup} if pickup else set())
    assert creates(sandbox, "beta") == len(codes)


@pytest.mark.parametrize("country", sorted(OVERSEAS.countries))
def test_alphas_relays_overseas_are_bought_under_a_code_of_their_own(
    sandbox: SandboxServer, clients: Clients, country: str
) -> None:
    recipient = {"country_code": country}
    shipment = order("alpha_relais_europe_outre_mer", recipient=recipient)
    clients["alpha"].create_label(shipment, CREDENTIALS["alpha"])
    is_saturday = shipment.ship_at.astimezone(PARIS).weekday() == SATURDAY
    assert ledger(sandbox)[0]["product_code"] == ("4P 369" if is_saturday else "4P 368")


@pytest.mark.parametrize(("weight_kg", "service"), [("3", "337"), ("3.001", "338"), ("20", "338")])
def test_alphas_relays_in_europe_have_a_service_by_weight(
    sandbox: SandboxServer, clients: Clients, weight_kg: str, service: str
) -> None:
    shipment = order("alpha_relais_europe_outre_mer", packages=(Package(Decimal(weight_kg)),))
    clients["alpha"].create_label(shipment, CREDENTIALS["alpha"])
    assert ledger(sandbox)[0]["product_code"] == f"49 {service}"


@pytest.mark.parametrize("country", ["FR", "MC", "AD", "BE", "CH", "GB", "PL", "PT"])
@pytest.mark.parametrize("code", ["alpha_rapide_eco", "alpha_relais_europe_outre_mer", "alpha_express_world"])
def test_alpha_is_asked_for_what_its_page_does_not_limit(
    sandbox: SandboxServer, clients: Clients, code: str, country: str
) -> None:
    recipient = {"country_code": country}
    label = clients["alpha"].create_label(order(code, recipient=recipient), CREDENTIALS["alpha"])
    assert bought(sandbox, "alpha") == label.tracking_numbers


@pytest.mark.parametrize("reference", ["ORDER-1", "N° 4711/2 «été»", "", "#1001", "Zażółć"])
@pytest.mark.parametrize("code", PRODUCTS)
def test_any_reference_in_latin_letters_is_taken(
    sandbox: SandboxServer, clients: Clients, code: str, reference: str
) -> None:
    carrier = PRODUCTS[code].carrier
    clients[carrier].create_label(order(code, reference=reference), CREDENTIALS[carrier])
    assert len(ledger(sandbox)) == 1


@pytest.mark.parametrize(
    "phone", ["+33612345678", "+33472001122", "+4915112345678", "+37761234567", "+12125550123", ""]
)
@pytest.mark.parametrize("country", ["FR", "MC", "BE", "RE", "US"])
@pytest.mark.parametrize("email", ["soren@mail.example", ""])
def test_any_phone_is_taken_where_none_is_needed(
    sandbox: SandboxServer, clients: Clients, country: str, phone: str, email: str
) -> None:
    recipient = {"country_code": country, "phone": phone, "email": email}
    sender = {"phone": phone, "email": email}
    for code in ("beta", "alpha_express_world"):
        carrier = PRODUCTS[code].carrier
        shipment = order(code, recipient=recipient, sender=sender)
        clients[carrier].create_label(shipment, CREDENTIALS[carrier])
    assert len(ledger(sandbox)) == 2


@pytest.mark.parametrize(
    "line", ["12 bis, rue de l'Église", "½ place § N°3 2ª m² 4£", "Łódzka 5/7", "Straße «Zum Bär»", "a" * 35]
)
def test_latin_text_is_taken_by_both(sandbox: SandboxServer, clients: Clients, line: str) -> None:
    for code in ("beta", "alpha-13"):
        carrier = PRODUCTS[code].carrier
        clients[carrier].create_label(order(code, recipient={"address1": line}), CREDENTIALS[carrier])
    assert len(ledger(sandbox)) == 2


@pytest.mark.parametrize(("code", "count"), [("alpha-13", 99), ("relais", 99), ("beta", 4)])
def test_the_most_parcels_are_one_label(sandbox: SandboxServer, clients: Clients, code: str, count: int) -> None:
    carrier = PRODUCTS[code].carrier
    label = clients[carrier].create_label(
        order(code, packages=(Package(Decimal("0.5")),) * count), CREDENTIALS[carrier]
    )
    assert len(set(label.tracking_numbers)) == count
    assert bought(sandbox, carrier) == label.tracking_numbers
    assert len(text_of(label.pdf)) == count


@pytest.mark.parametrize("code", [code for code, product in PRODUCTS.items() if product.needs_pickup_point])
def test_the_pickup_points_name_is_printed_where_it_is_known(
    sandbox: SandboxServer, clients: Clients, code: str
) -> None:
    carrier = PRODUCTS[code].carrier
    point = {"alpha": PickupPoint("1234A", "Tabac du Pont"), "beta": PickupPoint("001234", "Tabac du Pont")}[carrier]
    label = clients[carrier].create_label(order(code, pickup_point=point), CREDENTIALS[carrier])
    (page,) = text_of(label.pdf)
    assert "Tabac du Pont" in page
    assert point.code in page


def test_an_api_key_buys_too(sandbox: SandboxServer, clients: Clients) -> None:
    credentials = Credentials(api_key="key-of-a-shop")
    label = clients["beta"].create_label(order("beta", 2), credentials)
    assert bought(sandbox, "beta") == label.tracking_numbers


def test_the_newer_version_of_beta_is_spoken_too(sandbox: SandboxServer, clients: Clients) -> None:
    newer = client("beta", f"{sandbox.url}/beta/3.1")
    label = newer.create_label(order("beta"), CREDENTIALS["beta"])
    assert bought(sandbox, "beta") == label.tracking_numbers
    assert received(sandbox) == {"/beta/3.1/generateLabel": 1}
