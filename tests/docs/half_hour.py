"""A new user's first half hour: find a point, check, buy, hear of it, miss an event and ask for it, cancel, list."""

import base64
import hashlib
import hmac
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from typing import Any

import requests

API = f"{os.environ['URL']}/public/v1/tracking"
shop = requests.Session()
shop.headers["Authorization"] = f"Bearer {os.environ['TOKEN']}"


def asked(method: str, path: str, **options: Any) -> Any:
    answer = shop.request(method, f"{API}/{path}", timeout=60, **options)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def is_genuine(secret: str, headers: Any, body: bytes, now: float | None = None) -> bool:
    sent_at = headers["webhook-timestamp"]
    if abs((now or time.time()) - int(sent_at)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{sent_at}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    signatures = [each.partition(",")[2] for each in headers["webhook-signature"].split() if each.startswith("v1,")]
    return any(hmac.compare_digest(each, expected) for each in signatures)


Webhook = tuple[str, bool, dict[str, Any]]


class Receiver(BaseHTTPRequestHandler):
    secret = ""
    received: Queue[Webhook] = Queue()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        genuine = is_genuine(Receiver.secret, self.headers, body)
        event = json.loads(body)
        Receiver.received.put((self.headers["webhook-id"], genuine, event))
        self.send_response(500 if event["type"] == "label.cancelled" else 204)  # it fails at the one that is missed
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def received(event_type: str, label_id: str) -> tuple[str, bool]:
    """Wait for a webhook of this type about the label; return its id, and whether it is genuine."""
    while True:
        webhook_id, genuine, event = Receiver.received.get(timeout=60)
        if event["type"] == event_type and event["data"]["id"] == label_id:
            return webhook_id, genuine


server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()

place = asked("GET", "events", params={"after": "now"})["next"]
where = {"zip": "69005", "city": "Lyon"}
product = "beta_point_retrait_france"
points = asked("GET", "pickup-points", params=where | {"productCode": product, "weight": 1.2})["data"]
print("point:", points[0]["name"])

order = {
    "orderId": os.environ["ORDER"],
    "carrierCode": "beta",
    "productCode": product,
    "pickupPointCode": points[0]["pickupPointCode"],
    "destinationAddress": {
        "firstName": "Agnès",
        "lastName": "Bœuf",
        "address1": "7 rue Saint-Jean",
        **where,
        "countryCode": "FR",
        "phone": "+33 6 99 00 33 44",
        "email": "agnes.boeuf@example.com",
    },
    "parcels": [{"weight": 1.2}],
}
check = asked("POST", "shipments/check", json=order)
print("check:", "ok" if check["ok"] else check["problems"])

endpoint = asked("POST", "webhooks", json={"url": f"http://127.0.0.1:{server.server_port}/hooks"})
Receiver.secret = endpoint["secret"]
label = asked("POST", "shipments", json=order, headers={"Idempotency-Key": os.environ["ORDER"]})
print("bought:", label["status"])
webhook_id, genuine = received("label.generated", label["id"])
print("webhook:", "genuine" if genuine else "FORGED")

cancelled = asked("POST", f"shipments/{label['id']}/cancel")
print("cancel:", cancelled["status"])
lost_id = received("label.cancelled", label["id"])[0]
found: dict[str, str] = {}
more = True
while more or lost_id not in found:
    page = asked("GET", "events", params={"after": place})
    found |= {each["id"]: each["type"] for each in page["data"]}
    place, more = page["next"], page["hasMore"]
    time.sleep(0 if lost_id in found else 1)  # an event can appear some moments after its webhook
print("missed:", found[lost_id])

asked("DELETE", f"webhooks/{endpoint['id']}")
listed = asked("GET", "shipments", params={"orderId": os.environ["ORDER"]})["data"]
print("listed:", len(listed))
