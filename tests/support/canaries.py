"""Requests full of canaries: words that occur once, wherever a client can put text."""

import json
import re
import secrets
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlencode

from tests.labels.orders import PRODUCT, order
from tests.support.http import exchange
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.waiting import WAIT_TIMEOUT_S

CANARY = re.compile(rb"cnry[0-9a-f]{10}", re.IGNORECASE)
NATIONAL = re.compile(rb"(?:33|0)(69[0-9]{7})")
PHONES: set[bytes] = set()  # those that were sent: a parcel's number may look like one
THREADS = 4
QUIET_FAULTS = [
    *("reset", "resetmade", "close", "closemade", "cutoff", "empty", "html200", "html429", "html502", "html503"),
    *("made502", "redirect", "truncated", "garbled", "charset", "deep", "nolabel", "notpdf", "contract", "hang"),
]
OWN_FAULTS = {
    "alpha": ["doctype", "base64", "soapfault", "33", "38", "30"],
    "beta": [
        *("json500", "flat500", "error200", "errorpart", "errorbare", "errorlist", "errorflat"),
        *("warning", "30204", "30100"),
    ],
}


def canary() -> str:
    return f"CNRY{secrets.token_hex(5)}"


def phone() -> str:
    national = f"699{secrets.randbelow(10**6):06}"  # a range that is given out
    PHONES.add(national.encode())
    return f"+33{national}"


@dataclass(frozen=True)
class Asked:
    """A request; `shown` is the canary that its answer may show."""

    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    shown: str = ""


@dataclass(frozen=True)
class Answered:
    """The answer to a request."""

    asked: Asked
    status: int
    head: str
    body: bytes


def everywhere() -> dict[str, str]:
    """Canaries in all headers that something on the way reads, or may log."""
    return {
        "User-Agent": canary(),
        "Referer": f"https://{canary()}.example/{canary()}?{canary()}",
        "Origin": f"https://{canary()}.example",
        "X-Forwarded-For": f"{canary()}, 192.0.2.1",
        "X-Forwarded-Host": canary(),
        "Forwarded": f"for={canary()}",
        "X-Request-Id": canary(),
        "Cookie": f"sessionid={canary()}; csrftoken={canary()}; other={canary()}",
        "Accept": f"text/{canary()}",
        "Accept-Language": canary(),
        f"X-{canary()}": canary(),
    }


def bearing(token: str, **headers: str) -> dict[str, str]:
    return everywhere() | {"Authorization": f"Bearer {token}"} | headers


def full_order(product_code: str, **changes: Any) -> dict[str, Any]:
    """An order with canaries in every text that may hold any."""
    person = {"firstName": canary(), "lastName": canary(), "address1": f"3 rue {canary()}", "city": canary()}
    return (
        order(
            product_code,
            orderId=canary(),
            reference=canary(),
            origin=person | {"phone": phone()},
            destination=person | {"phone": phone(), "email": f"{canary()}@mail.example", "lastName": canary()},
            **{canary(): canary()},
        )
        | changes
    )


def posted(token: str, body: Any, **headers: str) -> Asked:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kinds = {"Content-Type": "application/json", "Idempotency-Key": canary()}
    return Asked("POST", SHIPMENTS, bearing(token, **(kinds | headers)), content)


def reads(token: str, known: dict[str, str]) -> Iterator[Asked]:
    """Look-ups and searches: found, not found, wrong method, wrong Host, too many parameters."""
    own, email = quote(known["trackingId"]), quote(known["customerEmail"])
    for _ in range(40):
        number, name = canary(), canary()
        yield Asked("GET", f"{PARCELS}{own}?{canary()}={canary()}", bearing(token))
        yield Asked("GET", f"{SEARCH}?email={email}&{canary()}", bearing(token))
        yield Asked("GET", PARCELS + number, bearing(token), shown=number)
        yield Asked("GET", f"{SEARCH}?orderName={canary()}&email={canary()}@mail.example", bearing(token))
        yield Asked("GET", f"{SEARCH}?{name}={canary()}", bearing(token), shown=name)
        yield Asked("GET", f"{SHIPMENTS}/{canary()}", bearing(token))
        yield Asked("GET", f"/public/{canary()}/{canary()}?{canary()}", bearing(token))
        yield Asked("GET", f"/files/{canary()}:{canary()}", bearing(token))
        yield Asked(canary(), SEARCH, bearing(token))
        yield Asked("PATCH", f"{PARCELS}{canary()}", bearing(token), canary().encode())
        yield Asked("GET", f"{SEARCH}?a&b&c&" + "&".join(f"{canary()}=1" for _ in range(50)), bearing(token))
    for _ in range(5):
        yield Asked("GET", SEARCH + "?" + f"{canary()}=1&" * 1100, bearing(token))
        yield Asked("GET", f"{PARCELS}{canary()}", bearing(token, Host=f"{canary()}.example"))
        yield Asked("GET", f"{PARCELS}{canary()}", bearing(token, Host=f"{canary()} {canary()}"))


def strangers() -> Iterator[Asked]:
    """Requests without a valid token, until the address's window is used up, and beyond."""
    for _ in range(40):
        for authorization in (
            f"Bearer pts_{canary()}{canary()}",
            f"Basic {canary()}",
            canary(),
            f"Bearer {canary()} {canary()}",
        ):
            headers = everywhere() | {"Authorization": authorization}
            yield Asked("GET", f"{SEARCH}?email={canary()}", headers)
            yield Asked("POST", SHIPMENTS, headers | {"Content-Type": "application/json"}, canary().encode())


