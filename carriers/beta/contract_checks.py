"""beta's check of a contract: its label requests of samples, validated only, one for each product."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from carriers.beta import messages
from carriers.errors import CredentialsRejected, PickupPointRejected, ProductNotInContract, Rejected
from carriers.products import PRODUCTS
from carriers.shipment import Package, Party, PickupPoint, Shipment
from carriers.trials import SAMPLE_CUSTOMS, SAMPLE_WEIGHT_KG, SAMPLES, Finding, Terms, Verdict

OPERATION: Final = "checkGenerateLabel"

_SAMPLE_POINT: Final = "000000"


def findings(terms: Terms, validate: Callable[[messages.Json, Shipment], Any]) -> list[Finding]:
    """Return the carrier's answer about each product; `validate` raises the refusal of a sample."""
    return [_finding(code, terms, validate) for code in terms.products]


def _finding(code: str, terms: Terms, validate: Callable[[messages.Json, Shipment], Any]) -> Finding:
    recipient = _recipient(code, terms)
    if recipient is None:
        return Finding(code, Verdict.OPEN, "not asked: the product goes nowhere from the shop's sender address")
    sample = _sample(code, terms, recipient)
    try:
        (body,) = messages.bodies(sample, _point(recipient))
        validate(body, sample)
    except Rejected as error:
        return _refused(code, (error, *error.others))
    return Finding(code, Verdict.INCLUDED, f"a sample to {recipient.country_code} is accepted")


def _refused(code: str, refusals: Sequence[Rejected]) -> Finding:
    """Judge by all that an answer refuses; raises a refusal of the credentials, which tells nothing of a product."""
    for error in refusals:
        if isinstance(error, CredentialsRejected):
            raise error
    for error in refusals:
        if isinstance(error, ProductNotInContract):
            return Finding(code, Verdict.MISSING, error.detail)
    if all(isinstance(error, PickupPointRejected) for error in refusals):
        return Finding(code, Verdict.OPEN, "the carrier refused only the sample's pickup point")
    return Finding(code, Verdict.OPEN, f"the carrier refused the sample: {refusals[0]}")


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
