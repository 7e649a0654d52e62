"""beta's check of a contract: its label requests of samples, validated only, one for each product."""

from collections.abc import Callable
from typing import Any, Final

from carriers.beta import messages
from carriers.errors import CredentialsRejected, PickupPointRejected, ProductNotInContract, Rejected
from carriers.products import PRODUCTS
from carriers.shipment import Package, PickupPoint, Shipment
from carriers.trials import SAMPLE_CUSTOMS, SAMPLE_WEIGHT_KG, SAMPLES, Finding, Terms, Verdict

OPERATION: Final = "checkGenerateLabel"

_SAMPLE_POINT: Final = "000000"


def finding(code: str, terms: Terms, validate: Callable[[messages.Json, Shipment], Any]) -> Finding:
    """Return the carrier's answer about a product; `validate` raises the refusal of a sample."""
    product, origin, override = PRODUCTS[code], terms.sender.country_code, terms.products[code]
    served = (to for to in SAMPLES if product.route(origin, to.country_code, SAMPLE_WEIGHT_KG, override))
    recipient = next(served, None)
    if recipient is None:
        return Finding(code, Verdict.OPEN, "not asked: the product goes nowhere from the shop's sender address")
    sample = Shipment(
        id="CONTRACTCHECK",
        product_code=code,
        sender=terms.sender,
        recipient=recipient,
        packages=(Package(SAMPLE_WEIGHT_KG),),
        pickup_point_code=_SAMPLE_POINT if product.needs_pickup_point else "",
        commercial_name=terms.commercial_name,
        customs=SAMPLE_CUSTOMS,
        override=override,
    )
    # It does not exist, and is at the recipient's address: of a sample's request nothing else is wrong.
    point = PickupPoint(
        code=_SAMPLE_POINT,
        name="Sample point",
        address1=recipient.address1,
        zip_code=recipient.zip_code,
        city=recipient.city,
        country_code=recipient.country_code,
    )
    try:
        (body,) = messages.bodies(sample, point)
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
