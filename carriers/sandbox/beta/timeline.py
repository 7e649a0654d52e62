"""beta's timeline service: a parcel's steps and events, for its own contract."""

import re
import time
from dataclasses import asdict
from typing import Any

from carriers.sandbox.beta import accounts
from carriers.sandbox.beta.answers import CodeError
from carriers.sandbox.data import content, error_texts, filled, rows
from carriers.sandbox.faults import Fault, Operation
from carriers.sandbox.http import MalformedError, Request, Response, json_response, read_request
from carriers.sandbox.journeys import LANGUAGES, PARTNER, TEXTS
from carriers.sandbox.parcel import Happening, Purchase, Way
from carriers.sandbox.state import State

TIMELINE = "timelineCompany"
FOUND, MALFORMED, TOO_OLD, FOREIGN, UNKNOWN, FAILURE = 0, 101, 103, 104, 105, 1000
MESSAGES = error_texts("beta tracking")
NUMBER = re.compile(r"[A-Z0-9]{11,35}", re.ASCII)
MAGIC_NUMBER = re.compile(r"6A9999999(\d{4})", re.ASCII)  # a number that asks for an error: 6A99999990105 is error 105
OLDEST_S = 90 * 24 * 3600.0
FIELDS = ("parcelNumber", "lang", "ip", "login", "password", "apiKey")
FAILURE_STATUS = 500
PARCEL = content("beta/parcel.json")  # of an answer

Fields = dict[str, str]
# The step that an event reaches; all others leave it where it is.
REACHED = {row["event"]: int(row["step"]) for row in rows("beta/steps.csv")}
STEPS = ("Annoncé", "Pris en charge", "En cours d'acheminement", "Arrivé", "En cours de livraison", "Livré")
PARTNERS = "P"  # before a parcel's number: the partner's reference
ACTIVE, INACTIVE, DISABLED = "STEP_STATUS_ACTIVE", "STEP_STATUS_INACTIVE", "STEP_STATUS_DISABLED"
SITES: tuple[dict[str, Any], ...] = (
    {"siteCode": "690070", "siteName": "SANDBOX LYON", "siteZipCode": "69007"},
    {"siteCode": "692690", "siteName": "SANDBOX PLATEFORME", "siteZipCode": 69125},  # a number here, as recorded
)


def answer_timeline(state: State, request: Request) -> Response:
    try:
        fields = dict.fromkeys(FIELDS, "") | read_request(request, dict.fromkeys(FIELDS, "text"))
        accounts.check(accounts.name_of(fields))
        # The account's number may come along with an API key.
        names = accounts.account_names(fields["login"], fields["apiKey"], fields["login"])
        number, language = fields["parcelNumber"], fields["lang"]
        purchase = _purchase(state, number)

        def tell(_: Fault) -> Response:
            parcel = _visible(purchase, number, language, names)
            return _answer(FOUND, parcel_json(parcel, state.ledger.way(parcel), language), language)

        return state.perform(Operation("beta", TIMELINE, purchase.reference if purchase else ""), tell, _refused)
    except MalformedError:
        return _refused(str(MALFORMED))
    except CodeError as error:
        return _refused(str(error.code))


def _purchase(state: State, number: str) -> Purchase | None:
    """Find a parcel by its own number or by its partner's reference."""
    found = state.ledger.purchase("beta", number.removeprefix(PARTNERS))
    return found if found and number in (found.tracking_number, partner_reference(found)) else None


def _visible(purchase: Purchase | None, number: str, language: str, names: list[str]) -> Purchase:
    """Return the parcel if the contract may see it; CodeError if not."""
    if language not in LANGUAGES or not NUMBER.fullmatch(number):
        raise CodeError(MALFORMED)
    if (magic := MAGIC_NUMBER.fullmatch(number)) and int(magic[1]) in MESSAGES:
        raise CodeError(int(magic[1]))
    if purchase is None or purchase.findable_at_s > time.time():
        raise CodeError(UNKNOWN)
    if purchase.account not in ("", *names):
        raise CodeError(FOREIGN)
    if time.time() - purchase.made_at_s > OLDEST_S:
        raise CodeError(TOO_OLD)
    return purchase


def _answer(code: int, parcel: dict[str, Any] | None, language: str = "fr_FR", status: int = 200) -> Response:
    said = MESSAGES.get(code, "undocumented error")
    return json_response({"lang": language, "status": [{"code": str(code), "message": said}], "parcel": parcel}, status)


def _refused(code: str) -> Response:
    """Return the refusal for an error code; shapes of the label service's errors are a failure here."""
    return _answer(int(code), None) if code.isdigit() else _answer(FAILURE, None, status=FAILURE_STATUS)


def partner_reference(parcel: Purchase) -> str | None:
    """Return the number that the partner abroad knows the parcel by, None for one that stays at home."""
    return f"{PARTNERS}{parcel.tracking_number}" if parcel.journey == PARTNER else None


def parcel_json(parcel: Purchase, way: Way, language: str) -> Any:
    """Return the parcel's block, personal data in it as the carrier adds them."""
    events = [_event(rank, happening, language) for rank, happening in enumerate(way.happened)]
    reference = partner_reference(parcel)
    facts = {
        "steps": _steps(way.happened),
        # One event comes as an object, several in no order.
        "events": events[0] if len(events) == 1 else [*events[1::2], *events[::2]],
        "partner": "SANDBOX PARTNER" if reference else None,
        "partner_reference": reference,
    }
    return filled(PARCEL, asdict(parcel) | facts)


def _event(rank: int, happening: Happening, language: str) -> dict[str, Any]:
    text = TEXTS[happening.step.event][language]
    site = SITES[rank % 2] if rank else {}
    return {"date": _local(happening), "code": happening.step.codes["beta"], "labelLong": text, **site}


def _steps(happened: list[Happening]) -> list[dict[str, Any]]:
    at = {REACHED[one.step.event]: _local(one) for one in happened if one.step.event in REACHED}
    highest = max(at, default=-1)
    statuses = [ACTIVE] * (highest + 1) + [INACTIVE] * (len(STEPS) - 2 - highest) + [DISABLED]
    return [
        {"stepId": id_, "labelShort": label, "status": statuses[id_], **({"date": at[id_]} if id_ in at else {})}
        for id_, label in enumerate(STEPS)
    ]


def _local(happening: Happening) -> str:
    """Return the local time of Paris, without an offset."""
    return happening.at.replace(tzinfo=None).isoformat(timespec="milliseconds")
