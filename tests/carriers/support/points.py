"""Answers of the point services."""

from xml.etree import ElementTree as ET

from tests.carriers.support.servers import answer_file

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


def alpha_closed(first: str, last: str) -> bytes:
    """Return the recorded answer about point 1234A with a period in which it is closed."""
    period = f"<calendarDeDebut>{first}</calendarDeDebut><calendarDeFin>{last}</calendarDeFin><numero>1</numero>"
    closure = f"<listePeriodeFermeture>{period}</listePeriodeFermeture></listePointRelais>"
    return alpha_point().replace(b"</listePointRelais>", closure.encode())
