"""The check of an order: everything that judges a purchase judges it, in the same order, and the carrier is asked."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from rest_framework.exceptions import ValidationError

from carriers.client import Service
from carriers.customs import needs_customs
from carriers.errors import CarrierUnavailable, CredentialsRejected, Rejected
from carriers.order_trials import Stage, Trial, destination
from carriers.shipment import Shipment
from labels.order_rules import facts_in
from labels.orders import check_customs, check_product, completed, credentials_on, new_label, shipment
from labels.serializers import read_order
from shops.api.errors.exceptions import ApiError, CarrierFailedError
from shops.api.field_faults import faults
from shops.contracts.bulkhead import BulkheadFullError
from shops.contracts.clients import client
from shops.contracts.conversation import conversation
from shops.contracts.models import CarrierContract

CHECKED_ID: Final = "CHECK"  # the reference of a shipment that is not bought: the carrier sees equal orders as equal


@dataclass(frozen=True)
class Problem:
    """A reason to refuse the order; `code` is that of the purchase's answer, `field` a JSON path."""

    stage: Stage
    message: str
    code: str | None = None
    field: str | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer to a check."""

    problems: list[Problem]
    checked: list[Stage]
    is_customs_required: bool
    delivery_day: date | None = None


def check(*, shop_id: str, body: dict[str, Any], sender_address: dict[str, str] | None) -> Verdict:
    """Judge an order, whatever is wrong with it."""
    is_customs_required = facts_in(body, sender_address).crosses_border is True
    checked = [Stage.SERVICE]
    try:
        order = completed(read_order(body, sender_address=sender_address), sender_address)
    except ValidationError as error:
        problems = [Problem(Stage.SERVICE, text, field=path or None) for path, text in faults(error.detail)]
        return Verdict(problems, checked, is_customs_required)
    checked.append(Stage.CONTRACT)
    try:
        contract = CarrierContract.find(shop_id=shop_id, carrier_code=order["carrier_code"])
        trial, ordered = judged(check_product(contract, order), order)
    except CredentialsRejected as error:
        return Verdict([problem_of(Stage.CONTRACT, error)], checked, is_customs_required)
    except Rejected as error:
        return Verdict([problem_of(Stage.SERVICE, each) for each in error.each], checked, is_customs_required)
    except ApiError as error:
        lacking = Problem(Stage.CONTRACT, str(error.detail), error.public_code, "productCode")
        return Verdict([lacking], checked, is_customs_required)
    refused = list(problems_of_trial(trial))
    goes_to = destination(ordered, trial.point)
    return Verdict(refused, [*checked, *trial.asked], needs_customs(ordered.sender, goes_to), trial.delivery_day)


def judged(contract: CarrierContract, order: dict[str, Any]) -> tuple[Trial, Shipment]:
    """Judge the shipment of an order; raise Rejected where it can't be sent at all."""
    credentials = credentials_on(contract, order["product_code"])
    label = new_label(contract=contract, order=order, key=None, token_id="")
    ordered, trial = replace(shipment(label, contract), id=CHECKED_ID), Trial()
    check_customs(contract.carrier_code, ordered)
    client(contract.carrier_code, is_test=contract.is_test).check_shipment(ordered, credentials)
    with (
        suppress(BulkheadFullError, CarrierUnavailable),
        conversation(contract, credentials, Service.CONTRACT_CHECKS) as talk,
    ):
        talk.carrier.try_order(ordered, credentials, trial)
    return trial, ordered


def problems_of_trial(trial: Trial) -> Iterator[Problem]:
    """Yield all that the answer which ended the trial refuses."""
    if trial.refused_by and trial.refusal:
        for error in trial.refusal.each:
            yield problem_of(trial.refused_by, error)


def problem_of(stage: Stage, error: Rejected) -> Problem:
    refused = CarrierFailedError(error)
    return Problem(stage, str(refused.detail), refused.public_code, error.field or None)


def as_json(verdict: Verdict) -> dict[str, Any]:
    day = verdict.delivery_day.isoformat() if verdict.delivery_day else None
    return {
        "ok": not verdict.problems,
        "problems": [
            {"code": each.code, "field": each.field, "message": each.message, "from": each.stage.value}
            for each in verdict.problems
        ],
        "customsRequired": verdict.is_customs_required,
        "delivery": {"earliest": day, "latest": day} if day else None,
        "checked": [stage.value for stage in verdict.checked],
    }
