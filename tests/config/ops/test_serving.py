"""The service as production runs it, behind a proxy and under an orchestrator: `manage.py serve`."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test.client import encode_multipart
from pytest_django.fixtures import Settings

from carriers.sandbox.server import SandboxServer
from labels.models import LabelState, ShippingLabel
from shops.errors.plain import PLAIN_ERRORS
from shops.models import Shop
from tests.labels.admin.pages import pdf_file
from tests.labels.conftest import Sandbox
from tests.labels.factories import ContractFactory, LabelFactory
from tests.labels.gates import Gate
from tests.labels.orders import order
from tests.support.api import logged_in
from tests.support.factories import AccessTokenFactory, ShopFactory, import_parcel
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.processes import Server, environment, free_port, run_command, served
from tests.support.waiting import WAIT_TIMEOUT_S, until

pytestmark = pytest.mark.real_services
ONE = {"RATE_LIMIT": "1/31d"}  # of a window that ends while a test runs once in a long while


def ask(
    port: int, method: str, path: str, headers: list[tuple[str, str]] | None = None, body: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Send a request with exactly these headers over a connection of its own."""
    connection = HTTPConnection("127.0.0.1", port, timeout=WAIT_TIMEOUT_S)
    sent = headers or []
    connection.putrequest(method, path, skip_host=any(name == "Host" for name, _ in sent), skip_accept_encoding=True)
    for name, value in [*sent, ("Content-Length", str(len(body)))]:
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, content


def is_refused(port: int) -> bool:
    try:
        ask(port, "GET", "/livez")
    except ConnectionError:
        return True
    return False


def worker_pids(server: Server) -> list[int]:
    pid = server.process.pid
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def metrics(server: Server) -> dict[str, float]:
    """All samples, by name and labels."""
    text = ask(server.metrics_port, "GET", "/metrics")[2].decode()
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


# --- Ending ---


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with SandboxServer() as server:
        yield Sandbox(server)


def carrier_settings(sandbox: Sandbox) -> dict[str, str]:
    server = sandbox.server
    return {"ALPHA_URL": server.alpha_url, "ALPHA_TRACKING_URL": server.alpha_tracking_url, "BETA_URL": server.beta_url}


def buyer() -> tuple[Shop, str]:
    shop: Shop = ShopFactory()
    for carrier in ("alpha", "beta"):
        ContractFactory(shop=shop, carrier_code=carrier)
    return shop, AccessTokenFactory(shop=shop).secret


def test_a_purchase_that_is_under_way_at_a_sigterm_is_finished_and_nothing_new_begins(
    transactional_db: None, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, token = buyer()
    headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
    with (
        served(tmp_path / "log", {"LABELS_DIR": str(tmp_path / "labels")} | carrier_settings(sandbox)) as server,
        ThreadPoolExecutor(1) as pool,
        Gate(monkeypatch, sandbox.server.state, "sell") as gate,
    ):
        purchase = pool.submit(ask, server.port, "POST", SHIPMENTS, headers, json.dumps(order()).encode())
        assert gate.reached.wait(WAIT_TIMEOUT_S)
        server.process.send_signal(signal.SIGTERM)
        until(lambda: is_refused(server.port))
        assert not purchase.done()
        gate.open.set()
        status, _, content = purchase.result(WAIT_TIMEOUT_S)
        assert (status, server.process.wait(WAIT_TIMEOUT_S)) == (201, 0)
    label = ShippingLabel.objects.get()
    assert (label.state, label.id) == (LabelState.GENERATED, json.loads(content)["id"])


OVER_AT_ONCE = """
import signal
import sys
from types import SimpleNamespace
import django
django.setup()
from tests.support.waiting import WAIT_TIMEOUT_S, until
from config import serving
serving.granian = lambda plan: SimpleNamespace(serve=lambda **options: None)
serving.serve(serving.Plan(host="127.0.0.1", port=int(sys.argv[1]), workers=1, threads=10))
print(signal.getitimer(signal.ITIMER_REAL))
"""


def test_no_alarm_outlives_the_server_and_ends_python_as_it_ends(transactional_db: None) -> None:
    command = [sys.executable, "-c", OVER_AT_ONCE, str(free_port())]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "(0.0, 0.0)\n"), done.stderr


