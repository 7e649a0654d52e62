"""`manage.py serve`: ending, stalled bodies, replaced workers, metrics."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import encode_multipart
from granian import _signals

from carriers.sandbox.server import SandboxServer
from config.ops import serving
from labels.models import LabelState, ShippingLabel
from shops.api.errors.plain import PLAIN_ERRORS
from shops.models import Shop
from tests.labels.admin.pages import pdf_file
from tests.labels.conftest import Sandbox
from tests.labels.factories import ContractFactory, LabelFactory
from tests.labels.gates import Gate
from tests.labels.orders import order
from tests.shops.test_traffic import newest
from tests.support.api import logged_in
from tests.support.factories import AccessTokenFactory, ShopFactory, import_parcel
from tests.support.http import ask, metrics
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.processes import ROOT, Server, served
from tests.support.waiting import WAIT_TIMEOUT_S, until
from tests.support.windows import fresh_caller

pytestmark = pytest.mark.real_services


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that several tests ask for what no other request changes."""
    folder = tmp_path_factory.mktemp("server")
    with served(folder / "log", {"LABELS_DIR": str(folder / "labels")}, threads=5) as running:
        yield running


def is_refused(port: int) -> bool:
    try:
        ask(port, "GET", "/livez")
    except ConnectionError:
        return True
    return False


def worker_pids(server: Server) -> list[int]:
    pid = server.popen.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# --- Ending ---


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with SandboxServer() as server:
        yield Sandbox(server)


def buyer() -> tuple[Shop, str]:
    shop: Shop = ShopFactory()
    for carrier in ("alpha", "beta"):
        ContractFactory(shop=shop, carrier_code=carrier)
    return shop, AccessTokenFactory(shop=shop).secret


def test_a_purchase_in_flight_at_sigterm_is_finished_and_no_new_one_begins(
    transactional_db: None, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, token = buyer()
    headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
    with (
        served(tmp_path / "log", {"LABELS_DIR": str(tmp_path / "labels")} | sandbox.server.urls) as server,
        ThreadPoolExecutor(1) as pool,
        Gate(monkeypatch, sandbox.server.state.ledger, "record") as gate,
    ):
        purchase = pool.submit(ask, server.port, "POST", SHIPMENTS, headers, json.dumps(order()).encode())
        assert gate.reached.wait(WAIT_TIMEOUT_S)
        server.popen.send_signal(signal.SIGTERM)
        until(lambda: is_refused(server.port))
        assert not purchase.done()
        gate.open.set()
        status, _, content = purchase.result(WAIT_TIMEOUT_S)
        assert (status, server.popen.wait(WAIT_TIMEOUT_S)) == (201, 0)
    label = ShippingLabel.objects.get()
    assert (label.state, label.id) == (LabelState.GENERATED, json.loads(content)["id"])


# --- Bodies that stall ---

OF_KNOWN_LENGTH, IN_CHUNKS = "Content-Length: 1000", "Transfer-Encoding: chunked"
A_FORM = ("Content-Type: application/x-www-form-urlencoded", f"Cookie: csrftoken={'c' * 32}")


@contextmanager
def stalled(port: int, path: str, *headers: str) -> Iterator[None]:
    """Announce a body and send its first four bytes; when this yields, a thread waits for the rest."""
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Expect: 100-continue", *headers, "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_TIMEOUT_S) as connection:
        connection.sendall("\r\n".join(head).encode())
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"  # said when the body is asked for
        connection.sendall(b"3e8\r\nhalf" if IN_CHUNKS in headers else b"half")
        yield


def answer_to_half(port: int, path: str) -> bytes:
    """Send half of a form that nobody waits for; return the status."""
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *A_FORM, OF_KNOWN_LENGTH, "", "half"]
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_TIMEOUT_S) as connection:
        connection.sendall("\r\n".join(head).encode())
        return connection.recv(12)[-3:]


@contextmanager
def all_places_taken(port: int, *tokens: str) -> Iterator[None]:
    """Stall three bodies: an order of known length, one of another shop in chunks, and a form."""
    one, two = ((f"Authorization: Bearer {token}", "Content-Type: application/json") for token in tokens)
    with (
        stalled(port, SHIPMENTS, *one, OF_KNOWN_LENGTH),
        stalled(port, SHIPMENTS, *two, IN_CHUNKS),
        stalled(port, "/admin/account/login/", *A_FORM, OF_KNOWN_LENGTH),
    ):
        yield


