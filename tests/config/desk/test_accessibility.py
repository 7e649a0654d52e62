"""The staff's pages in a browser: axe finds no fault, nothing scrolls sideways, no list is endless on a phone."""

import html
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from django.core.wsgi import get_wsgi_application
from django.test import Client

from tests.labels.admin.pages import LABELS, TO_DECIDE
from tests.labels.factories import ContractFactory, LabelFactory
from tests.support.api import logged_in
from tests.support.factories import ShopFactory, import_parcel
from tests.support.processes import ROOT

RUNNER = Path(__file__).with_name("runner.html")
AXE = ROOT / "tests" / "clients" / "typescript" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PARCELS = "/admin/parcels/parcel/"
SEARCHES = ["/admin/search/?q=5400", "/admin/search/?q=nobody"]
LISTS = ["shops/accesstoken/", "shops/carriercontract/", "shops/auditentry/", "labels/depositslip/", "auth/user/"]
FORMS = ["shops/shop/add/", "shops/accesstoken/add/", "shops/carriercontract/add/", "shops/webhookendpoint/add/"]
OTHERS = ["", "labels/labelfigure/", "shops/shop/", *LISTS, *FORMS]
PAGES = [LABELS, PARCELS, TO_DECIDE, *SEARCHES, *(f"/admin/{path}" for path in OTHERS)]
PHONE, DESK = 390, 1440
SCREEN = 844
ROWS = 50
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --virtual-time-budget=120000 --dump-dom"
).split()

pytestmark = [pytest.mark.any_database, pytest.mark.django_db(transaction=True)]


class ThreadingServer(ThreadingMixIn, WSGIServer):
    """Answers several requests at a time."""

    daemon_threads = True


class SilentHandler(WSGIRequestHandler):
    """Writes no log."""

    def log_message(self, *arguments: Any) -> None:
        """Write nothing."""


@contextmanager
def served(staff: Client, checks: list[Any]) -> Iterator[str]:
    """Serve the admin to whoever asks as this member of staff, without the headers that keep it out of a frame."""
    application, cookie = get_wsgi_application(), f"sessionid={staff.cookies['sessionid'].value}"
    own = {
        "/runner": ("text/html", RUNNER.read_text(encoding="utf-8").replace("PAGES)", f"{json.dumps(checks)})")),
        "/axe.js": ("text/javascript", AXE.read_text(encoding="utf-8")),
    }

    def answer(environ: dict[str, Any], start_response: Any) -> Any:
        if environ["PATH_INFO"] in own:
            kind, text = own[environ["PATH_INFO"]]
            start_response("200 OK", [("Content-Type", f"{kind}; charset=utf-8")])
            return [text.encode()]

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            kept = [each for each in headers if each[0] not in {"Content-Security-Policy", "X-Frame-Options"}]
            return start_response(status, kept, *rest)

        return application(environ | {"HTTP_COOKIE": cookie}, start)

    server = make_server("127.0.0.1", 0, answer, ThreadingServer, SilentHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def made() -> list[str]:
    """Make rows of each kind; return the pages of a shop, a label and a parcel."""
    shop = ShopFactory(name="Maison Lumière")
    ContractFactory(shop=shop, carrier_code="alpha")
    refusal = {"error_code": "ALPHA_ADDRESS_REJECTED", "error_message": "No such postal code in this country."}
    failed = {"state": "failed", "carrier_code": "alpha"} | refusal
    for number in range(ROWS):
        parcel = import_parcel(shop, orderId=f"5400{number:02}")
        LabelFactory(shop=shop, order_id=f"5400{number:02}", **({} if number % 5 else failed))
    LabelFactory(shop=shop, state="unknown", carrier_code="alpha", id="0" * 15)
    LabelFactory(shop=shop, state="incomplete", id="1" * 15, staff_notice="The customs form did not come.")
    rows = (f"/admin/shops/shop/{shop.pk}", f"{LABELS}{'0' * 15}", f"{PARCELS}{parcel['id']}")
    return [f"{row}/change/" for row in rows]


@pytest.mark.skipif(not CHROMIUM or not AXE.exists(), reason="needs chromium, and axe-core from .venv-clients")
def test_a_browser_finds_no_fault_in_any_page(tmp_path: Path) -> None:
    checks = [(path, *view) for path in [*PAGES, *made()] for view in ((PHONE, "light"), (DESK, "dark"))]
    with served(logged_in(is_superuser=True), checks) as address:
        command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path}", f"{address}/runner"]
        shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout
    (found,) = re.findall(r'<pre id="found">(.*?)</pre>', shown, re.DOTALL)
    results = json.loads(html.unescape(found))
    assert len(results) == len(checks)
    assert [result for result in results if result.get("failed") or result["found"]] == []
    assert [result for result in results if result["scrollWidth"] > result["width"]] == []
    heights = {result["path"]: result["scrollHeight"] for result in results if result["width"] == PHONE}
    assert max(heights[LABELS], heights[PARCELS]) <= 12 * SCREEN, heights
