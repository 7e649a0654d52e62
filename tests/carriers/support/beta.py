"""Messages of beta: recorded answers with other values, and the requests that a loopback server got."""

import json
from typing import Any

from tests.carriers.support.servers import MULTIPART, LoopbackServer, answer_file, body_of, http

JSON = "application/json"


def labels(count: int, kind: str = "parcel") -> list[bytes]:
    """Return the answers of several purchases, of `kind` customs with a form: the recorded one, each with its number.

    The labels are 281, 282, ... points wide, and the forms 841, 842, ... high.
    """
    recorded = answer_file(f"beta_{kind}_1.multipart")
    numbered = (
        recorded.replace(b"6A12345678901", b"6A1234567890%d" % rank)
        .replace(b" 281 425 ]", b" %d 425 ]" % (280 + rank))
        .replace(b" 595 841 ]", b" 595 %d ]" % (840 + rank))
        for rank in range(1, count + 1)
    )
    return [http(each, content_type=MULTIPART) for each in numbered]


def found(**changes: Any) -> bytes:
    """Return the recorded answer about point 001234 with other values; None leaves one out."""
    document = json.loads(answer_file("beta_point.json"))
    point = document["pointRetraitAcheminement"] | changes
    document["pointRetraitAcheminement"] = {name: value for name, value in point.items() if value is not None}
    return http(json.dumps(document).encode(), content_type=JSON)


def near(**changes: Any) -> bytes:
    """Return the recorded answer to a search with other values in its first record; None leaves one out."""
    document = json.loads(answer_file("beta_points.json"))
    points = document["listePointRetraitAcheminement"]
    points[0] = {name: value for name, value in (points[0] | changes).items() if value is not None}
    return http(json.dumps(document).encode(), content_type=JSON)


def refused(code: object, status: int = 200, **values: Any) -> bytes:
    """Return an answer of the point service without a point."""
    document = {"errorCode": code, "errorMessage": f"text {code}", "pointRetraitAcheminement": None, **values}
    return http(json.dumps(document).encode(), status, JSON)


def bodies(server: LoopbackServer) -> list[dict[str, Any]]:
    return [json.loads(body_of(request)) for request in server.requests]


def fields_of(body: dict[str, Any]) -> dict[str, str]:
    return {pair["key"]: pair["value"] for pair in body.get("fields", {}).get("field", [])}


def lines(address: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in address.items() if name.startswith("line")}
