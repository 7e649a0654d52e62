"""What the carriers' clients have in common: their endpoint, and the line that every call goes over."""

from carriers.base import Endpoint
from carriers.circuit_breaker import Limits
from carriers.http.transport import Transport
from carriers.line import Line
from carriers.observer import Observer


class Client:
    """A client of the carrier `name`, to be built once a process; a subclass adds what the carrier is asked."""

    name: str

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits | None = None,
        transport: Transport | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._line = Line(self.name, limits or Limits(), transport, observer)

    @property
    def is_resting(self) -> bool:
        """Whether the carrier is given a rest after repeated failures."""
        return self._line.is_resting

    def refuse_at_rest(self) -> None:
        """Raise CarrierUnavailable while the carrier is given a rest."""
        self._line.refuse_at_rest()