# --- Bodies that stall ---

OF_KNOWN_LENGTH, IN_CHUNKS = "Content-Length: 1000", "Transfer-Encoding: chunked"
A_FORM = ("Content-Type: application/x-www-form-urlencoded", f"Cookie: csrftoken={'c' * 32}")


@contextmanager
def stalled(port: int, path: str, *headers: str) -> Iterator[None]:
    """Announce a body and send four bytes of it; a thread waits for the rest when this yields."""
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Expect: 100-continue", *headers, "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_TIMEOUT_S) as connection:
        connection.sendall("\r\n".join(head).encode())
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"  # said when the body is asked for
        connection.sendall(b"3e8\r\nhalf" if IN_CHUNKS in headers else b"half")
        yield


@contextmanager
def all_places_taken(port: int, token: str) -> Iterator[None]:
    """Stall three bodies, each in its own way."""
    an_order = (f"Authorization: Bearer {token}", "Content-Type: application/json")
    with (
        stalled(port, SHIPMENTS, *an_order, OF_KNOWN_LENGTH),
        stalled(port, SHIPMENTS, *an_order, IN_CHUNKS),
        stalled(port, "/admin/login/", *A_FORM, OF_KNOWN_LENGTH),
    ):
        yield


def statuses_of_posts(server: Server) -> list[int]:
    """Those that were answered, refusals left out."""
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if '"method":"POST"' in line]
    return sorted(line["status"] for line in lines if line["status"] != 503)


def test_bodies_that_stall_leave_a_thread_for_what_has_none(
    transactional_db: None, sandbox: Sandbox, tmp_path: Path
) -> None:
    shop, token = buyer()
    number = import_parcel(shop)["trackingId"]
    bearer = ("Authorization", f"Bearer {token}")
    an_order = ("POST", SHIPMENTS, [bearer, ("Content-Type", "application/json")], json.dumps(order()).encode())
    said = PLAIN_ERRORS["too_busy"].message
    settings = {"LABELS_DIR": str(tmp_path / "labels")} | carrier_settings(sandbox)
    with served(tmp_path / "log", settings, threads=5) as server:
        with all_places_taken(server.port, token):
            for path in (PARCELS + number, f"{SEARCH}?orderName=1", "/livez", "/readyz", "/admin/login/"):
                assert ask(server.port, "GET", path, [bearer])[0] == 200, path
            status, headers, content = ask(server.port, *an_order)
            assert (status, headers["retry-after"], headers["cache-control"]) == (503, "1", "no-store")
            assert json.loads(content) | {"timestamp": ""} == {"message": said, "statusCode": 503, "timestamp": ""}
            status, headers, content = ask(server.port, "POST", "/admin/login/", body=b"username=a")
            assert (status, headers["retry-after"], headers["content-type"]) == (503, "1", "text/plain")
            assert content.decode() == said
            assert f'"request_id":"{headers["x-request-id"]}"' in server.log.read_text()
        until(lambda: statuses_of_posts(server) == [400, 400, 400])
        assert ask(server.port, *an_order)[0] == 201
        with all_places_taken(server.port, token):  # so every place was given back
            assert ask(server.port, "GET", "/livez")[0] == 200
    assert sandbox.calls() == 1


