"""The texts' tables, generated from the code's own data."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from itertools import accumulate

from django.template.loader import render_to_string
from django.utils.text import capfirst

from carriers import CARRIERS
from carriers.alpha import refusals as alpha
from carriers.beta import refusals as beta
from carriers.order_table import ORDER_FIELDS, described
from carriers.products import PRODUCTS
from carriers.refusals import Refusal
from carriers.sandbox.faults import FAULTS
from carriers.sandbox.journeys import JOURNEYS
from parcels.models import TrackingStatus
from shops.api.errors.coded import CODES
from shops.api.errors.plain import PLAIN_ERRORS
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.retries import PAUSES_S

NO_BREAK = "\N{NO-BREAK SPACE}"

REFUSALS = {"alpha": alpha.DOCUMENTED, "beta": beta.DOCUMENTED}


# By an error code's end, the magic reference at which each carrier's sandbox answers an otherwise valid order with it.
PROVOKED = {
    "PRODUCT_NOT_IN_CONTRACT": {"alpha": "FAULT CONTRACT", "beta": "FAULT CONTRACT"},
    "ADDRESS_REJECTED": {"alpha": "FAULT 38", "beta": "FAULT 30204"},
    "PICKUP_POINT_REJECTED": {"alpha": "", "beta": "FAULT 30400"},
    "REQUEST_REJECTED": {"alpha": "FAULT 33", "beta": "FAULT 30300"},
    "CREDENTIALS_REJECTED": {"alpha": "FAULT 30", "beta": "FAULT 30000"},
    "UNAVAILABLE": {"alpha": "FAULT 1", "beta": "FAULT 30701"},
    "OUTCOME_UNKNOWN": {"alpha": "FAULT RESETMADE", "beta": "FAULT RESETMADE"},
}


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def products() -> str:
    return "\n\n".join(f"**Of {carrier}**\n\n{products_of(carrier)}" for carrier in CARRIERS)


def products_of(carrier: str) -> str:
    rows = (
        (
            code(product.code),
            product.meaning,
            "yes" if product.needs_pickup_point else "no",
            f"{product.max_weight_kg} kg",
        )
        for product in PRODUCTS.values()
        if product.carrier == carrier
    )
    return table(("product code", "what it is", "pickup point", "a parcel up to"), rows)


def codes() -> str:
    """List the error codes; those that differ only in the carrier share an item."""
    groups: dict[tuple[int, str, str], list[str]] = {}
    for entry in CODES.values():
        cause = re.sub(rf"\b({'|'.join(CARRIERS)})\b", "the carrier", entry.cause)
        groups.setdefault((entry.statuses[0], capfirst(cause), entry.remedy), []).append(entry.name)
    return errors(
        {"statuses": [status], "codes": names, "cause": cause, "remedy": remedy}
        for (status, cause, remedy), names in groups.items()
    )


def errors(found: Iterable[object]) -> str:
    """Render errors as HTML, in which a name between backticks is no Markdown any more."""
    return re.sub("`(.+?)`", r"<code>\1</code>", render_to_string("docs/errors.html", {"errors": found}).strip())


def refusals(carrier: str, operation: str) -> str:
    """List the carrier's error codes of an operation; those that mean the same share a line."""
    groups: dict[Refusal, list[str]] = {}
    for carrier_code, refusal in REFUSALS[carrier][operation]:
        groups.setdefault(refusal, []).append(carrier_code)
    rows = (
        (" ".join(map(code, codes)), answer_of(refusal, carrier), code(refusal.field), refusal.cause, refusal.remedy)
        for refusal, codes in groups.items()
    )
    return table(("carrier's code", "answer", "field", "cause", "what to do"), rows)


def answer_of(refusal: Refusal, carrier: str) -> str:
    """Return the answer's status and code, or nothing for a refusal that only staff meet."""
    entry = CODES.get(refusal.error.code_for(carrier))
    return f"{entry.statuses[0]:d} {code(entry.name)}" if entry else ""


def events() -> str:
    """List the types of events, each with the fields of its data."""
    rows = []
    for name, event_type in EVENT_TYPES.items():
        rows.append((code(name), "", event_type["summary"]))
        rows += [("", code(field), facts["meaning"]) for field, facts in event_type["fields"].items()]
    return table(("type", "data", "meaning"), rows)


def attempts() -> str:
    """List the attempts of a delivery, with the time since the first, without jitter."""
    pauses = (timedelta(0), *(timedelta(seconds=pause_s) for pause_s in PAUSES_S))
    times = accumulate(pauses)
    rows = (
        (str(number), spoken(pause), spoken(at))
        for number, (pause, at) in enumerate(zip(pauses, times, strict=True), 1)
    )
    return table(("attempt", "after", "since the event"), rows)


def spoken(period: timedelta) -> str:
    """Format a period: ``14 h 35 min``."""
    minutes, seconds = divmod(round(period.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join(f"{count}{NO_BREAK}{unit}" for count, unit in parts if count) or "at once"


TABLES: Mapping[str, Callable[[], str]] = {
    "statuses": lambda: table(
        ("status", "meaning"), ((code(status.value), str(status.label)) for status in TrackingStatus)
    ),
    "products": products,
    "order-fields": lambda: table(
        ("field", *CARRIERS),
        ((code(path), *(described(cases[carrier]) for carrier in CARRIERS)) for path, cases in ORDER_FIELDS.items()),
    ),
    "codes": codes,
    "plain-errors": partial(errors, PLAIN_ERRORS.values()),
    "provoked": lambda: table(
        ("code", *(f"reference with {carrier}" for carrier in CARRIERS)),
        ((code(f"..._{suffix}"), *map(code, references.values())) for suffix, references in PROVOKED.items()),
    ),
    "faults": lambda: table(
        ("name", "carrier", "bought", "what happens"),
        (
            (code(fault.name.upper()), NO_BREAK.join(fault.carriers), "yes" if fault.is_made else "no", fault.does)
            for fault in FAULTS
        ),
    ),
    "alpha-purchase": partial(refusals, "alpha", "purchase"),
    "alpha-point": partial(refusals, "alpha", "pickup point"),
    "alpha-cancellation": partial(refusals, "alpha", "cancellation"),
    "beta-purchase": partial(refusals, "beta", "purchase"),
    "beta-point": partial(refusals, "beta", "pickup point"),
    "events": events,
    "attempts": attempts,
    "journeys": lambda: table(
        ("name", "what happens"),
        ((code(name.upper()), ", ".join(step.event for step in way)) for name, way in JOURNEYS.items()),
    ),
}