def statuses_of_posts(server: Server) -> list[int]:
    """Statuses of the answered POST requests, except 503."""
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if '"method":"POST"' in line]
    return sorted(line["status"] for line in lines if line["status"] != 503)


def test_stalled_bodies_leave_threads_for_other_requests(
    transactional_db: None, sandbox: Sandbox, tmp_path: Path
) -> None:
    shop, token = buyer()
    other = AccessTokenFactory().secret
    number = import_parcel(shop)["trackingId"]
    bearer = ("Authorization", f"Bearer {token}")
    an_order = ("POST", SHIPMENTS, [bearer, ("Content-Type", "application/json")], json.dumps(order()).encode())
    said = PLAIN_ERRORS["too_busy"].message
    settings = {"LABELS_DIR": str(tmp_path / "labels")} | sandbox.server.urls
    with served(tmp_path / "log", settings, threads=5) as server:
        takes_none = {"/admin/": b"302", "/admin/unknown": b"302", "/docs": b"405", "/public/unknown": b"404"}
        assert {path: answer_to_half(server.port, path) for path in takes_none} == takes_none
        with all_places_taken(server.port, token, other):
            for path in (PARCELS + number, f"{SEARCH}?orderName=1", "/livez", "/readyz", "/admin/account/login/"):
                assert ask(server.port, "GET", path, [bearer])[0] == 200, path
            status, headers, content = ask(server.port, *an_order)
            assert (status, headers["retry-after"], headers["cache-control"]) == (503, "1", "no-store")
            assert json.loads(content) | {"timestamp": ""} == {"message": said, "statusCode": 503, "timestamp": ""}
            status, headers, content = ask(server.port, "POST", "/admin/account/login/", body=b"username=a")
            assert (status, headers["retry-after"], headers["content-type"]) == (503, "1", "text/plain")
            assert content.decode() == said
            until(lambda: f'"request_id":"{headers["x-request-id"]}"' in server.log.read_text())  # after the answer
        until(lambda: statuses_of_posts(server) == [302, 302, 400, 400, 400, 404, 405])
        assert ask(server.port, *an_order)[0] == 201
        with all_places_taken(server.port, token, other):  # so every place was released
            assert ask(server.port, "GET", "/livez")[0] == 200
    assert sandbox.calls() == 1


def test_staff_upload_a_pdf_of_several_megabytes(transactional_db: None, server: Server) -> None:
    session = logged_in("view_shippinglabel", "change_shippinglabel").cookies["sessionid"].value
    label = LabelFactory(shop=ShopFactory(), state="unknown", carrier_code="beta")
    pdf = SimpleUploadedFile("label.pdf", pdf_file(1, b" " * 5 * 1024 * 1024))
    form = encode_multipart("x", {"csrfmiddlewaretoken": "c" * 32, "number_1": "6A1111", "pdf": pdf})
    headers = [("Content-Type", "multipart/form-data; boundary=x")]
    headers += [("Cookie", f"csrftoken={'c' * 32}; sessionid={session}")]
    assert ask(server.port, "POST", f"/admin/labels/shippinglabel/{label.id}/adopt/", headers, form)[0] == 302
    label.refresh_from_db()
    assert label.state == LabelState.GENERATED


# --- Clients that do not read ---

LARGE_FILE = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
USUAL_FILE = "/static/unfold/css/styles.css"


