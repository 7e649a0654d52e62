"""Orders that fail, each with its code and the state of its row."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_django.fixtures import Settings

from labels.lifecycle import cancelling
from labels.models import LabelState, ShippingLabel
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox
from tests.labels.interruptions import CANCEL
from tests.labels.orders import LINKED, PRODUCT, Json, order, post, weighing
from tests.support.api import Caller

BETA = PRODUCT["beta"]
KEY = "k-1"
FAILED, UNKNOWN, INCOMPLETE = LabelState.FAILED, LabelState.UNKNOWN, LabelState.INCOMPLETE


@dataclass(frozen=True)
class World:
    """The parts that a case may change before the order is sent."""

    buyer: Caller
    sandbox: Sandbox
    settings: Settings
    folder: Path


Change = Callable[[World], Any]


@dataclass(frozen=True)
class Case:
    """An order that fails: how, the answer, the label's state (None: no row), and how many parcels were bought."""

    body: Json
    change: Change
    status: int
    code: str
    state: LabelState | None
    made: int = 0
    keeps_key: bool = False
    key: str = KEY


def nothing(world: World) -> None:
    """Change nothing: the order is enough."""


def with_account(ending: str) -> Change:
    def change(world: World) -> None:
        for contract in CarrierContract.objects.all():
            number = contract.account_number[: -len(ending)] + ending if contract.carrier_code == "alpha" else ending
            CarrierContract.objects.filter(id=contract.id).update(account_number=number)

    return change


def unreachable(world: World) -> None:
    world.settings.CARRIER_ENDPOINTS = {name: {"url": "http://127.0.0.1:9/"} for name in PRODUCT}
    clients.client.cache_clear()


def broken_circuit(world: World) -> None:
    """Let both carriers fail until their circuit breakers are open."""
    world.sandbox.arm("html503")
    for product_code in PRODUCT.values():
        for _ in range(5):
            assert post(world.buyer, order(product_code)).status_code == 502
    world.sandbox.disarm()
    ShippingLabel.objects.all().delete()


def no_folder(world: World) -> None:
    world.folder.write_text("no folder")


def first_with_the_key(world: World) -> None:
    assert post(world.buyer, order(), key=KEY).status_code == 201


def first_still_running(world: World) -> None:
    first_with_the_key(world)
    ShippingLabel.objects.update(state=LabelState.PURCHASING)


def first_cancelled(world: World) -> None:
    first_with_the_key(world)
    cancelling.cancel(ShippingLabel.objects.get())


def first_asked_to_cancel(world: World) -> None:
    """Order and cancel a label that alpha does not know yet."""
    first_with_the_key(world)
    world.sandbox.arm("2", operation=CANCEL)
    cancelling.cancel(ShippingLabel.objects.get())


def magic(product_code: str, name: str, **changes: Any) -> Json:
    return order(product_code, reference=f"FAULT {name}", **changes)


def in_part(name: str, count: int, status: int, code: str, state: LabelState, made: int) -> Case:
    """Return the case of several parcels of beta, of which some were made before the others failed."""
    body = magic(LINKED, name, parcels=weighing(*[1] * count))
    return Case(body, nothing, status, code, state, made, keeps_key=True)


A = "alpha-13"
RELAY, POINT = "relais", "beta_point_retrait_france"
HANGING = ["hang", "hangmade", "driphead", "dripbody"]
BROKEN = ["reset", "close", "html200", "html502", "html503", "redirect"]
UNREADABLE = [
    *("resetmade", "closemade", "cutoff", "empty", "made502", "truncated", "garbled", "deep", "huge", "gzipbomb"),
    *("nolabel", "notpdf", "late"),
]

