"""A shop's program with the generated client: makes each call, meets each kind of error, prints the answers.

It runs outside the service's virtual environment. SERVICE is a JSON object: url, token, number, orderName, orders.
"""

import json
import os
import sys
import threading
from typing import Any
from urllib.parse import unquote

from parcel_client import AuthenticatedClient, Client
from parcel_client.api.labels import buy_label, open_label_pdf, retrieve_label
from parcel_client.api.parcels import look_up_parcel, search_parcels
from parcel_client.models import Error, Label, LabelOrder, Parcel

SERVICE: dict[str, Any] = json.loads(os.environ["SERVICE"])
ORDERS = {name: LabelOrder.from_dict(order) for name, order in SERVICE["orders"].items()}
ORDERS["large"] = LabelOrder.from_dict(SERVICE["orders"]["good"] | {"orderId": "x" * 2**20})
shop = AuthenticatedClient(base_url=SERVICE["url"], token=SERVICE["token"], timeout=60)
nobody = Client(base_url=SERVICE["url"])


def error(response: Any) -> list[Any]:
    """Return status and code of an error, which the client has parsed as described."""
    assert isinstance(response.parsed, Error), response
    assert response.parsed.status_code == response.status_code
    assert response.parsed.message
    assert response.parsed.timestamp.tzinfo is not None
    return [int(response.status_code), response.parsed.code.value if response.parsed.code else None]


def buy(name: str, key: str) -> Any:
    return buy_label.sync_detailed(client=shop, body=ORDERS[name], idempotency_key=key)


def at_once(key: str) -> list[Any]:
    """Send two orders at once with one key to a slow carrier: the second is refused."""
    responses: list[Any] = []
    threads = [threading.Thread(target=lambda: responses.append(buy("slow", key))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = sorted(responses, key=lambda response: response.status_code)
    assert isinstance(first.parsed, Label)
    assert int(second.headers["Retry-After"]) > 0
    return error(second)


def until_refused() -> list[Any]:
    """Look up until the rate limit refuses."""
    for _ in range(200):
        response = look_up_parcel.sync_detailed("NOPE", client=shop)
        if response.status_code == 429:
            assert int(response.headers["Retry-After"]) > 0
            return error(response)
    raise AssertionError("the limit was never reached")


def main() -> None:
    parcel = look_up_parcel.sync(SERVICE["number"], client=shop)
    assert isinstance(parcel, Parcel)
    found = search_parcels.sync(client=shop, order_name=SERVICE["orderName"])
    assert isinstance(found, list)
    bought = buy("good", "python-1")
    assert isinstance(bought.parsed, Label)
    again = buy("good", "python-1")
    assert again.headers["Idempotent-Replayed"] == "true"
    label = retrieve_label.sync(bought.parsed.id, client=shop)
    assert isinstance(label, Label)
    pdf = open_label_pdf.sync(unquote(label.label_url.partition("/files/")[2]), client=nobody)
    assert not isinstance(pdf, Error)
    assert pdf is not None
    errors = [
        error(search_parcels.sync_detailed(client=shop)),
        error(buy("refused", "python-2")),
        error(retrieve_label.sync_detailed("0RCRUGWGBZDJINQ", client=nobody)),
        error(look_up_parcel.sync_detailed(SERVICE["number"], client=nobody)),
        error(look_up_parcel.sync_detailed("NOPE", client=shop)),
        error(retrieve_label.sync_detailed("0RCRUGWGBZDJINQ", client=shop)),
        at_once("python-3"),
        error(buy("large", "python-4")),
        error(buy("refused", "python-1")),
        error(buy("lost", "python-5")),
        until_refused(),
    ]
    facts = {
        "parcel": parcel.to_dict(),
        "found": [each.to_dict() for each in found],
        "bought": bought.parsed.to_dict(),
        "retrieved": label.to_dict(),
        "pdf": pdf.payload.read(5).decode(),
        "errors": errors,
    }
    json.dump(facts, sys.stdout)


main()
