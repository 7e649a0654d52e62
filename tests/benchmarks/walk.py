"""The walk of a label's order through the code: ``python -m tests.benchmarks.walk``, on services of its own.

For an order at each carrier, in this process and warm: the calls of the service's own functions, the modules that they
are in, and how often the next call is in another module; then all calls of Python functions, the libraries' included.
"""

import argparse
import itertools
import sys
from io import BytesIO
from typing import Any

import orjson

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.shop import ACCOUNTS, new_key, order
from tests.support.paths import SHIPMENTS
from tests.support.processes import ROOT

FLOORS = tuple(f"{ROOT}/{floor}/" for floor in ("carriers", "config", "labels", "parcels", "shops"))
WARM_UP = 10


def benchmark(env: Environment, _: argparse.Namespace) -> None:
    from config.wsgi import application

    for carrier in ACCOUNTS:
        for _round in range(WARM_UP):
            called(application, env.token, carrier)
        files = called(application, env.token, carrier)
        own = [file for file in files if file.startswith(FLOORS)]
        changes = sum(one != another for one, another in itertools.pairwise(own))
        print(
            f"{carrier}: {len(own)} own calls in {len(set(own))} modules, {changes} changes of module;"
            f" {len(files)} calls of Python functions"
        )


def called(application: Any, token: str, carrier: str) -> list[str]:
    """Order a label; return the file of each Python function that this thread called, in their order."""
    environ, files = request(token, carrier), list[str]()
    sys.setprofile(lambda frame, event, _: files.append(frame.f_code.co_filename) if event == "call" else None)
    try:
        answer = application(environ, lambda *_: None)
        answer.close()
    finally:
        sys.setprofile(None)
    assert answer.status_code == 201, answer.content
    return files


def request(token: str, carrier: str) -> dict[str, Any]:
    body = orjson.dumps(order(new_key(), carrier))
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": SHIPMENTS,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(body),
        "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": "application/json",
        "HTTP_HOST": "127.0.0.1:8000",
        "HTTP_AUTHORIZATION": f"Bearer {token}",
        "HTTP_IDEMPOTENCY_KEY": new_key(),
    }


if __name__ == "__main__":
    play(benchmark, redis=True)
