"""Nothing that a client writes is in a log, a figure, an error or Redis: 1,000 requests full of canaries.

Each canary is a word that occurs once. They stand wherever a client can put text, on every route, on the way to every
error, with carriers that fail and with a database, a Redis and a storage that do.
"""

import json
import os
import re
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import redis
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from carriers.sandbox.server import SandboxServer
from shops.models import Shop
from tests.labels.factories import ContractFactory
from tests.labels.orders import PRODUCT, order
from tests.support.factories import AccessTokenFactory, ShopFactory, import_parcel
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.processes import ROOT, Server, environment, free_port, run_command, served, wait_for_port
from tests.support.waiting import WAIT_TIMEOUT_S, until

pytestmark = pytest.mark.real_services
CANARY = re.compile(rb"cnry[0-9a-f]{10}", re.IGNORECASE)
NATIONAL = re.compile(rb"(?:33|0)(69[0-9]{7})")
PHONES: set[bytes] = set()  # those that were sent: a parcel's number may look like one
THREADS = 4
# Every way to answer that there is, but for the 409 of two requests at once.
PAGES = ("/livez", "/readyz", "/docs", "/docs/reference", "/docs/parcels.http", "/openapi.json", "/openapi.yaml", "/")
EXPECTED = {200, 201, 302, 400, 401, 403, 404, 405, 413, 415, 422, 429, 500, 502}
QUIET_FAULTS = [
    *("reset", "resetmade", "close", "closemade", "cutoff", "empty", "html200", "html502", "html503", "made502"),
    *("redirect", "truncated", "garbled", "charset", "deep", "nolabel", "notpdf", "contract", "hang"),
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
    national = f"69{secrets.randbelow(10**7):07}"
    PHONES.add(national.encode())
    return f"+33{national}"


@dataclass(frozen=True)
class Asked:
    """A request; `shown` are canaries that its answer may show, as the specification says."""

    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    shown: str = ""


@dataclass(frozen=True)
class Answered:
    """What came back."""

    asked: Asked
    status: int
    head: str
    body: bytes


def everywhere() -> dict[str, str]:
    """Canaries in all headers that somebody on the way reads, or might log."""
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
    """Look-ups and searches, found and not; by the wrong method, with a wrong Host, with too much of everything."""
    own, email = quote(known["trackingId"]), quote(known["customerEmail"])
    for _ in range(40):
        number = canary()
        yield Asked("GET", f"{PARCELS}{own}?{canary()}={canary()}", bearing(token))
        yield Asked("GET", f"{SEARCH}?email={email}&{canary()}", bearing(token))
        yield Asked("GET", PARCELS + number, bearing(token), shown=number)
        yield Asked("GET", f"{SEARCH}?orderName={canary()}&email={canary()}@mail.example", bearing(token))
        yield Asked("GET", f"{SEARCH}?{canary()}={canary()}", bearing(token))
        yield Asked("GET", f"{SHIPMENTS}/{canary()}", bearing(token))
        yield Asked("GET", f"/public/{canary()}/{canary()}?{canary()}", bearing(token))
        yield Asked("GET", f"/files/{canary()}:{canary()}", bearing(token))
        yield Asked(canary(), SEARCH, bearing(token))
        yield Asked("PATCH", f"{PARCELS}{canary()}", bearing(token), canary().encode())
        yield Asked("GET", SEARCH + "?" + "&".join(f"{canary()}=1" for _ in range(50)), bearing(token))
    for _ in range(5):
        yield Asked("GET", SEARCH + "?" + f"{canary()}=1&" * 1100, bearing(token))
        yield Asked("GET", f"{PARCELS}{canary()}", bearing(token, Host=f"{canary()}.example"))
        yield Asked("GET", f"{PARCELS}{canary()}", bearing(token, Host=f"{canary()} {canary()}"))


def strangers() -> Iterator[Asked]:
    """Requests without a valid token, until the address's window is used up, and beyond."""
    for _ in range(40):
        well_formed = AccessTokenFactory.build().digest if False else f"pts_{canary()}{canary()}"
        for authorization in (f"Bearer {well_formed}", f"Basic {canary()}", canary(), f"Bearer {canary()} {canary()}"):
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
    """Labels bought, replayed, ordered otherwise with the same key; and each way of a carrier to fail."""
    for carrier, product_code in PRODUCT.items():
        for fault in [*QUIET_FAULTS, *OWN_FAULTS[carrier]]:
            # The purchase that succeeds keeps the carrier from being given a rest.
            yield posted(token, full_order(product_code))
            yield posted(token, full_order(product_code, reference=f"FAULT {fault}"))
        key = {"Idempotency-Key": canary()}
        body = full_order(product_code)
        yield from (
            posted(token, body, **key),
            posted(token, body, **key),
            posted(token, full_order(product_code), **key),
        )


def rests(token: str) -> Iterator[Asked]:
    """Failures in a row, after which the carrier is given a rest, and refused calls."""
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
    """Send requests over a few connections; what is sent over one stays in order."""
    asked = list(requests)
    with ThreadPoolExecutor(THREADS) as pool:
        shares = pool.map(lambda number: list(ask_in_turn(port, asked[number::THREADS])), range(THREADS))
        return [answer for share in shares for answer in share]


def ask_in_turn(port: int, requests: Iterable[Asked]) -> Iterator[Answered]:
    client = HTTPConnection("127.0.0.1", port, timeout=WAIT_TIMEOUT_S)
    for asked in requests:
        try:
            yield exchange(client, asked)
        except ConnectionError:  # the server ends one on which it has left a body unread
            client.close()
            yield exchange(client, asked)
    client.close()


def exchange(client: HTTPConnection, asked: Asked) -> Answered:
    client.putrequest(asked.method, asked.target, skip_host="Host" in asked.headers, skip_accept_encoding=True)
    for name, value in (asked.headers | {"Content-Length": str(len(asked.body))}).items():
        client.putheader(name, value)
    client.endheaders(asked.body)
    response = client.getresponse()
    return Answered(asked, response.status, str(response.headers), response.read())


def found_in(content: bytes) -> list[bytes]:
    return CANARY.findall(content) + [number for number in NATIONAL.findall(content) if number in PHONES]


def told(answers: Iterable[Answered]) -> list[tuple[str, str, list[bytes]]]:
    """The errors of the API, and the answers to probes, that show what a client wrote."""
    return [
        (answer.asked.method, answer.asked.target, found)
        for answer in answers
        if answer.status >= 400 and answer.asked.target.startswith(("/public/", "/files/", "/livez", "/readyz"))
        if (
            found := [
                each for each in found_in(answer.body + answer.head.encode()) if each.decode() != answer.asked.shown
            ]
        )
    ]


def stored() -> bytes:
    """All of Redis, keys and values."""
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as store:
        keys = store.keys("*")
        return b"\n".join([*keys, *(store.dump(key) or b"" for key in keys), *(store.get(key) or b"" for key in keys)])


def figures(server: Server) -> bytes:
    (answer,) = ask_in_turn(server.metrics_port, [Asked("GET", f"/metrics?{canary()}", everywhere())])
    return answer.body


@pytest.fixture
def sandbox() -> Iterator[dict[str, str]]:
    with SandboxServer() as server:
        yield {
            "ALPHA_URL": server.alpha_url,
            "ALPHA_TRACKING_URL": server.alpha_tracking_url,
            "BETA_URL": server.beta_url,
            "CARRIER_TIMEOUT": "2",
            "CARRIER_CONCURRENCY": "8",
        }


@pytest.fixture
def shop(transactional_db: None) -> Shop:
    made: Shop = ShopFactory(name=canary())
    ContractFactory(shop=made, carrier_code="alpha")
    ContractFactory(shop=made, carrier_code="beta", password=canary(), commercial_name=canary())
    return made


def session() -> str:
    """The cookie of a member of staff who has logged in."""
    client = Client()
    client.force_login(User.objects.create_superuser(canary(), f"{canary()}@mail.example", canary()))
    return client.cookies["sessionid"].value


def test_what_clients_write_and_what_is_secret_is_nowhere(shop: Shop, sandbox: dict[str, str], tmp_path: Path) -> None:
    token, staff = AccessTokenFactory(shop=shop).secret, session()
    reader = ShopFactory()
    reading = AccessTokenFactory(shop=reader).secret
    known = {"trackingId": canary(), "customerEmail": f"{canary()}@mail.example"}
    import_parcel(reader, **known)
    settings = sandbox | {"LABELS_DIR": str(tmp_path / "labels"), "RATE_LIMIT": "300/31d", "TRUSTED_PROXIES": "1"}
    answers: list[Answered] = []
    with served(tmp_path / "log", settings, threads=20, with_metrics=True) as server:
        answers += [failing_insert(server.port, token)]  # while no carrier is given a rest
        answers += ask_all(server.port, [*orders(token), *bad_orders(token)])
        answers += ask_all(server.port, [*reads(reading, known), *strangers(), *staffs(staff)])
        answers += ask_all(server.port, rests(token))
        answers += ask_all(server.port, [Asked("GET", path, everywhere()) for path in PAGES])
        numbers = figures(server)
    _, out, errors = run_command("reconcile_labels")
    written, kept = server.log.read_bytes() + out.encode() + errors.encode(), stored()

    assert len(answers) >= 1000
    assert {answer.status for answer in answers} >= EXPECTED
    assert b"outcome_unknown" in written + numbers
    assert b"rate_limit" in kept or b":1:" in kept
    assert told(answers) == []
    assert (found_in(written), found_in(numbers), found_in(kept)) == ([], [], [])
    for secret in (token, token[4:34], reading, staff):
        assert secret.encode() not in written + numbers + kept
    # The same eyes see what is there: the number that a 404 names by its specification, and what is put there.
    assert [answer for answer in answers if answer.asked.shown and answer.asked.shown.encode() in answer.body]
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as store:
        store.set(canary(), phone())
    assert len(set(found_in(stored()))) == 2


def test_nor_is_it_when_the_database_the_counter_and_the_storage_fail(
    shop: Shop, sandbox: dict[str, str], tmp_path: Path
) -> None:
    token, closed = AccessTokenFactory(shop=shop).secret, f"127.0.0.1:{free_port()}"
    failing = sandbox | {
        "CARRIER_TIMEOUT": "20",
        "REDIS_URL": f"redis://:{canary()}@{closed}/0",
        "LABELS_BUCKET": canary().lower(),
        "AWS_S3_ENDPOINT_URL": f"http://{closed}",
        "AWS_ACCESS_KEY_ID": canary(),
        "AWS_SECRET_ACCESS_KEY": canary(),
    }
    without = failing | {"DATABASE_URL": f"postgresql://{canary()}:{canary()}@{closed}/{canary()}"}
    seen: Counter[int] = Counter()
    for settings in (failing, without):
        with served(tmp_path / "log", settings, threads=8, with_metrics=True) as server:
            requests = [posted(token, full_order(product)) for product in PRODUCT.values()]
            requests += [Asked("GET", PARCELS + (number := canary()), bearing(token), shown=number) for _ in range(3)]
            requests += [Asked("GET", f"/admin/login/?{canary()}", everywhere())]
            requests += [Asked("POST", "/admin/login/", *form({"username": canary()}, Cookie=f"sessionid={canary()}"))]
            requests += [Asked("GET", "/admin/", everywhere()), Asked("GET", "/readyz", everywhere())]
            answers = ask_all(server.port, requests)
            assert (told(answers), found_in(figures(server))) == ([], [])
        seen.update(answer.status for answer in answers)
        assert found_in(server.log.read_bytes()) == []
    assert seen[500] == 2 + 2 + 3 + 2
    assert seen[503] == 1


def test_a_server_that_logs_what_clients_write_is_found_out(shop: Shop, tmp_path: Path) -> None:
    """The control: the same requests, and an access log as servers commonly write it."""
    command = [
        sys.executable,
        "-m",
        "granian",
        "--interface",
        "wsgi",
        "--port",
        str(port := free_port()),
        "--access-log",
    ]
    command += ["--access-log-fmt", "%(path)s?%(query_string)s %(header{User-Agent})s", "config.wsgi:application"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=log, stderr=log) as process,
    ):
        try:
            wait_for_port(port, process)
            ask_all(port, [Asked("GET", f"{PARCELS}{canary()}?{canary()}", everywhere()) for _ in range(10)])
            until(lambda: len(set(found_in((tmp_path / "log").read_bytes()))) == 30)
        finally:
            process.terminate()


def failing_insert(port: int, token: str) -> Answered:
    """Order a label that the database refuses with a text that quotes the whole row."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE labels_shippinglabel ADD CONSTRAINT refused CHECK (false) NOT VALID")
        asked = posted(token, full_order("alpha-13"))
        del asked.headers["Idempotency-Key"]  # whose repetition the refusal would pass for
        (answer,) = ask_in_turn(port, [asked])
        cursor.execute("ALTER TABLE labels_shippinglabel DROP CONSTRAINT refused")
    assert answer.status == 500
    return answer
