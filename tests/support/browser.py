"""Pages in a real browser: what axe finds in them, their size, and what a step on them tells."""

import html
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.core.servers.basehttp import ThreadedWSGIServer  # closes its threads' connections
from django.core.wsgi import get_wsgi_application
from django.test import Client

from tests.support.processes import ROOT
from tests.support.programs import needs

RUNNER = Path(__file__).with_name("browser.html")
AXE = ROOT / "tests" / "clients" / "typescript" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --virtual-time-budget=120000 --dump-dom"
).split()

needs_browser = needs("chromium, or axe-core of .venv-clients,", CHROMIUM and AXE.exists())


class SilentHandler(WSGIRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Write nothing."""


def shown(
    checks: Sequence[Sequence[Any]], profile: Path, staff: Client | None = None, language: str = ""
) -> list[dict[str, Any]]:
    """Open each page in its width and theme, take the step if there is one, and return what was found."""
    session = staff.cookies["sessionid"].value if staff else ""
    with served(checks, f"sessionid={session}; language={language}") as address:
        command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", f"{address}/runner"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (found,) = re.findall(r'<pre id="found">(.*?)</pre>', output, re.DOTALL)
    results: list[dict[str, Any]] = json.loads(html.unescape(found))
    assert len(results) == len(checks)
    return results


@contextmanager
def served(checks: Sequence[Sequence[Any]], cookie: str) -> Iterator[str]:
    """Serve the pages as to the holder of this cookie, without what keeps them out of a frame."""
    application = get_wsgi_application()
    own = {
        "/runner": ("text/html", RUNNER.read_text(encoding="utf-8").replace("CHECKS)", f"{json.dumps(checks)})")),
        "/axe.js": ("text/javascript", AXE.read_text(encoding="utf-8")),
    }

    def answer(environ: dict[str, Any], start_response: Any) -> Any:
        if environ["PATH_INFO"] in own:
            kind, text = own[environ["PATH_INFO"]]
            start_response("200 OK", [("Content-Type", f"{kind}; charset=utf-8")])
            return [text.encode()]

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            return start_response(status, [framed(*each) for each in headers if each[0] != "X-Frame-Options"], *rest)

        return application(environ | {"HTTP_COOKIE": cookie}, start)

    server = make_server("127.0.0.1", 0, answer, ThreadedWSGIServer, SilentHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def framed(name: str, value: str) -> tuple[str, str]:
    """Let our own page frame this one; the rest of its policy stays in force."""
    return name, value.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
