"""Answers of the point services, and orders that they are asked for."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from carriers.errors import CarrierError
from carriers.shipment import PurchasedLabel
from tests.carriers.conftest import Serve
from tests.carriers.support.beta import found, labels
from tests.carriers.support.servers import LABEL, always, answer_file, http
from tests.carriers.support.shipments import CREDENTIALS, client, shipment

PICKUP = {"alpha": "relais", "beta": "beta_point_retrait_france"}

_FRENCH = b"rechercheDetailPointChronopostResponse"


def alpha_point(*, abroad: str = "", **changes: str | None) -> bytes:
    """Return the recorded answer about point 1234A with other values; None leaves a child out.

    `abroad` is the country in an answer of the operation for other countries.
    """
    document = answer_file("alpha_point.xml")
    if abroad:
        document = document.replace(_FRENCH, b"rechercheDetailPointChronopostInterResponse")
        changes = {"codePays": abroad, **changes}
    root = ET.fromstring(document)
    point = root.find(".//listePointRelais")
    assert point is not None
    for name, value in changes.items():
        child = point.find(name)
        assert child is not None, name
        if value is None:
            point.remove(child)
        else:
            child.text = value
    return ET.tostring(root)


def alpha_refused(code: int, operation: str) -> bytes:
    result = f"<return><errorCode>{code}</errorCode><errorMessage>text</errorMessage></return>"
    name = f"{operation}Response"
    answer = f"<n:{name} xmlns:n='http://cxf.rechercheBt.soap.chronopost.fr/'>{result}</n:{name}>"
    return http(f"<Envelope><Body>{answer}</Body></Envelope>".encode())


def alpha_closed(first: str, last: str) -> bytes:
    """Return the recorded answer about point 1234A with a period in which it is closed."""
    period = f"<calendarDeDebut>{first}</calendarDeDebut><calendarDeFin>{last}</calendarDeFin><numero>1</numero>"
    closure = f"<listePeriodeFermeture>{period}</listePeriodeFermeture></listePointRelais>"
    return alpha_point().replace(b"</listePointRelais>", closure.encode())


BOUGHT = {"alpha": [LABEL["alpha"]], "beta": labels(4)}
FOUND = {"alpha": http(alpha_point()), "beta": found()}


class Services:
    """A carrier's label service and its point service with scripted answers, and a client of both."""

    def __init__(self, serve: Serve, carrier: str, points: Sequence[bytes] = (), bought: Sequence[bytes] = ()) -> None:
        self.carrier = carrier
        self.labels = serve(always(*(bought or BOUGHT[carrier])))
        self.points = serve(always(*(points or [FOUND[carrier]])))
        self.client = client(carrier, self.labels.url, points_url=f"{self.points.url}/points/")

    def buy(self, code: str = "", **changes: Any) -> PurchasedLabel:
        ordered = shipment(code or PICKUP[self.carrier], **changes)
        return self.client.create_label(ordered, CREDENTIALS[self.carrier])

    def refuse(self, error: type[CarrierError], code: str = "", **changes: Any) -> CarrierError:
        """Return the error of an order, for which nothing was sent to the label service."""
        with pytest.raises(CarrierError) as caught:
            self.buy(code, **changes)
        assert type(caught.value) is error
        assert caught.value.is_nothing_made
        assert self.labels.connections == 0
        return caught.value
