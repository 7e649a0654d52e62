"""The events of a parcel as alpha's tracking service writes them."""

from datetime import timedelta

from carriers.sandbox.alpha.soap import Elements
from carriers.sandbox.journeys import TEXTS
from carriers.sandbox.travel import Happening, Way

FRENCH = "fr_FR"  # of the search, which takes any language
APPOINTMENT = timedelta(hours=2)
MINUTE, DAY = "%d/%m/%Y %H:%M", "%d/%m/%Y"
# The events that are the parcel's state for good.
FINAL = ("delivered", "collected", "back at the sender")


def events(way: Way, language: str) -> Elements:
    """Return the events of `trackSkybillV2`, oldest first, with personal details as the carrier adds them."""
    return [
        ("events", [*_head(happening, language), *_tail(happening), *_details(way, happening)])
        for happening in way.happened
    ]


def short_events(way: Way, language: str) -> Elements:
    """Return the events of a search, of fewer fields."""
    shown = language if language in TEXTS["announced"] else FRENCH
    return [("events", _head(happening, shown)) for happening in way.happened]


def is_taken_in_charge(way: Way) -> bool:
    """Return true for a parcel that is more than announced."""
    return len(way.happened) > 1


def _head(happening: Happening, language: str) -> Elements:
    return [
        ("code", happening.step.codes["alpha"]),
        ("eventDate", happening.at.isoformat(timespec="milliseconds")),
        ("eventLabel", TEXTS[happening.step.event][language]),
    ]


def _tail(happening: Happening) -> Elements:
    is_final = happening.step.event in FINAL
    office, zip_code = ("Web Services", "") if happening.step.event == "announced" else ("SANDBOX LYON", "69007")
    return [
        ("highPriority", str(is_final).lower()),
        ("NPC", "M"),
        ("officeLabel", office),
        ("zipCode", zip_code),
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
