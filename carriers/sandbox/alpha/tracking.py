"""alpha's tracking service: finds parcels by reference, cancels a parcel, lists its events, proves its delivery."""

import base64
import time
from datetime import timedelta

from reportlab.lib.pagesizes import A4

from carriers.sandbox.alpha import service, soap, tables
from carriers.sandbox.alpha.soap import Elements
from carriers.sandbox.alpha.validation import validate_credentials
from carriers.sandbox.faults import Fault
from carriers.sandbox.http import Response
from carriers.sandbox.journeys import LANGUAGES, TEXTS
from carriers.sandbox.papers import NOTICE, REGULAR, Page
from carriers.sandbox.parcel import Happening, Purchase, Way
from carriers.sandbox.state import State

MOST_FOUND = 10
DELIVERED = ("delivered", "collected")
SEARCH, CANCEL, TRACK, PROVE = "trackWithSenderRef", "cancelSkybill", "trackSkybillV2", "searchPOD"
SYSTEM_ERROR, UNKNOWN, COLLECTED = 1, 2, 3
FRENCH = "fr_FR"  # of the search, which takes any language
APPOINTMENT = timedelta(hours=8)  # as long as a round takes: no journey's parcel is delivered later
MINUTE, DAY = "%d/%m/%Y %H:%M", "%d/%m/%Y"
# The events that are the parcel's state for good.
FINAL = ("delivered", "collected", "back at the sender")


def _search(state: State, message: soap.Message) -> Response:
    fields = _fields(message)

    reference, language = fields["sendersRef"], fields["language"]

    def search(_: Fault) -> Response:
        found = _visible(state, message, reference, fields["accountNumber"])[:MOST_FOUND]
        return service.succeeded(message, [("listParcel", _parcel(state, row, language)) for row in found])

    return service.perform(state, message, search, reference)


def _cancel(state: State, message: soap.Message) -> Response:
    fields = _fields(message)
    number = fields["skybillNumber"]
    purchase = state.ledger.purchase("alpha", number)
    reference = purchase.reference if purchase else ""

    def cancel(_: Fault) -> Response:
        if not purchase or purchase not in _visible(state, message, reference, fields["accountNumber"]):
            return _not_cancelled(message, UNKNOWN)
        if purchase.key in state.ledger.collected or len(state.ledger.way(purchase).happened) > 1:
            return _not_cancelled(message, COLLECTED)
        state.ledger.cancelled.add(purchase.key)
        # A success has no message here.
        return soap.response(message, [("errorCode", "0"), ("statusCode", "0")])

    return service.perform(state, message, cancel, reference)


def _not_cancelled(message: soap.Message, code: int) -> Response:
    text = tables.TRACKING_MESSAGES[code]
    return soap.response(message, [("errorCode", str(code)), ("errorMessage", text), ("statusCode", "0")])


def _visible(state: State, message: soap.Message, reference: str, account: str) -> list[Purchase]:
    """Return an account's parcels that are not cancelled and known by now; the fault `unfound` makes that slower."""
    unfound, now = state.faults.pick_named("unfound", message.operation), time.time()
    age_s = unfound.delay_s if unfound else 0
    return [
        row
        for row in state.ledger.find(carrier="alpha", reference=reference)
        if row.account == account
        and row.key not in state.ledger.cancelled
        and max(row.findable_at_s, row.made_at_s + age_s) <= now
    ]


def _track(state: State, message: soap.Message) -> Response:
    """List a parcel's events, none for a number that is unknown; no credentials are needed."""
    fields = message.fields()
    language, number = fields["language"], fields["skybillNumber"]
    soap.require(language in LANGUAGES and number, SYSTEM_ERROR)
    purchase = state.ledger.purchase("alpha", number)

    def track(_: Fault) -> Response:
        is_known = purchase is not None and purchase.findable_at_s <= time.time()
        listed = events(state.ledger.way(purchase), language) if purchase and is_known else []
        return service.succeeded(message, [("listEventInfoComp", [*listed, ("skybillNumber", number)])])

    return service.perform(state, message, track, purchase.reference if purchase else "")


