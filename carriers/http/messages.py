"""A request to a carrier and its answer, as they are sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carriers.errors import CarrierError, OutcomeUnknown


@dataclass(frozen=True)
class Request:
    """A POST; `unanswered_error` is the error if it was sent and no readable answer came.

    A purchase may then have been carried out; a query has made nothing.
    """

    operation: str
    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    unanswered_error: type[CarrierError] = OutcomeUnknown


@dataclass(frozen=True)
class Answer:
    """A carrier's complete answer."""

    status: int
    content_type: str
    body: bytes = field(repr=False)


class UnreadableError(ValueError):
    """An answer that breaks the protocol; the text may be shown to a shop.

    `made_numbers` are the parcels that the answer names all the same, `made_pdfs` their PDFs that can be read, by
    name, and `reservation_number` fetches them.
    """

    def __init__(
        self,
        problem: str,
        made_numbers: tuple[str, ...] = (),
        reservation_number: str = "",
        made_pdfs: Mapping[str, bytes] | None = None,
    ) -> None:
        super().__init__(problem)
        self.made_numbers = made_numbers
        self.reservation_number = reservation_number
        self.made_pdfs = made_pdfs or {}
