"""The lines that the demonstration prints: requests to paste, and where everything is."""

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from config.docs.openapi.document import example
from shops.api.paths import TRACKING

# The first point's code, in the answer of a search that was kept.
FIRST_POINT = r"""sed 's/^{"data":\[{"pickupPointCode":"\([^"]*\)".*/\1/' points.json"""
TEXT = Path(__file__).with_name("demo.txt")


def guide(url: str, token: str, parcel: dict[str, Any], label: dict[str, Any], **places: object) -> str:
    ordered = example("pickupOrder")
    place = ordered["destinationAddress"]
    heaviest_kg = max(parcel["weight"] for parcel in ordered["parcels"])
    wanted = {"productCode": ordered["productCode"], "zip": place["zip"], "city": place["city"]}
    order = orjson.dumps(ordered | {"pickupPointCode": "FIRST"}).decode().replace("'", "'\\''")
    return "\n" + TEXT.read_text("utf-8").format(
        url=url,
        api=f"{url}{TRACKING}",
        token=token,
        number=parcel["trackingId"],
        label_number=label["trackingNumber"],
        order_number=quote(parcel["orderNumber"]),
        email=quote(parcel["customerEmail"], safe="@"),
        search=urlencode(wanted | {"weight": heaviest_kg, "limit": 3}),
        order=order.replace("FIRST", f"""'"$({FIRST_POINT})"'"""),
        **places,
    )
