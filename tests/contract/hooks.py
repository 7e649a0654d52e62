"""Schemathesis hooks: fill requests with existing data, count the answers, and accept refusals by rule."""

import atexit
import json
import os
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response
from schemathesis.core.failures import Failure
from schemathesis.generation.meta import TestPhase

from carriers.order_table import ORDER_FIELDS

DATA: dict[str, Any] = json.loads(Path(os.environ["CONTRACT_DATA"]).read_text())
TALLY = Path(os.environ["CONTRACT_TALLY"])
ORDERS: list[dict[str, Any]] = DATA["orders"]
SEARCHES: list[dict[str, Any]] = [
    {"productCode": "relais", "zip": "69002", "city": "Lyon", "weight": 1.2},
    {"productCode": "beta_point_retrait_france", "zip": "75011", "city": "Paris", "address1": "18 rue des Écoles"},
    {"productCode": "beta_point_retrait_europe", "zip": "1000", "city": "Bruxelles", "countryCode": "BE"},
]
# Labels bought so far.
labels: list[str] = [label["id"] for label in DATA["labels"][1:]]  # the first is cancelled
signed_names: list[str] = [label["labelUrl"].partition("/files/")[2] for label in DATA["labels"]]
cancelled: set[str] = set()
# Endpoints made so far, and not deleted.
webhooks: list[str] = []
# Operations that have met existing data.
filled: set[str] = set()
tally: Counter[str] = Counter()
atexit.register(lambda: TALLY.write_text(json.dumps(tally)))
# What an order's carrier has no place for, in the field table's words.
REFUSALS = "|".join(
    re.escape(case.refusal)
    for carriers in ORDER_FIELDS.values()
    for cases in carriers.values()
    for case in cases
    if case.refusal
)
# Rules between fields and rules of meaning, which JSON Schema cannot express or generators do not read.
RULES = re.compile(
    r"^([\w.\[\]]+: ("
    r"is a product of (alpha|beta), not of (alpha|beta), which has [\w, -]+\."
    r"|is required for \w+\."
    r"|must be a pickup point code of (alpha|beta): .*?\."
    r"|must have 1 to 4 elements for beta\."
    r"|must have at most (15|35) characters for (alpha|beta)\."
    r"|must be above 0 and at most 20 kilograms for \w+\."
    r"|must not weigh more than the parcels\."
    r"|must be the index of a parcel, from 0 to [0-9]+\."
    r"|is required, as other items name their parcel\."
    r"|\w+ does not go (from [A-Z]{2} )?to [A-Z]{2}(; search with a product that does)?\."
    r"|must be a number that exists for \w+\."
    r"|must have at most two decimals\."  # validators that divide binary fractions by 0.01 refuse 19.99
    r"|must be a phone number\.( Write [\w +]+\.)?"
    r"|must be an e-mail address( of ASCII characters at a domain name)?\."
    r"|must not contain a NUL character\."
    rf"|{REFUSALS}"
    r"|(the name )?[!-~]* has (no address|an address that is not public)\."
    r"|needs (https://|a host name.*?|port 443.*?|at most 500 printable.*?)\."
    r"|may (hold no user name and no password|have no fragment)\.|is no valid URL\."
    r"|is required, or eventIds, and not both\."
    r"|is no `next` of an answer to this shop\. .*? to begin\."
    r"|must be ISO 8601 with an offset, .*? or a day, YYYY-MM-DD, from 1000 to 2999\."  # months have ends
    r"|is (altered, or was made for other filters|older than a day)\. .*? without it\."
    r"|must not be empty\."  # Python strips more kinds of spaces than a pattern knows
    r") ?)+$"
)
SEARCH_NEEDS_ONE = "One of the query parameters orderName and email must be provided."


def draw(case: Case[Any]) -> random.Random:
    """Seed choices with the generated case, so that a run can be repeated."""
    return random.Random(repr((case.path_parameters, case.query, case.body)))


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Allow no field in an answer that is not described: shops have to expect new ones, but all are to be told.

    An answer's schema requires all fields; an error may have no code.
    """
    for name, schema in raw_schema["components"]["schemas"].items():
        if name == "Error" or schema.get("required") == list(schema.get("properties", ())):
            schema["additionalProperties"] = False


@schemathesis.hook
def map_case(context: HookContext, case: Case[Any]) -> Case[Any]:
    """Put existing data into each operation's first valid case and half of the others, except in boundary tests."""
    if case.meta is None or case.meta.generation.mode.is_negative:
        return case
    choice = draw(case)
    if "Idempotency-Key" in case.headers:  # the example's own would meet ever different bodies
        case.headers["Idempotency-Key"] = f"{choice.getrandbits(64):x}"
    is_first = case.operation.label not in filled
    if case.meta.phase.name != TestPhase.COVERAGE and (is_first or choice.random() < 0.5):
        filled.add(case.operation.label)
        fill(case, choice)
        fill_webhook(case, choice)
    return case


