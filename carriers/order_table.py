"""Where each field of an order goes: onto a carrier's wire, into a refusal, or nowhere, as it is not needed there.

`order_fields.csv` has a row for each case of a field at a carrier; of a field's rows the first that holds counts. The
order's rules, its documents and tests read it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from carriers.beta.customs import DUTIES_PAID_TO
from carriers.beta.parties import ONE_LINE, POSTAL_CODE_OF, WITH_PROVINCES
from carriers.data import rows_of
from carriers.products import Product
from carriers.validation import RECIPIENT, SENDER

_NAMES: Final = ("firstName", "lastName", "company", "address2")
# Texts of which the carrier is sent letters and digits alone, and that may be missing: symbols alone are no text there.
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "alpha": frozenset({"reference", "parcels[].reference"}).union(
        f"{address}.{name}" for address in (SENDER, RECIPIENT) for name in _NAMES
    ),
    "beta": frozenset({f"{RECIPIENT}.instructions"}),
}
MAX_DAYS_AHEAD: Final = 7  # of a parcel that is handed in with beta


@dataclass(frozen=True)
class OrderFacts:
    """The facts that decide where an order's fields go; None where it is missing, or nobody can tell.

    `days_ahead` are the days from today to the one on which the parcels are handed in.
    """

    product: Product | None = None
    country_code: str = ""
    crosses_border: bool | None = None
    is_duties_paid: bool = False
    has_instructions: bool = False
    days_ahead: int | None = None


# The conditions of the table, by the words that it has for them.
CONDITIONS: Final[Mapping[str, Callable[[OrderFacts], bool]]] = {
    "to a pickup point": lambda facts: bool(facts.product and facts.product.needs_pickup_point),
    "where no customs border is crossed": lambda facts: facts.crosses_border is False,
    "on another day than today": lambda facts: facts.days_ahead not in {None, 0},
    f"before today or more than {MAX_DAYS_AHEAD} days ahead": lambda facts: (
        facts.days_ahead is not None and not 0 <= facts.days_ahead <= MAX_DAYS_AHEAD
    ),
    "`true`": lambda facts: facts.is_duties_paid,
    "to BE and CH": lambda facts: facts.country_code in ONE_LINE,
    "to AE": lambda facts: facts.country_code in POSTAL_CODE_OF,
    "to US and CA": lambda facts: facts.country_code in WITH_PROVINCES,
    "where the sender pays the duties": lambda facts: facts.is_duties_paid and facts.country_code in DUTIES_PAID_TO,
    "not empty": lambda facts: facts.has_instructions,
}


@dataclass(frozen=True)
class Case:
    """Where a field of some orders goes; with nothing said it is not needed, and named in `Ignored-Fields`.

    `when` says of which orders, `wire` are the carrier's own names, `limit` what its client refuses otherwise, `kept`
    what the service itself does with the field, `refusal` the words with which the order is refused.
    """

    when: str = ""
    wire: str = ""
    limit: str = ""
    kept: str = ""
    refusal: str = ""

    @cached_property
    def is_ignored(self) -> bool:
        return not (self.wire or self.kept or self.refusal)

    def __str__(self) -> str:
        sent = ", ".join(filter(None, ("sent" if self.wire else "", self.limit)))
        fate = f"refused: {self.refusal}" if self.refusal else sent or self.kept or "not needed"
        return f"{self.when}: {fate}" if self.when else fate


Cases = tuple[Case, ...]  # the first one that holds


def described(cases: Cases) -> str:
    """Return the cases in words, in one line."""
    words = "; ".join(f"else {case}" if at and not case.when else str(case) for at, case in enumerate(cases))
    return words.replace(".;", ";").rstrip(".")


def _read() -> dict[str, dict[str, Cases]]:
    fields: dict[str, dict[str, Cases]] = {}
    for row in rows_of("order_fields.csv"):
        carriers = fields.setdefault(row["field"], {})
        case = Case(row["when"], row["wire"], row["limit"], row["kept"], row["refusal"])
        carriers[row["carrier"]] = (*carriers.get(row["carrier"], ()), case)
    return fields


# By the field's JSON path, `[]` for an index, and the carrier.
ORDER_FIELDS: Final[Mapping[str, Mapping[str, Cases]]] = _read()


def cases_of(facts: OrderFacts) -> dict[str, Case]:
    """Return the case of each field, by its path, of an order at its carrier; none while its product is not known."""
    carrier, found = facts.product.carrier if facts.product else "", dict[str, Case]()
    for path, carriers in ORDER_FIELDS.items():
        for case in carriers.get(carrier, ()):
            if not case.when or CONDITIONS[case.when](facts):
                found[path] = case
                break
    return found


def refusals(facts: OrderFacts) -> Iterator[tuple[str, str]]:
    """Yield the paths of the fields that the order's carrier has no place for, each with the words of the refusal."""
    return ((path, case.refusal) for path, case in cases_of(facts).items() if case.refusal)


def needed_by(facts: OrderFacts) -> Callable[[str, object], bool]:
    """Return the test if a field of an order is needed, by its path and its value: symbols alone are no words."""
    cases = cases_of(facts)
    words = _WORDS[facts.product.carrier] if facts.product else frozenset()

    def is_needed(path: str, value: object) -> bool:
        case = cases.get(path)
        is_of_symbols = isinstance(value, str) and not value.isspace() and not any(map(str.isalnum, value))
        return case is None or not (case.is_ignored or (case.wire and path in words and is_of_symbols))

    return is_needed