def _prove(state: State, message: soap.Message) -> Response:
    """Answer with a PDF of the delivery once there was one."""
    fields = _fields(message)
    number = fields["skybillNumber"]
    purchase = state.ledger.purchase("alpha", number)

    def prove(_: Fault) -> Response:
        is_theirs = purchase and purchase.account in ("", fields["accountNumber"])
        way = state.ledger.way(purchase) if purchase and is_theirs else None
        delivered = way and next((each for each in way.happened if each.step.event in DELIVERED), None)
        if not delivered:
            return service.succeeded(message, [("podPresente", "false"), ("statusCode", "0")])
        pod = base64.b64encode(proof(number, delivered)).decode()
        proven: soap.Elements = [("formatPOD", "PDF"), ("pod", pod), ("podPresente", "true"), ("statusCode", "0")]
        return service.succeeded(message, proven)

    return service.perform(state, message, prove, purchase.reference if purchase else "")


def proof(number: str, delivered: Happening) -> bytes:
    page = Page(A4, f"Proof of delivery {number}")
    lines = [NOTICE, "Preuve de livraison", number, f"{delivered.at:%d/%m/%Y %H:%M}"]
    page.lines((20, 270), lines, (REGULAR, 12), 170)
    return page.finished()


def _fields(message: soap.Message) -> dict[str, str]:
    """Return the fields of an operation for an account, of which none may be empty."""
    fields = message.fields()
    validate_credentials(fields["accountNumber"], fields["password"])
    for name, value in fields.items():
        soap.require(value, 31, name)
    return fields


def _parcel(state: State, purchase: Purchase, language: str) -> soap.Elements:
    shown = language if language in TEXTS["announced"] else FRENCH
    events = [("events", _head(happening, shown)) for happening in state.ledger.way(purchase).happened]
    return [("skybillNumber", purchase.tracking_number), *events]


def events(way: Way, language: str) -> Elements:
    """Return the events of `trackSkybillV2`, oldest first, with personal details as the carrier adds them."""
    found: Elements = []
    for happening in way.happened:
        office = ("Web Services", "") if happening.step.event == "announced" else ("SANDBOX LYON", "69007")
        is_final = str(happening.step.event in FINAL).lower()
        place: Elements = [("NPC", "M"), ("officeLabel", office[0]), ("zipCode", office[1])]
        event = [*_head(happening, language), ("highPriority", is_final), *place, *_details(way, happening)]
        found.append(("events", event))
    return found


def _head(happening: Happening, language: str) -> Elements:
    return [
        ("code", happening.step.codes["alpha"]),
        ("eventDate", happening.at.isoformat(timespec="milliseconds")),
        ("eventLabel", TEXTS[happening.step.event][language]),
    ]


def _details(way: Way, happening: Happening) -> Elements:
    """Return the dates that clients may show, and personal data, which they may not."""
    match happening.step.event:
        case "with the driver":
            start, end = happening.at, happening.at + APPOINTMENT
            return [*_detail("Début créneau RDV", f"{start:{MINUTE}}"), *_detail("Fin créneau RDV", f"{end:{MINUTE}}")]
        case "redelivery chosen":
            later = (each for each in (*way.happened, *way.ahead()) if each.at_s > happening.at_s)
            return _detail("Date de relivraison", f"{next(later, happening).at:{DAY}}")
        case event if event in FINAL:
            return [*_detail("Nom du réceptionnaire", "SANDBOX DURAND"), *_detail("Commentaire", "SANDBOX 2e étage")]
    return []


def _detail(name: str, value: str) -> Elements:
    return [("infoCompList", [("name", name), ("value", value)])]


OPERATIONS = {SEARCH: _search, CANCEL: _cancel, TRACK: _track, PROVE: _prove}
