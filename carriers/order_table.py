"""Where each field of an order goes: onto a carrier's wire, into a refusal, or nowhere, as it is not needed there.

`order_fields.csv` has a row for each case of a field at a carrier; of a field's rows the first that holds counts. The
order's rules, its documents and tests read it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
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

    @property
    def is_ignored(self) -> bool:
        return not (self.wire or self.kept or self.refusal)

    def __str__(self) -> str:
        sent = ", ".join(filter(None, ("sent" if self.wire else "", self.limit)))
        fate = f"refused: {self.refusal}" if self.refusal else sent or self.kept or "not needed"
        return f"{self.when}: {fate}" if self.when else fate


Cases = tuple[Case, ...]  # the first one that holds


def described(cases: Cases) -> str:
    """Return the cases in words, in one line."""
    return "; ".join(map(str, cases)).replace(".;", ";").rstrip(".")


@dataclass(frozen=True)
class OrderField:
    """A field by its JSON path, `[]` for an index, and its cases by carrier."""

    path: str
    carriers: Mapping[str, Cases]

    def case(self, facts: OrderFacts) -> Case | None:
        """Return the order's case, None while its product is not known."""
        for case in self.carriers[facts.product.carrier] if facts.product else ():
            if not case.when or CONDITIONS[case.when](facts):
                return case
        return None


def _read() -> Iterator[OrderField]:
    for path, rows in groupby(rows_of("order_fields.csv"), itemgetter("field")):
        carriers: dict[str, Cases] = {}
        for row in rows:
            case = Case(row["when"], row["wire"], row["limit"], row["kept"], row["refusal"])
            carriers[row["carrier"]] = (*carriers.get(row["carrier"], ()), case)
        yield OrderField(path, carriers)


ORDER_FIELDS: Final = tuple(_read())


def refusals(facts: OrderFacts) -> Iterator[tuple[str, str]]:
    """Yield the paths of the fields that the order's carrier has no place for, each with the words of the refusal."""
    return ((path, case.refusal) for path, case in cases_that(facts, "refusal"))


def ignored(facts: OrderFacts) -> set[str]:
    """Return the paths of the declared fields that are not needed for the order."""
    return {path for path, _ in cases_that(facts, "is_ignored")}


def is_of_words(path: str, facts: OrderFacts) -> bool:
    """Tell if the text there is sent in letters and digits alone, and may be missing."""
    if facts.product is None or path not in _WORDS.get(facts.product.carrier, ()):
        return False
    case = next(each for each in ORDER_FIELDS if each.path == path).case(facts)
    return case is not None and bool(case.wire)


def cases_that(facts: OrderFacts, what: str) -> Iterator[tuple[str, Case]]:
    """Yield the fields with the order's case where it is a `refusal`, or `is_ignored`."""
    for each in fields_that(facts.product.carrier, what) if facts.product else ():
        case = each.case(facts)
        if case and getattr(case, what):
            yield each.path, case


@cache
def fields_that(carrier: str, what: str) -> list[OrderField]:
    """Return the fields of which that is the case in some of a carrier's orders."""
    return [each for each in ORDER_FIELDS if any(getattr(case, what) for case in each.carriers[carrier])]