def test_staff_upload_a_pdf_of_several_megabytes(transactional_db: None, tmp_path: Path) -> None:
    session = logged_in("view_shippinglabel", "change_shippinglabel").cookies["sessionid"].value
    label = LabelFactory(shop=ShopFactory(), state="unknown", carrier_code="beta")
    pdf = SimpleUploadedFile("label.pdf", pdf_file(1, b" " * 5 * 1024 * 1024))
    form = encode_multipart("x", {"csrfmiddlewaretoken": "c" * 32, "number_1": "6A1111", "pdf": pdf})
    headers = [("Content-Type", "multipart/form-data; boundary=x")]
    headers += [("Cookie", f"csrftoken={'c' * 32}; sessionid={session}")]
    with served(tmp_path / "log", {"LABELS_DIR": str(tmp_path / "labels")}) as server:
        assert ask(server.port, "POST", f"/admin/labels/shippinglabel/{label.id}/adopt/", headers, form)[0] == 302
    label.refresh_from_db()
    assert label.state == LabelState.GENERATED


# --- Staying ---


def test_a_worker_that_is_killed_is_replaced_and_its_figures_stay(transactional_db: None, tmp_path: Path) -> None:
    with served(tmp_path / "log", workers=2, with_metrics=True) as server:
        until(lambda: len(worker_pids(server)) == 2)
        for _ in range(20):
            assert ask(server.port, "GET", "/public/unknown")[0] == 404
        before = worker_pids(server)
        os.kill(before[0], signal.SIGKILL)
        until(lambda: len(set(worker_pids(server)) - {before[0]}) == 2)
        until(lambda: server.log.read_text().count("Started worker-") == 3)  # before that it may miss a SIGTERM
        found = metrics(server)
    name = 'http_request_duration_seconds_count{method="GET",route="unknown-path",status="404"}'
    assert found[name] == 20
    assert found['carrier_circuit_breaker{carrier="alpha",state="closed"}'] == 2
    assert found['carrier_circuit_breaker{carrier="alpha",state="open"}'] == 0
    assert found['label_purchases_total{carrier="beta",state="received"}'] == 0  # an alert sees the first one, too


def test_the_figures_of_several_processes_are_one_whichever_is_asked(transactional_db: None, tmp_path: Path) -> None:
    with served(tmp_path / "log", {"RATE_LIMIT": "100/31d"}, workers=3, with_metrics=True) as server:
        with ThreadPoolExecutor(8) as pool:
            statuses = Counter(pool.map(lambda _: ask(server.port, "GET", SEARCH)[0], range(150)))
        assert statuses == {403: 100, 429: 50}
        pids = {line for line in server.log.read_text().splitlines() if "Spawning worker" in line}
        readings = [metrics(server) for _ in range(6)]
    assert len(pids) == 3
    for found in readings:
        for status, count in statuses.items():
            labels = f'{{method="GET",route="parcel-search",status="{status}"}}'
            assert found[f"http_request_duration_seconds_count{labels}"] == count
        assert found['rate_limit_refusals_total{group="address"}'] == 50
        assert found["labels_interrupted_oldest_seconds"] == 0


# --- Behind a proxy ---

FORGERIES = [
    [("X-Forwarded-For", "203.0.113.1")],
    [("X-Forwarded-For", "203.0.113.2, 198.51.100.1, 192.0.2.1")],
    [("X-Forwarded-For", "203.0.113.3"), ("X-Forwarded-For", "203.0.113.4")],
    [("X-Forwarded-For", "2001:db8:1::1")],
    [("X-Forwarded-For", "[2001:db8:2::1]:4711")],
    [("X-Forwarded-For", "nonsense"), ("X-Forwarded-For", "")],
    [("X_Forwarded_For", "203.0.113.5")],
    [("Forwarded", "for=203.0.113.6"), ("X-Real-IP", "203.0.113.7"), ("X-Client-IP", "203.0.113.8")],
]


def statuses_of(server: Server, requests: list[list[tuple[str, str]]]) -> list[int]:
    return [ask(server.port, "GET", SEARCH, headers)[0] for headers in requests]