def fill_webhook(case: Case[Any], choice: random.Random) -> None:
    path = case.operation.path
    if path.endswith("/webhooks") and case.method == "POST":
        case.body = {"url": f"http://127.0.0.1:8009/{choice.random()}"}
    if path.endswith("/replay"):
        case.body = {"since": "2026-11-21"}
    if "webhookId" in case.path_parameters and webhooks and case.method != "DELETE":
        case.path_parameters["webhookId"] = choice.choice(webhooks)


def fill(case: Case[Any], choice: random.Random) -> None:
    match case.operation.path.rpartition("/")[2]:
        case "{trackingNumber}":
            case.path_parameters["trackingNumber"] = choice.choice(DATA["numbers"])
        case "search":
            names = choice.sample(["orderName", "email"], choice.randint(1, 2))
            case.query |= {name: value for name, value in choice.choice(DATA["parcels"]).items() if name in names}
        case "pickup-points":
            case.query = choice.choice(SEARCHES) | {"limit": choice.randint(1, 25)}
        case "shipments" if case.method == "GET":
            label = choice.choice(DATA["labels"])
            names = choice.sample(["orderId", "carrierCode", "trackingNumber"], choice.randint(0, 2))
            case.query |= {name: label[name] for name in names}
            case.query.pop("cursor", None)
        case "shipments" | "check":
            number = choice.randrange(len(ORDERS))
            case.body = ORDERS[number]
            if choice.random() < 0.3:
                case.headers["Idempotency-Key"] = f"again-{number}"
        case "{labelId}":
            case.path_parameters["labelId"] = choice.choice(labels)
        case "cancel":
            case.path_parameters["labelId"] = DATA["labels"][0]["id"]
        case "{signedName}":
            case.path_parameters["signedName"] = choice.choice(signed_names)


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    """Count the answer, and remember a label that it creates."""
    tally[f"{case.method} {case.operation.path} {response.status_code}"] += 1
    webhook_id = case.path_parameters.get("webhookId")
    if response.status_code == 204 and webhook_id in webhooks:
        webhooks.remove(webhook_id)
    if response.status_code == 201:
        body = response.json()
        if case.operation.path.endswith("webhooks"):
            webhooks.append(body["id"])
            return
        labels.append(body["id"])
        signed_names.append(body["labelUrl"].partition("/files/")[2])
        tally["replayed"] += "idempotent-replayed" in response.headers
    if case.operation.path.endswith("/cancel") and response.status_code == 200:
        cancelled.add(response.json()["id"])


@schemathesis.hook
def filter_failure(context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
    """Drop failures that are right for this API.

    A valid request may break a rule that the description states in words only. Where the Authorization header is
    missing, schemathesis expects a 401; the parcel endpoints answer 403.
    """
    match type(failure).__name__:
        case "EnsureResourceAvailability":
            return case.path_parameters.get("labelId") not in cancelled
        case "RejectedPositiveData":
            return not is_rule(response)
        case "AcceptedNegativeData":  # a check answers what is wrong with an order
            return not case.operation.path.endswith("/check")
        case "MissingHeaderNotRejected":
            return response.status_code != 403 or "parcels" not in case.operation.tags
    return True


def is_rule(response: Response) -> bool:
    """Tell a refusal by rule from one by mistake."""
    body = response.json()
    has_code = body.get("code", "").endswith(("_REJECTED", "IDEMPOTENCY_KEY_REUSED"))
    return has_code or body["message"].startswith(SEARCH_NEEDS_ONE) or bool(RULES.match(body["message"]))


@schemathesis.check
def every_code_is_described(ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that an error's code is among the examples of its status, which name all codes."""
    if response.status_code < 400 or case.method == "HEAD":
        return
    code = response.json().get("code")
    described = case.operation.definition.raw["responses"][str(response.status_code)]
    examples = described["content"]["application/json"]["examples"]
    assert code is None or code in examples, f"{code} is not described for {response.status_code}"
