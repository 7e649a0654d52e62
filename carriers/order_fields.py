"""Where each field of an order goes: onto a carrier's wire, into a refusal, or nowhere, as it is not needed there.

`carriers.order_table` has all of them; the order's rules, its documents and tests read it through this module.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from carriers.products import Product


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


@dataclass(frozen=True)
class Condition:
    """Orders, in words and as a test."""

    words: str
    holds: Callable[[OrderFacts], bool]


ALWAYS: Final = Condition("", lambda _: True)
TO_POINT: Final = Condition("to a pickup point", lambda facts: bool(facts.product and facts.product.needs_pickup_point))
INSIDE_UNION: Final = Condition("where no customs border is crossed", lambda facts: facts.crosses_border is False)


@dataclass(frozen=True)
class Case:
    """Where a field of some orders goes; with nothing said it is not needed, and named in `Ignored-Fields`.

    `wire` are the carrier's own names, `limit` what its client refuses otherwise, `kept` what the service itself does
    with the field, `refusal` the words with which the order is refused.
    """

    wire: str = ""
    limit: str = ""
    when: Condition = ALWAYS
    kept: str = ""
    refusal: str = ""

    @property
    def is_ignored(self) -> bool:
        return not (self.wire or self.kept or self.refusal)

    def __str__(self) -> str:
        sent = ", ".join(filter(None, ("sent" if self.wire else "", self.limit)))
        fate = f"refused: {self.refusal}" if self.refusal else sent or self.kept or "not needed"
        return f"{self.when.words}: {fate}" if self.when.words else fate


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
            if case.when is ALWAYS or case.when.holds(facts):
                return case
        return None