def test_without_a_proxy_no_header_gains_a_window_of_its_own(transactional_db: None, tmp_path: Path) -> None:
    with served(tmp_path / "log", ONE) as server:
        assert statuses_of(server, [[], *FORGERIES]) == [403] + [429] * len(FORGERIES)


def test_behind_a_proxy_what_a_client_forges_before_the_proxys_own_entry_gains_nothing(
    transactional_db: None, tmp_path: Path
) -> None:
    proxys = ("X-Forwarded-For", "192.0.2.50")  # what the proxy adds, in a line of its own or in the client's
    appended = [[*forgery, proxys] for forgery in FORGERIES]
    joined = [[("X-Forwarded-For", ", ".join([*dict(forgery).values(), proxys[1]]))] for forgery in FORGERIES]
    with served(tmp_path / "log", ONE | {"TRUSTED_PROXIES": "1"}) as server:
        assert statuses_of(server, [[proxys], *appended, *joined]) == [403] + [429] * 2 * len(FORGERIES)
        # Others behind the same proxy have windows of their own; an IPv6 client's is its whole network's.
        assert statuses_of(server, [[("X-Forwarded-For", "203.0.113.99, 192.0.2.51")]]) == [403]
        network = [[("X-Forwarded-For", f"2001:db8::{host}")] for host in ("1", "2", "ffff")]
        assert statuses_of(server, network) == [403, 429, 429]


def test_a_forwarded_address_that_is_none_leaves_the_one_the_request_came_from(
    transactional_db: None, tmp_path: Path
) -> None:
    values = ["127.0.0.1", "203.0.113.1\xe9, 192.0.2.60", "", "nonsense"]
    with served(tmp_path / "log", ONE | {"TRUSTED_PROXIES": "1"}) as server:
        assert statuses_of(server, [[("X-Forwarded-For", value)] for value in values]) == [403, 429, 429, 429]


def test_a_token_that_is_not_ascii_was_sent_all_the_same(transactional_db: None, tmp_path: Path) -> None:
    with served(tmp_path / "log") as server:
        _, found, _ = ask(server.port, "GET", f"{SHIPMENTS}/1", [("Authorization", "Bearer pts_\xe9")])
    assert found["www-authenticate"].endswith(', error="invalid_token"')


def test_behind_two_proxies_the_entry_of_the_first_counts(transactional_db: None, tmp_path: Path) -> None:
    def chain(forged: str, client: str) -> list[tuple[str, str]]:
        return [("X-Forwarded-For", f"{forged}, {client}"), ("X-Forwarded-For", "10.0.0.2")]

    requests = [chain("203.0.113.1", "192.0.2.1"), chain("203.0.113.2", "192.0.2.1"), chain("192.0.2.1", "192.0.2.2")]
    with served(tmp_path / "log", ONE | {"TRUSTED_PROXIES": "2"}) as server:
        assert statuses_of(server, requests) == [403, 429, 403]
        # Fewer entries than proxies: whoever reached past them shares the window of the address it came from.
        assert statuses_of(server, [[("X-Forwarded-For", "203.0.113.9")], []]) == [403, 429]


def test_https_is_asked_for_and_only_a_trusted_proxy_can_vouch_for_it(transactional_db: None, tmp_path: Path) -> None:
    forwarded = [("X-Forwarded-Proto", "https")]
    with served(tmp_path / "direct", {"HTTPS": "1"}) as server:
        for headers in ([], forwarded):
            status, found, _ = ask(server.port, "GET", PARCELS + "1", headers)
            assert (status, found["location"]) == (301, f"https://127.0.0.1:{server.port}{PARCELS}1")
    with served(tmp_path / "proxied", {"HTTPS": "1", "TRUSTED_PROXIES": "1"}) as server:
        assert ask(server.port, "GET", PARCELS + "1")[0] == 301
        status, found, _ = ask(server.port, "GET", PARCELS + "1", forwarded)
        assert status == 403
        assert re.match(r"max-age=\d{8}; includeSubDomains; preload", found["strict-transport-security"])


