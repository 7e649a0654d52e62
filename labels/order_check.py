"""The check of an order: all that judges a purchase judges it, in the same order; nothing is bought or written."""

from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from rest_framework.exceptions import ValidationError

from carriers.client import Service
from carriers.customs import needs_customs
from carriers.errors import CarrierUnavailable, CredentialsRejected, Rejected
from carriers.itinerary import destination
from carriers.shipment import Shipment
from carriers.trials import Stage, Trial
from labels.order_rules import facts_in
from labels.orders import check_product, completed, credentials_on, new_label, shipment
from labels.serializers import read_order
from shops.api.errors.coded import CarrierFailedError
from shops.api.errors.exceptions import ApiError
from shops.api.field_faults import faults
from shops.contracts.bulkhead import BulkheadFullError
from shops.contracts.clients import client
from shops.contracts.conversation import conversation
from shops.contracts.models import CarrierContract

CHECKED_ID: Final = "CHECK"  # the reference of a shipment that is not bought: the carrier sees equal orders as equal


def check(*, shop_id: str, body: dict[str, Any], sender_address: dict[str, str] | None) -> dict[str, Any]:
    """Judge an order, whatever is wrong with it; return the answer."""
    trial, problems = Trial([Stage.SERVICE]), list[dict[str, Any]]()
    ordered: Shipment | None = None
    try:
        order = completed(read_order(body, sender_address=sender_address), sender_address)
        trial.asked.append(Stage.CONTRACT)
        contract = CarrierContract.find(shop_id=shop_id, carrier_code=order["carrier_code"])
        ordered = judged(check_product(contract, order["product_code"]), order, trial)
        if trial.refused_by and trial.refusal:
            problems = [refused(trial.refused_by, each) for each in trial.refusal.each]
    except ValidationError as error:
        problems = [problem(Stage.SERVICE, text, field=path or None) for path, text in faults(error.detail)]
    except CredentialsRejected as error:
        problems = [refused(Stage.CONTRACT, error)]
    except Rejected as error:
        problems = [refused(Stage.SERVICE, each) for each in error.each]
    except ApiError as error:
        problems = [problem(Stage.CONTRACT, str(error.detail), code=error.public_code, field="productCode")]
    if ordered:
        is_customs_required = needs_customs(ordered.sender, destination(ordered, trial.point))
    else:
        is_customs_required = facts_in(body, sender_address).crosses_border is True
    day = trial.delivery_day.isoformat() if trial.delivery_day else None
    return {
        "ok": not problems,
        "problems": problems,
        "customsRequired": is_customs_required,
        "delivery": {"earliest": day, "latest": day} if day else None,
        "checked": [stage.value for stage in trial.asked],
    }


def judged(contract: CarrierContract, order: dict[str, Any], trial: Trial) -> Shipment:
    """Judge the shipment of an order, and return it; raise Rejected where it can't be sent at all."""
    credentials = credentials_on(contract, order["product_code"])
    label = new_label(contract=contract, order=order, key=None, token_id="")
    ordered = replace(shipment(label, contract), id=CHECKED_ID)
    client(contract.carrier_code, is_test=contract.is_test).check_shipment(ordered, credentials)
    with (
        suppress(BulkheadFullError, CarrierUnavailable),
        conversation(contract, credentials, Service.CONTRACT_CHECKS) as talk,
    ):
        talk.carrier.try_order(ordered, credentials, trial)
    return ordered


def refused(stage: Stage, error: Rejected) -> dict[str, Any]:
    """Return a refusal as a problem of its own, apart from others of the same answer."""
    refusal = CarrierFailedError(error)
    return problem(stage, str(refusal.detail), code=refusal.public_code, field=error.field or None)


def problem(stage: Stage, message: str, *, code: str | None = None, field: str | None = None) -> dict[str, Any]:
    """Return a reason to refuse the order; `code` is that of the purchase's answer, `field` a JSON path."""
    return {"code": code, "field": field, "message": message, "from": stage.value}
