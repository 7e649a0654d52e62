"""beta's check of a contract: its label requests of samples, validated only, one for each product."""

from collections.abc import Callable
from typing import Any, Final

from carriers.beta import messages
from carriers.errors import CredentialsRejected, PickupPointRejected, ProductNotInContract, Rejected
from carriers.products import PRODUCTS
from carriers.shipment import Package, Party, PickupPoint, Shipment
from carriers.trials import SAMPLE_CUSTOMS, SAMPLE_WEIGHT_KG, SAMPLES, Finding, Terms, Verdict

OPERATION: Final = "checkGenerateLabel"

_SAMPLE_POINT: Final = "000000"


def finding(code: str, terms: Terms, validate: Callable[[messages.Json, Shipment], Any]) -> Finding:
    """Return the carrier's answer about a product; `validate` raises the refusal of a sample."""
    recipient = _recipient(code, terms)
    if recipient is None:
        return Finding(code, Verdict.OPEN, "not asked: the product goes nowhere from the shop's sender address")
    sample = _sample(code, terms, recipient)
    try:
        (body,) = messages.bodies(sample, _point(recipient))
        validate(body, sample)
    except Rejected as error:
        return _refused(code, error)
    return Finding(code, Verdict.INCLUDED, f"a sample to {recipient.country_code} is accepted")


def _refused(code: str, error: Rejected) -> Finding:
    """Judge by all that an answer refuses; raises a refusal of the credentials, which tells nothing of a product."""
    for each in error.each:
        if isinstance(each, CredentialsRejected):
            raise each
    for each in error.each:
        if isinstance(each, ProductNotInContract):
            return Finding(code, Verdict.MISSING, each.detail)
    if all(isinstance(each, PickupPointRejected) for each in error.each):
        return Finding(code, Verdict.OPEN, "the carrier refused only the sample's pickup point")
    return Finding(code, Verdict.OPEN, f"the carrier refused the sample: {error}")


def _recipient(code: str, terms: Terms) -> Party | None:
    product = PRODUCTS[code]
    origin = terms.sender.country_code
    routes = (product.route(origin, party.country_code, SAMPLE_WEIGHT_KG, terms.products[code]) for party in SAMPLES)
    return next((party for party, route in zip(SAMPLES, routes, strict=True) if route), None)


def _point(recipient: Party) -> PickupPoint:
    """Return a point that does not exist, at the recipient's address: of a sample's request nothing else is wrong."""
    return PickupPoint(
        code=_SAMPLE_POINT,
        name="Sample point",
        address1=recipient.address1,
        zip_code=recipient.zip_code,
        city=recipient.city,
        country_code=recipient.country_code,
    )


def _sample(code: str, terms: Terms, recipient: Party) -> Shipment:
    return Shipment(
        id="CONTRACTCHECK",
        product_code=code,
        sender=terms.sender,
        recipient=recipient,
        packages=(Package(SAMPLE_WEIGHT_KG),),
        pickup_point_code=_SAMPLE_POINT if PRODUCTS[code].needs_pickup_point else "",
        commercial_name=terms.commercial_name,
        customs=SAMPLE_CUSTOMS,
        override=terms.products[code],
    )