def bad_orders(token: str) -> Iterator[Asked]:
    """Bodies that are refused before the carrier is asked."""
    good = json.dumps(full_order("alpha-13")).encode()
    bodies: list[Any] = [good[:-5], good + canary().encode(), b"\xff" + good, b"", [canary()], canary(), None]
    bodies += [b'{"orderId": "' + canary().encode() + b'", "a": ' + b"[" * 2000, b'{"orderId": "\\ud800"}']
    for name in ("orderId", "carrierCode", "productCode", "reference", "pickupPointCode"):
        for value in (canary() * 40, {canary(): canary()}, [canary()], canary(), f"{canary()}\0"):
            bodies.append(full_order("alpha-13") | {name: value})
    for name in ("firstName", "zip", "countryCode", "phone", "email"):
        for value in (canary() * 40, f"{canary()}\0", [canary()], canary()):
            bodies.append(full_order("alpha-13", destinationAddress={name: value}))
            bodies.append(full_order("relais", originAddress={name: value}, pickupPointCode=canary()))
    bodies += [full_order("alpha-13", parcels=parcels) for parcels in ([canary()], [{canary(): canary()}], canary())]
    for body in bodies:
        yield posted(token, body)
    yield posted(token, good, **{"Content-Type": f"text/{canary()}"})
    yield posted(token, good, **{"Idempotency-Key": canary() * 30})
    yield posted(token, canary().encode() * 100_000)


def orders(token: str) -> Iterator[Asked]:
    """Labels bought and replayed, a key reused with another body, and each way a carrier fails."""
    for carrier, product_code in PRODUCT.items():
        for fault in [*QUIET_FAULTS, *OWN_FAULTS[carrier]]:
            # The purchase that succeeds keeps the circuit breaker closed.
            yield posted(token, full_order(product_code))
            yield posted(token, full_order(product_code, reference=f"FAULT {fault}"))
        key = {"Idempotency-Key": canary()}
        body = full_order(product_code)
        yield from (
            posted(token, body, **key),
            posted(token, body, **key),
            posted(token, full_order(product_code), **key),
        )


def failures(token: str) -> Iterator[Asked]:
    """Failures in a row, which open the circuit breaker, and calls that it refuses."""
    for product_code in PRODUCT.values():
        for _ in range(8):
            yield posted(token, full_order(product_code, reference="FAULT html503"))


def form(fields: dict[str, str], **headers: str) -> tuple[dict[str, str], bytes]:
    return everywhere() | {"Content-Type": "application/x-www-form-urlencoded"} | headers, urlencode(fields).encode()


def staffs(session: str) -> Iterator[Asked]:
    """The admin: log-ins that fail, forms from elsewhere, pages for nobody, pages for somebody."""
    csrf = secrets.token_hex(16)
    for number in range(3):
        fields = {"username": canary(), "password": canary(), "csrfmiddlewaretoken": csrf, "next": f"/{canary()}"}
        cookie = {"Cookie": f"csrftoken={csrf}", "Origin": "null"} if number else {"Cookie": f"csrftoken={csrf}"}
        headers, body = form(fields, **cookie)
        if not number:
            del headers["Origin"]
        yield Asked("POST", f"/admin/login/?next=/{canary()}", headers, body)
        yield Asked("POST", f"/admin/login/?{canary()}", *form(fields))
    for _ in range(10):
        yield Asked("GET", f"/admin/{canary()}/?{canary()}", everywhere())
        yield Asked("GET", f"/admin/login/?next=/{canary()}", everywhere() | {"Host": f"{canary()}.example"})
        yield Asked("GET", f"/static/{canary()}", everywhere())
        yield Asked("GET", f"/{canary()}?{canary()}", everywhere())
    staff = {"Cookie": f"sessionid={session}; {canary()}={canary()}"}
    for page in ("parcels/parcel/", "labels/shippinglabel/", "shops/shop/", "shops/accesstoken/"):
        yield Asked("GET", f"/admin/{page}?q={canary()}", everywhere() | staff)
        yield Asked("GET", f"/admin/{page}{canary()}/change/", everywhere() | staff)
        yield Asked("GET", f"/admin/{page}?{canary()}__{canary()}={canary()}", everywhere() | staff)


def ask_all(port: int, requests: Iterable[Asked]) -> list[Answered]:
    """Send requests over a few connections, in order on each."""
    asked = list(requests)
    with ThreadPoolExecutor(THREADS) as pool:
        shares = pool.map(lambda number: list(ask_in_turn(port, asked[number::THREADS])), range(THREADS))
        return [answer for share in shares for answer in share]


def ask_in_turn(port: int, requests: Iterable[Asked]) -> Iterator[Answered]:
    client = HTTPConnection("127.0.0.1", port, timeout=WAIT_TIMEOUT_S)
    for asked in requests:
        try:
            yield answer_to(client, asked)
        except ConnectionError:  # the server closes one with an unread body
            client.close()
            yield answer_to(client, asked)
    client.close()


def answer_to(client: HTTPConnection, asked: Asked) -> Answered:
    response, content = exchange(client, asked.method, asked.target, asked.headers.items(), asked.body)
    del response.headers["Ignored-Fields"]  # names that the client wrote, told to it alone
    return Answered(asked, response.status, str(response.headers), content)


def found_in(content: bytes) -> list[bytes]:
    return CANARY.findall(content) + [number for number in NATIONAL.findall(content) if number in PHONES]
