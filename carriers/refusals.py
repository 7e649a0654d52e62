"""A carrier's documented error codes, as data."""

from dataclasses import dataclass

from carriers.errors import CarrierError


@dataclass(frozen=True)
class Refusal:
    """The meaning of an error code: its class, the API's field at fault if known, cause and remedy in plain words."""

    error: type[CarrierError]
    field: str = ""
    cause: str = ""
    remedy: str = ""
