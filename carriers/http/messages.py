"""One message to a carrier and its answer, as they go over the wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carriers.errors import CarrierError, OutcomeUnknown


@dataclass(frozen=True)
class Request:
    """A POST; `unsure` is the error when it was sent and no readable answer came.

    A purchase may then have been carried out; a mere question has made nothing.
    """

    operation: str
    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    unsure: type[CarrierError] = OutcomeUnknown


@dataclass(frozen=True)
class Answer:
    """What a carrier answered, read to its end."""

    status: int
    content_type: str
    body: bytes = field(repr=False)


class UnreadableError(ValueError):
    """An answer that is not what the protocol says; its text is fit to be shown.

    `made_numbers` are the parcels it speaks of all the same.
    """

    def __init__(self, problem: str, made_numbers: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.made_numbers = made_numbers
