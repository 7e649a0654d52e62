"""Shops' requests beside look-ups: ``python -m tests.benchmarks.shop_api [--labels N] [--events N]``, on PostgreSQL.

One client asks one worker over HTTP, beside carriers that answer within milliseconds: pickup points that are
remembered, a dry run, pages of the list of labels, the first and one behind it, and all events by their cursor.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.printing import timed, timed_ms
from tests.drills.shop import SHOP, new_key, order
from tests.drills.sql import execute
from tests.support.http import Connection

TRACKING = "/public/v1/tracking"
ASKED, PAGES = 400, 20
POINTS = {"productCode": "beta_point_retrait_france", "zip": "69002", "city": "Lyon"}
EVENTS = """
INSERT INTO shops_webhookevent (message_id, shop_id, type, subject, data)
SELECT 'msg_' || number, %s, 'label.label_generated', number, '{"id": "' || number || '"}'
FROM generate_series(1, %s) number
"""


def benchmark(env: Environment, options: argparse.Namespace) -> None:
    from tests.benchmarks.desk import load_labels

    with timed(f"{options.labels} labels and {options.events} events loaded"):
        load_labels(options.labels)
        execute(EVENTS, [SHOP, options.events])
        execute("VACUUM ANALYZE")
    with env.served(workers=1) as server:
        client = Client(env, server.port)
        print("pickup points:", latencies(partial(client.get, "pickup-points", POINTS)))
        print("a dry run:    ", latencies(client.check))
        show_lists(client)
        show_events(client)


class Client:
    """A shop on one connection."""

    def __init__(self, env: Environment, port: int) -> None:
        self._connection = Connection(port)
        self._headers = env.bearer

    def get(self, path: str, query: dict[str, Any]) -> Any:
        return self._ask("GET", f"{path}?{urlencode(query)}")

    def check(self) -> Any:
        return self._ask("POST", "shipments/check", order(new_key(), "beta"))

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self._connection.request(method, f"{TRACKING}/{path}", body, self._headers)
        assert answer.status == 200, answer
        return answer.body


def latencies(ask: Callable[[], object]) -> str:
    """Ask some times; return the median and the 95th of 100."""
    p50, p95, _ = timed_ms(ask, ASKED)
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"


def pages(client: Client, path: str, query: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    while True:
        page = client.get(path, query)
        yield page
        if not page["data"] or not page["next"]:
            return
        query = query | {key: page["next"]}


def show_lists(client: Client) -> None:
    """Time the first page of a list, and one that a cursor leads to."""
    for query in ({"trackingNumber": "8R00000019999"}, {"orderId": "L19999"}):
        print(f"labels {query}:", latencies(partial(client.get, "shipments", query)))
    for query in ({}, {"carrierCode": "alpha"}):
        first: dict[str, Any] = query | {"limit": 100}
        page = next(islice(pages(client, "shipments", first, "cursor"), PAGES - 1, None))
        print(f"labels {query}:", latencies(partial(client.get, "shipments", first)))
        later = partial(client.get, "shipments", first | {"cursor": page["next"]})
        print(f"labels {query}, page {PAGES + 1}:", latencies(later))


def show_events(client: Client) -> None:
    started_at, count = time.perf_counter(), 0
    for page in pages(client, "events", {"limit": 500}, "after"):
        count += len(page["data"])
    elapsed_s = time.perf_counter() - started_at
    print(f"events by cursor: {count} in {elapsed_s:.1f} s, {count / elapsed_s:.0f} a second")


if __name__ == "__main__":
    # More requests than a shop may make in a minute.
    play(benchmark, {"RATE_LIMIT": "100000/60s"}, redis=True, labels=2_000_000, events=100_000)
