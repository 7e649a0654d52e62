"""The lines that the demonstration prints: requests to paste, and where everything is."""

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from config.docs.openapi.document import example
from shops.api.paths import TRACKING

# The first point's code, in the answer of a search that was kept.
FIRST_POINT = r"""sed 's/^{"data":\[{"pickupPointCode":"\([^"]*\)".*/\1/' points.json"""
GUIDE = """
The service is running at {url}. Paste these into another terminal:

  # a parcel by its tracking number
  curl -s -H 'Authorization: Bearer {token}' \\
    '{api}/parcels/{number}'

  # the parcel of a label that was just bought: within a minute it is on its way, in some minutes delivered
  curl -s -H 'Authorization: Bearer {token}' \\
    '{api}/parcels/{label_number}'

  # the parcels of an order
  curl -s -H 'Authorization: Bearer {token}' \\
    '{api}/search?orderName={order_number}'

  # the parcels of a customer, newest first, with status, limits and request id
  curl -si -H 'Authorization: Bearer {token}' \\
    '{api}/search?email={email}'

  # pickup points near the customer, nearest first
  curl -s -H 'Authorization: Bearer {token}' \\
    '{api}/pickup-points?{search}' | tee points.json

  # buy a label to the first of them at the carriers' sandbox; with the same Idempotency-Key it is never bought twice
  curl -s -X POST -H 'Authorization: Bearer {token}' \\
    -H 'Content-Type: application/json' -H 'Idempotency-Key: my-first-label' \\
    -d '{order}' \\
    '{api}/shipments' | tee label.json

  # fetch it again, with a fresh URL for the PDF
  curl -s -H 'Authorization: Bearer {token}' \\
    "{api}/shipments/$(sed 's/.*"id":"\\([^"]*\\)".*/\\1/' label.json)" | tee fetched.json

  # the PDF
  curl -s "$(sed 's/.*"labelUrl":"\\([^"]*\\)".*/\\1/' fetched.json)" > label.pdf"""


def guide(url: str, token: str, parcel: dict[str, Any], label: dict[str, Any]) -> str:
    ordered = example("pickupOrder")
    place = ordered["destinationAddress"]
    heaviest_kg = max(parcel["weight"] for parcel in ordered["parcels"])
    wanted = {"productCode": ordered["productCode"], "zip": place["zip"], "city": place["city"]}
    order = orjson.dumps(ordered | {"pickupPointCode": "FIRST"}).decode().replace("'", "'\\''")
    return GUIDE.format(
        url=url,
        api=f"{url}{TRACKING}",
        token=token,
        number=parcel["trackingId"],
        label_number=label["trackingNumber"],
        order_number=quote(parcel["orderNumber"]),
        email=quote(parcel["customerEmail"], safe="@"),
        search=urlencode(wanted | {"weight": heaviest_kg, "limit": 3}),
        order=order.replace("FIRST", f"""'"$({FIRST_POINT})"'"""),
    )


def addresses(url: str, password: str, sandbox_url: str, collection_path: Path, test_token: str) -> str:
    return f"""
What else there is:

  the guide and the reference   {url}/docs
  requests for your editor      {collection_path}
  the admin                     {url}/admin/ (user demo, password {password})
  what the sandbox sold         {sandbox_url}/ledger
  a test shop's token           {test_token}

A small receiver of webhooks runs here too: the lines below are what it is told.
Ctrl-C ends it.
"""