CASES: dict[str, Case] = {
    # Not in the contract, as the carrier says; as we know it, in test_contracts.py.
    "alpha says so": Case(magic(A, "CONTRACT"), nothing, 400, "ALPHA_PRODUCT_NOT_IN_CONTRACT", FAILED),
    "alpha says so of an account": Case(order(A), with_account("000033"), 400, "ALPHA_PRODUCT_NOT_IN_CONTRACT", FAILED),
    "beta says so": Case(magic(BETA, "CONTRACT"), nothing, 400, "BETA_PRODUCT_NOT_IN_CONTRACT", FAILED),
    "beta says so of an account": Case(order(BETA), with_account("30700"), 400, "BETA_PRODUCT_NOT_IN_CONTRACT", FAILED),
    # Addresses.
    "alpha 38": Case(magic(A, "38"), nothing, 400, "ALPHA_ADDRESS_REJECTED", FAILED),
    "alpha, zip of another country": Case(
        order(A, destination={"zip": "97100"}), nothing, 400, "ALPHA_ADDRESS_REJECTED", FAILED
    ),
    "alpha, other letters": Case(
        order(A, destination={"city": "\u2603"}), nothing, 400, "ALPHA_ADDRESS_REJECTED", FAILED
    ),
    "alpha, too long a street": Case(
        order(A, destination={"address1": "Œdipe " * 30}), nothing, 400, "ALPHA_ADDRESS_REJECTED", FAILED
    ),
    "beta 30100": Case(magic(BETA, "30100"), nothing, 400, "BETA_ADDRESS_REJECTED", FAILED),
    "beta 30204": Case(magic(BETA, "30204"), nothing, 400, "BETA_ADDRESS_REJECTED", FAILED),
    "beta, zip of another country": Case(
        order(BETA, destination={"zip": "123"}), nothing, 400, "BETA_ADDRESS_REJECTED", FAILED
    ),
    "beta, in other shapes": Case(magic(BETA, "ERRORLIST"), nothing, 400, "BETA_ADDRESS_REJECTED", FAILED),
    # Pickup points.
    "beta 30401": Case(magic(POINT, "30401"), nothing, 400, "BETA_PICKUP_POINT_REJECTED", FAILED),
    "beta 30902": Case(magic(POINT, "30902"), nothing, 400, "BETA_PICKUP_POINT_REJECTED", FAILED),
    "alpha, an unknown relay": Case(
        order(RELAY, pickupPointCode="9999Z"), nothing, 400, "ALPHA_PICKUP_POINT_REJECTED", FAILED
    ),
    # Any other refusal.
    "alpha 31": Case(magic(A, "31"), nothing, 400, "ALPHA_REQUEST_REJECTED", FAILED),
    "alpha 33": Case(magic(A, "33"), nothing, 400, "ALPHA_REQUEST_REJECTED", FAILED),
    "alpha 35 for a relay": Case(magic(RELAY, "35"), nothing, 400, "ALPHA_REQUEST_REJECTED", FAILED),
    "alpha, product does not go there": Case(
        order("relais", destination={"countryCode": "DE", "zip": "10115"}),
        nothing,
        400,
        "ALPHA_REQUEST_REJECTED",
        FAILED,
    ),
    "beta 30002": Case(magic(BETA, "30002"), nothing, 400, "BETA_REQUEST_REJECTED", FAILED),
    "beta 40011": Case(magic(BETA, "40011"), nothing, 400, "BETA_REQUEST_REJECTED", FAILED),
    "beta 30500": Case(magic(BETA, "30500"), nothing, 400, "BETA_REQUEST_REJECTED", FAILED),
    "beta, no mobile for a pickup point": Case(
        order(POINT, destination={"phone": "01 42 68 53 00"}), nothing, 400, "BETA_REQUEST_REJECTED", FAILED
    ),
    # Credentials.
    "alpha 30": Case(magic(A, "30"), nothing, 502, "ALPHA_CREDENTIALS_REJECTED", FAILED),
    "alpha, account refused": Case(order(A), with_account("000030"), 502, "ALPHA_CREDENTIALS_REJECTED", FAILED),
    "beta 30000": Case(magic(BETA, "30000"), nothing, 502, "BETA_CREDENTIALS_REJECTED", FAILED),
    "beta, account refused": Case(order(BETA), with_account("30008"), 502, "BETA_CREDENTIALS_REJECTED", FAILED),
    # Unavailable.
    **{
        f"{product_code}, {change.__name__}": Case(
            order(product_code), change, 502, f"{carrier.upper()}_UNAVAILABLE", state
        )
        for carrier, product_code in PRODUCT.items()
        for change, state in ((unreachable, FAILED), (broken_circuit, None))
    },
    **{
        f"alpha {name}": Case(magic(A, name), nothing, 502, "ALPHA_UNAVAILABLE", FAILED)
        for name in ("1", "29", "36", "37")
    },
    **{
        f"beta {name}": Case(magic(BETA, name), nothing, 502, "BETA_UNAVAILABLE", FAILED)
        for name in ("1", "30701", "40014", "JSON500")
    },
    # Unknown.
    **{
        f"{carrier} {name}": Case(
            magic(product_code, name.upper()), nothing, 502, f"{carrier.upper()}_OUTCOME_UNKNOWN", UNKNOWN, made, True
        )
        for carrier, product_code in PRODUCT.items()
        for names, made in ((BROKEN, 0), (UNREADABLE, 1))
        for name in names
    },
    **{
        f"alpha {name}": Case(
            magic(A, name.upper()), nothing, 502, "ALPHA_OUTCOME_UNKNOWN", UNKNOWN, made=1, keeps_key=True
        )
        for name in ("doctype", "base64")
    },
    **{
        f"alpha {name}": Case(magic(A, name), nothing, 502, "ALPHA_OUTCOME_UNKNOWN", UNKNOWN, keeps_key=True)
        for name in ("777", "SOAPFAULT")
    },
    **{
        f"beta {name}": Case(magic(BETA, name), nothing, 502, "BETA_OUTCOME_UNKNOWN", UNKNOWN, keeps_key=True)
        for name in ("39999", "ROUTING", "ERRORBARE")
    },
    # Cancelled.
    "cancelled": Case(order(A), first_cancelled, 409, "LABEL_CANCELLED", LabelState.CANCELLED, 1, keeps_key=True),
    "being cancelled": Case(
        order(A), first_asked_to_cancel, 409, "LABEL_BEING_CANCELLED", LabelState.CANCELLING, 1, keeps_key=True
    ),
    # Several parcels.
    "beta, the second of three is refused": in_part("2 30204", 3, 400, "BETA_ADDRESS_REJECTED", INCOMPLETE, made=1),
    "beta fails at the last of three": in_part("3 40015", 3, 502, "BETA_UNAVAILABLE", INCOMPLETE, made=2),
    "beta is silent at the second of two": in_part("2 CLOSE", 2, 502, "BETA_OUTCOME_UNKNOWN", UNKNOWN, made=1),
    # Keys.
    "key invalid": Case(order(A), nothing, 400, "IDEMPOTENCY_KEY_INVALID", None, key="\t"),
    "key in progress": Case(
        order(A), first_still_running, 409, "IDEMPOTENCY_KEY_IN_PROGRESS", LabelState.PURCHASING, 1, keeps_key=True
    ),
    "key reused": Case(
        order(BETA), first_with_the_key, 422, "IDEMPOTENCY_KEY_REUSED", LabelState.GENERATED, 1, keeps_key=True
    ),
    # The storage.
    **{
        f"{carrier}, storage down": Case(
            order(product_code), no_folder, 500, "LABEL_STORAGE_UNAVAILABLE", LabelState.RECEIVED, 1, keeps_key=True
        )
        for carrier, product_code in PRODUCT.items()
    },
}
# These take a whole deadline each.
HANGING_CASES: dict[str, Case] = {
    f"{carrier} {name}": Case(
        magic(product_code, name.upper()),
        nothing,
        502,
        f"{carrier.upper()}_OUTCOME_UNKNOWN",
        UNKNOWN,
        made=0 if name == "hang" else 1,
        keeps_key=True,
    )
    for carrier, product_code in PRODUCT.items()
    for name in HANGING
}
