"""beta's pickup point service: searches the points of a place, looks one up by its code.

The page names 101, 102, 201 and 202 (credentials), 124 (the id, or a network that is missing), 146, 203, 300 and 301
(nothing there) and 1000; which field each of the others belongs to is a choice.
"""

import re
import uuid
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, time
from typing import Any

from carriers.sandbox.beta import accounts
from carriers.sandbox.beta.answers import CodeError
from carriers.sandbox.beta.tables import RULES
from carriers.sandbox.data import FRANCE, PARIS, Rule, broken, content, error_texts, filled
from carriers.sandbox.faults import Operation
from carriers.sandbox.http import MalformedError, Request, Response, json_response, read_request
from carriers.sandbox.pickup_points import POINTS, PickupPoint, near, point_of
from carriers.sandbox.state import State

SEARCH, LOOK_UP = "findRDVPointRetraitAcheminement", "findPointRetraitAcheminementByID"
MISSING_ACCOUNT, MISSING_PASSWORD = 101, 102
WRONG_ID, NO_JSON, NO_POINT, NOT_SERVED, SYSTEM = 124, 145, 300, 203, 1000
MESSAGES = error_texts("beta points")
CREDENTIALS = ("accountNumber", "password", "apiKey", "codTiersPourPartenaire")
POINT = content("beta/point.json")  # of an answer
MOST_POINTS = 20
MAGIC_ID = re.compile(r"99(\d{4})")  # an id that asks for an error: 990124 is error 124
# The kinds that each value of filterRelay keeps, one of a broken record among them; of another value all.
KEPT = {
    "0": ("post_office", "carrier_site"),
    "2": ("relay", "locker"),
    "3": ("relay",),
    **dict.fromkeys(("5", "10"), ("post_office", "carrier_site", "relay", "")),
}

Fields = dict[str, str]
NO_SPAN = "00:00-00:00"
FRENCH_TYPES = {"post_office": "BPR", "carrier_site": "ACP", "relay": "A2P", "locker": "A2P"}
EUROPEAN_TYPES = {"post_office": "BDP", "carrier_site": "BDP", "relay": "CMT", "locker": "PCS"}


def answer_points(state: State, request: Request) -> Response:
    operation, rules = request.operation, RULES[request.operation]
    names = (*CREDENTIALS, *(rule.field for rule in rules))
    try:
        body = read_request(request, dict.fromkeys(names, "any"))
        fields = {name: str(body.get(name, "")).strip() for name in names}
        _validate(fields, rules)
        find = _found if operation == SEARCH else _looked_up
        asked = Operation("beta", operation, fields.get("id") or fields.get("city", ""))
        # Shapes of the label service's errors are a failure here.
        return state.perform(
            asked,
            lambda _: _answer(operation, 0, "Code retour OK", find(fields)),
            lambda name: _refused(operation, int(name) if name.isdigit() else SYSTEM),
        )
    except MalformedError:
        return _refused(operation, NO_JSON)
    except CodeError as error:
        return _refused(operation, error.code)


def _validate(fields: Fields, rules: Iterable[Rule]) -> None:
    """Accept any account with a password, or an API key, except those that end in 30000, 30007, 30008 and 30009."""
    name = fields["apiKey"] or fields["accountNumber"]
    if not name:
        raise CodeError(MISSING_ACCOUNT)
    if not (fields["apiKey"] or fields["password"]):
        raise CodeError(MISSING_PASSWORD)
    accounts.check(name)
    if accounts.is_number_missing(name, fields["codTiersPourPartenaire"]):
        raise CodeError(accounts.NOT_ALLOWED_HERE)
    for code, _ in broken(rules, fields):
        raise CodeError(code)


def _found(fields: Fields) -> list[dict[str, Any]]:
    country = fields["countryCode"]
    if (fields["optionInter"] == "1") == (country == "FR"):
        raise CodeError(144)
    if not any(point.country == country for point in POINTS if point.carrier == "beta"):
        raise CodeError(NOT_SERVED)
    kept = KEPT.get(fields["filterRelay"])
    found = [
        point_json(point, distance_m)
        for point, distance_m in near("beta", country, fields["zipCode"], fields["city"])
        if point.is_active and (kept is None or point.kind in kept)
    ]
    if not found:
        raise CodeError(NO_POINT)
    return found[:MOST_POINTS]


def _looked_up(fields: Fields) -> list[dict[str, Any]]:
    magic = MAGIC_ID.fullmatch(fields["id"])
    if magic and int(magic[1]) in MESSAGES:
        raise CodeError(int(magic[1]))
    point = point_of("beta", fields["id"])
    network = fields["reseau"]
    if point is None or network not in ("", point.network) or (not network and point.country not in FRANCE):
        raise CodeError(WRONG_ID)
    if not point.is_active:
        raise CodeError(NO_POINT)
    return [point_json(point, -1)]


def _answer(operation: str, code: int, message: str, found: list[dict[str, Any]]) -> Response:
    points: dict[str, dict[str, Any]] = {
        SEARCH: {"listePointRetraitAcheminement": found, "rdv": False},
        LOOK_UP: {"pointRetraitAcheminement": found[0] if found else None},
    }
    quality = 2 if operation == SEARCH else 0
    head = {"errorCode": code, "errorMessage": message, "qualiteReponse": quality, "wsRequestId": str(uuid.uuid4())}
    return json_response({**head, **points[operation]})


def _refused(operation: str, code: int) -> Response:
    return _answer(operation, code, MESSAGES.get(code, "undocumented error"), [])


def type_of(point: PickupPoint) -> str:
    return (FRENCH_TYPES if point.country in FRANCE else EUROPEAN_TYPES).get(point.kind, "")


def point_json(point: PickupPoint, distance_m: int) -> Any:
    first, last = point.season or (None, None)
    facts = {
        "distance_m": distance_m,
        "is_on_holiday": point.status == "holiday",
        "is_holiday_near": point.status == "holiday_later",
        "holidays": _holidays(point),
        "season_first": first,
        "season_last": last,
        "max_weight_g": point.max_weight_kg * 1000,
        "type": type_of(point),
    }
    days = {f"day_{day}": _spans(point, day) for day in range(1, 8)}
    return filled(POINT, asdict(point) | facts | days)


def _spans(point: PickupPoint, day: int) -> str:
    """Write a day's two spans; NO_SPAN is none."""
    spans = ("00:00-23:59",) if point.is_locker else point.hours.get(day, ())
    return " ".join((*spans, NO_SPAN, NO_SPAN)[:2])


def _holidays(point: PickupPoint) -> list[dict[str, Any]]:
    if point.holiday is None:
        return []
    ends = (int(datetime.combine(day, time(), PARIS).timestamp() * 1000) for day in point.holiday)
    return [{"numero": 1, **dict(zip(("calendarDeDebut", "calendarDeFin"), ends, strict=True))}]