def test_probes_need_no_https_no_known_host_and_no_token(transactional_db: None, tmp_path: Path) -> None:
    pod = [("Host", "10.1.2.3:8000"), ("User-Agent", "kube-probe/1.33")]
    with served(tmp_path / "log", ONE | {"HTTPS": "1", "ALLOWED_HOSTS": "api.example.com"}) as server:
        for path in ("/livez", "/readyz"):
            assert [ask(server.port, "GET", path, pod)[0] for _ in range(3)] == [200] * 3
        assert ask(server.port, "GET", PARCELS + "1", pod)[0] == 400
        assert ask(server.port, "GET", "/livez/", [("Host", "api.example.com")])[0] == 301
    assert '"livez"' not in (tmp_path / "log").read_text()


# --- Not starting ---


@pytest.mark.parametrize(
    ("name", "value_s", "words"),
    [
        ("CARRIER_TIMEOUT", 40.0, "GRACEFUL_TIMEOUT (75 s) has to be above 85 s"),
        ("GRACEFUL_TIMEOUT", 65, "GRACEFUL_TIMEOUT (65 s) has to be above 65 s"),
        ("STOP_TIMEOUT", 75, "below STOP_TIMEOUT (75 s)"),
    ],
)
def test_timeouts_in_the_wrong_order_are_refused(name: str, value_s: float, words: str, settings: Settings) -> None:
    setattr(settings, name, value_s)
    with pytest.raises(CommandError, match=re.escape(words)):
        call_command("serve", port=free_port())


def test_a_port_that_is_taken_is_refused_for_either_use(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"port {port} of 127.0.0.1 can't be used"):
            call_command("serve", port=port)
        settings.METRICS_PORT = port
        with pytest.raises(CommandError, match=f"port {port} of 127.0.0.1 can't be used"):
            call_command("serve", port=free_port())


# --- Refusing ---

FREE, ANOTHER = "a free port", "another free port"


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["--threads", "0"], {}, "0 threads can't be served with: needs 1 to 1000"),
        (["--threads", "-3"], {}, "-3 threads can't be served with: needs 1 to 1000"),
        (["--workers", "0"], {}, "0 workers can't be served with: needs 1 to 1000"),
        (["--workers", "1001"], {}, "1001 workers can't be served with: needs 1 to 1000"),
        ([], {"LABELS_DIR": "/etc/passwd"}, "LABELS_DIR needs a folder that the service may write to"),
        ([], {"LABELS_DIR": "/etc/passwd/x"}, "LABELS_DIR needs a folder that the service may write to"),
        (["--port", "0"], {}, "port 0 can't be used: needs 1 to 65535"),
        (["--port", FREE], {"METRICS_PORT": FREE}, f"METRICS_PORT is the public port {FREE}: it needs one of its own"),
        (
            ["--port", FREE],
            {"METRICS_PORT": ANOTHER, "PROMETHEUS_MULTIPROC_DIR": "/etc/passwd/x"},
            "PROMETHEUS_MULTIPROC_DIR can't be used",
        ),
    ],
)
def test_what_can_not_be_served_with_is_one_line(
    arguments: list[str], settings: dict[str, str], said: str, transactional_db: None
) -> None:
    ports = {name: str(free_port()) for name in (FREE, ANOTHER)}
    words = [ports.get(word, word) for word in arguments]
    variables = {name: ports.get(value, value) for name, value in settings.items()}
    code, out, err = run_command("serve", *words, stdin=b"", **variables)
    assert (code, out) == (1, "")
    assert said.replace(FREE, ports[FREE]) in err.splitlines()[-1]


def test_workers_whose_parent_is_killed_end_too(transactional_db: None, tmp_path: Path) -> None:
    with served(tmp_path / "log", workers=2) as server:
        until(lambda: server.log.read_text().count("Started worker-") == 2)
        server.process.kill()
        until(lambda: is_refused(server.port))