@contextmanager
def unread(port: int, path: str) -> Iterator[None]:
    """Ask for a file so often that the kernel has no room for all answers, and read none."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.settimeout(WAIT_TIMEOUT_S)
        connection.connect(("127.0.0.1", port))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() * 100)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # nothing stays behind
        yield


def large_file(port: int, status: int) -> list[tuple[dict[str, str], bytes]]:
    """Ask for it once; return the headers and the content, if the answer has this status."""
    found, headers, content = ask(port, "GET", LARGE_FILE)
    return [(headers, content)] if found == status else []


def test_clients_that_do_not_read_a_file_leave_threads_for_other_requests(
    transactional_db: None, server: Server
) -> None:
    caller = fresh_caller()
    number = import_parcel(caller.shop)["trackingId"]
    bearer = [("Authorization", f"Bearer {caller.token}")]
    with ExitStack() as clients:
        for path in [LARGE_FILE, USUAL_FILE] * 6:
            clients.enter_context(unread(server.port, path))
        ((headers, content),) = until(lambda: large_file(server.port, 503))  # all places for large files are taken
        assert (headers["retry-after"], headers["content-type"]) == ("1", "text/plain")
        assert content.decode() == PLAIN_ERRORS["too_busy"].message
        for path in (PARCELS + number, f"{SHIPMENTS}?limit=1", "/livez", USUAL_FILE):
            assert ask(server.port, "GET", path, bearer)[0] == 200, path
        clients.close()
        ((headers, content),) = until(lambda: large_file(server.port, 200))  # so their places were released
        assert headers["content-length"] == str(len(content))


# --- Staying ---


def test_a_killed_worker_is_replaced_and_its_metrics_stay_and_all_end_with_their_parent(
    transactional_db: None, tmp_path: Path
) -> None:
    with served(tmp_path / "log", {"PROMETHEUS_MULTIPROC_DIR": ""}, workers=2, with_metrics=True) as server:
        until(lambda: server.log.read_text().count("Started worker-") == 2)
        for _ in range(20):
            assert ask(server.port, "GET", "/public/unknown")[0] == 404
        before = worker_pids(server)
        os.kill(before[0], signal.SIGKILL)
        until(lambda: len(set(worker_pids(server)) - {before[0]}) == 2)
        until(lambda: server.log.read_text().count("Started worker-") == 3)  # before that it may miss a SIGTERM
        found = metrics(server.metrics_port)
        server.popen.kill()
        until(lambda: is_refused(server.port))
    name = 'http_request_duration_seconds_count{method="GET",route="unknown-path",status="404"}'
    assert found[name] == 20
    assert found['carrier_circuit_breaker{carrier="alpha",service="shipping",state="closed"}'] == 2
    assert found['carrier_circuit_breaker{carrier="alpha",service="cancellation",state="open"}'] == 0
    assert found['label_purchases_total{carrier="beta",state="received"}'] == 0  # so an alert sees the first one
    assert found['labels_unrecorded_total{carrier="alpha"}'] == found["webhook_oldest_due_seconds"] == 0


def test_any_process_serves_the_metrics_of_all_and_adds_what_it_counts_of_a_shop(
    transactional_db: None, tmp_path: Path
) -> None:
    token = AccessTokenFactory()
    bearer = [("Authorization", f"Bearer {token.secret}")]
    with served(tmp_path / "log", {"RATE_LIMIT": "100/31d"}, workers=3, with_metrics=True) as server:
        with ThreadPoolExecutor(8) as pool:
            statuses = Counter(pool.map(lambda _: ask(server.port, "GET", SEARCH)[0], range(150)))
        assert statuses == {403: 100, 429: 50}
        pids = {line for line in server.log.read_text().splitlines() if "Spawning worker" in line}
        readings = [metrics(server.metrics_port) for _ in range(6)]
        for _ in range(15):
            assert ask(server.port, "GET", f"{PARCELS}absent", bearer)[0] == 404
        until(lambda: newest(token.shop.id) == {"4xx": 15})
    assert len(pids) == 3
    for found in readings:
        for status, count in statuses.items():
            labels = f'{{method="GET",route="parcel-search",status="{status}"}}'
            assert found[f"http_request_duration_seconds_count{labels}"] == count
        assert found['rate_limit_refusals_total{group="address"}'] == 50
        assert found["labels_interrupted_oldest_seconds"] == 0


def test_a_second_signal_within_the_first_is_not_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[Callable[..., None]] = []
    heard = []

    def granians_own(*signal_and_frame: object) -> None:
        heard.append(signal_and_frame)
        assert len(heard) == 1
        installed[0](*signal_and_frame)

    monkeypatch.setattr(_signals, "set_main_signals", installed.append)
    serving.end_once()
    _signals.set_main_signals(granians_own)  # type: ignore[no-untyped-call]
    installed[0](signal.SIGTERM, None)
    assert heard == [(signal.SIGTERM, None)]


EARLY_SIGNAL = """
import os, signal, time
from config.ops import serving
signal.signal(signal.SIGTERM, lambda *_: None)  # the parent's, which a worker inherits
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))
serving.guard_forks()
worker = os.fork()
if not worker:
    time.sleep(1)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]), signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


def test_a_worker_ends_by_a_signal_that_comes_before_its_first_step() -> None:
    code = f"import django; django.setup(){EARLY_SIGNAL}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ended.stdout == f"{-signal.SIGTERM} set()\n"
