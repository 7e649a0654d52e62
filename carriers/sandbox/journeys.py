"""The journeys that parcels travel, as data."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from carriers.sandbox.data import rows

HOUR_S = 3600.0
REAL_TIME = 1.0
# 20 minutes of journey a second: a parcel is handed in after 18 s and delivered after two minutes.
DEFAULT_PACE = 1200.0
PACE_NAME = "SANDBOX_PACE"
HOME, RELAY, PARTNER, UNSENT = "home", "relay", "partner", "unsent"

# Other words may stand before it.
_MAGIC = re.compile(r"(?:.* )?JOURNEY ([A-Z0-9]+)")


@dataclass(frozen=True)
class Step:
    """One step of a journey; a carrier without a code for it reports nothing."""

    offset_s: float
    event: str
    codes: Mapping[str, str]  # by carrier


def _read_journeys() -> dict[str, list[Step]]:
    journeys: dict[str, list[Step]] = defaultdict(list)
    for row in rows("journeys.csv"):
        codes = {carrier: row[carrier] for carrier in ("alpha", "beta")}
        journeys[row["journey"]].append(Step(float(row["hours"]) * HOUR_S, row["event"], codes))
    return dict(journeys)


JOURNEYS = _read_journeys()
TEXTS = {row.pop("event"): row for row in rows("event_texts.csv")}  # by event and language
LANGUAGES = tuple(TEXTS["announced"])


def pace_of(text: str) -> float:
    """Return the pace that a setting or an option asks for, the default for an empty one; ValueError if it is none."""
    pace = float(text or DEFAULT_PACE)
    if not 0 < pace < math.inf:
        raise ValueError("a pace is above 0")
    return pace


def steps(journey: str, carrier: str) -> list[Step]:
    return [step for step in JOURNEYS[journey] if step.codes[carrier]]


def asked_for(text: str) -> str | None:
    """Return the journey that a magic reference names, whether there is such a one or not."""
    match = _MAGIC.fullmatch(" ".join(text.upper().split()))
    return match[1].lower() if match else None
