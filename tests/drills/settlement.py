"""Labels bought around a moment that the database is restored to: found again, and settled with the carriers.

Some were under way at the moment, some were bought after it; of the latter some have no PDF, because the storage was
down or the carrier's answer was lost. The sandbox's ledger tells what the carriers made and will bill.
"""

import itertools
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from django.db import connection

from tests.drills.audit import Audit
from tests.drills.environment import Environment, environment
from tests.drills.http_client import Answer
from tests.drills.printing import say
from tests.drills.shop import ACCOUNTS, SHOP, carrier_of, new_key, order
from tests.labels.backups import ask, backed_up, check, hand_over, recovered, restore
from tests.support.waiting import until

UNDER_WAY, WITHOUT_PDF = 10, 4
TIMEOUT_S, MARGIN_S, CARRIER_S = 6.0, 2.0, 3.0
SETTINGS: dict[str, object] = {
    "CARRIER_TIMEOUT": TIMEOUT_S,
    "LEASE_MARGIN": MARGIN_S,
    "RECONCILE_WAIT": TIMEOUT_S + MARGIN_S,
    "SETTLE_WAIT": TIMEOUT_S + MARGIN_S,
    "CARRIER_CONCURRENCY": UNDER_WAY,
    "LOG_FORMAT": "json",
}
PURCHASING = "SELECT count(*) = %d FROM labels_shippinglabel WHERE state = 'purchasing'"
# docs/runbook/fail.md's
OPERATIONS = ("shippingMultiParcelV4", "generateLabel")
OUTCOMES = ("ok", "outcome_unknown", "unavailable")
Keys = dict[str, list[Answer]]


def drill(count: int) -> list[str]:
    """Buy `count` labels before the moment and as many after it; return the faults."""
    print("labels of the service's own")
    with environment("postgresql", SETTINGS) as env:
        url, backup = os.environ["DATABASE_URL"], env.folder / "backup"
        with backed_up(url, backup), env.served(threads=2 * UNDER_WAY + 2) as (port, process):
            before = bought(env, port, count)
            moment, under_way = interrupted_by_the_moment(env, port, url)
            after = bought(env, port, count) | bought_without_pdf(env, port)
            process.stop()
        owner = (env.folder / "pg").stat()
        restore(backup, env.folder / "restored", moment)
        hand_over(env.folder / "restored", owner)
        hand_over(backup, owner)
        with recovered(env.folder / "restored") as restored, in_place_of_ours(restored):
            return settled(env, moment, before, under_way, after)


def bought(env: Environment, port: int, count: int) -> Keys:
    """Order labels, some at once."""
    keys = [new_key() for _ in range(count)]
    with ThreadPoolExecutor(UNDER_WAY) as pool:
        answers = pool.map(lambda n: env.buy(port, keys[n], order(keys[n], carrier_of(n))), range(count))
        return {key: [answer] for key, answer in zip(keys, answers, strict=True)}


def interrupted_by_the_moment(env: Environment, port: int, url: str) -> tuple[str, Keys]:
    """Choose a moment at which the carriers are asked for some labels, and let these purchases end well."""
    slow = [{"fault": "slow", "carrier": carrier, "delay_s": CARRIER_S} for carrier in ACCOUNTS]
    with env.faults(*slow), ThreadPoolExecutor(1) as pool:
        buyers = pool.submit(bought, env, port, UNDER_WAY)
        until(lambda: ask(url, PURCHASING % UNDER_WAY) == "True")
        return ask(url, "SELECT clock_timestamp()"), buyers.result()


def bought_without_pdf(env: Environment, port: int) -> Keys:
    """Order labels while the storage is down, and labels whose carrier's answer is lost."""
    away = env.folder / "away"
    shutil.move(env.labels_dir, away)
    env.labels_dir.touch()
    unstored = bought(env, port, WITHOUT_PDF)
    env.labels_dir.unlink()
    shutil.move(away, env.labels_dir)
    with env.faults(*[{"fault": "resetmade", "carrier": carrier} for carrier in ACCOUNTS]):
        return unstored | bought(env, port, WITHOUT_PDF)


@contextmanager
def in_place_of_ours(url: str) -> Iterator[None]:
    """Let this process and those that are started use another server."""
    [connection.settings_dict["HOST"]] = parse_qs(urlsplit(url).query)["host"]
    connection.close()
    os.environ["DATABASE_URL"] = url
    logging.disable(logging.INFO)
    yield
    connection.close()


def settled(env: Environment, moment: str, before: Keys, under_way: Keys, after: Keys) -> list[str]:
    """Do as the runbook says; print what was found, and return the faults."""
    time.sleep(TIMEOUT_S + MARGIN_S)  # the leases of what was under way
    env.reconcile()
    by_person = adopt(env, unfinished())
    without_row = {row["reference"] for row in env.ledger()} - set(states())
    by_pdf = set(re.findall(r"^no row: .*/(\w{15})\.pdf$", check(), re.MULTILINE))
    by_log = logged_since(env, datetime.fromisoformat(moment).timestamp()) - by_pdf - set(states())
    alphas = {row["reference"] for row in env.ledger() if row["carrier"] == "alpha"} & without_row
    confirmed = found_by_alpha(without_row)
    cancelled = {each: numbers for each, numbers in confirmed.items() if each in by_log}
    cancel(cancelled)
    say("bought before the moment, restored", f"{len(before)}, {len(states()) - len(under_way)}")
    say("under way at it", f"{len(under_way)}: {len(under_way) - by_person} finished, {by_person} adopted")
    say("bought after it, without a row", f"{len(after)}, {len(without_row)}")
    say("found by check_labels, with the PDF", len(by_pdf))
    say("found in the log, without a PDF", len(by_log))
    say("of them alpha's, found by its search", f"{len(alphas)}, {len(confirmed)}")
    say("without a PDF: cancelled at alpha", len(cancelled))
    say("without a PDF: for beta's portal", len(by_log - set(cancelled)))
    result = Audit(env).keys(before | under_way)
    say("rows against the ledger", result)
    lost, invented = without_row - by_pdf - by_log, (by_pdf | by_log) - without_row
    return [
        *result.faults,
        *(f"{each}: found nowhere" for each in lost),
        *(f"{each}: found, and not made" for each in invented),
        *(f"{each}: not found by alpha's search" for each in alphas ^ set(confirmed)),
        *([] if len(without_row) == len(after) else ["the ledger and the orders after the moment differ"]),
    ]


def states() -> dict[str, str]:
    from labels.models import ShippingLabel

    return dict(ShippingLabel.objects.values_list("id", "state"))


def unfinished() -> list[str]:
    return re.findall(r"^not finished: (\w+) ", check(), re.MULTILINE)


def adopt(env: Environment, label_ids: list[str]) -> int:
    """Adopt labels with their stored PDF and the numbers on it, as a person does; return how many."""
    from django.contrib.auth.models import User

    from labels.lifecycle import decisions
    from labels.models import ShippingLabel
    from labels.pdfs import storage

    person = User.objects.create(username="drill")
    for label in ShippingLabel.objects.filter(id__in=label_ids):
        numbers = [row["tracking_number"] for row in env.ledger() if row["reference"] == label.id]
        pdf = storage.read(label.pdf_key)
        decisions.adopt(label=label, tracking_numbers=numbers, pdf=pdf, decided_by=person)
    return len(label_ids)


def logged_since(env: Environment, moment_s: float) -> set[str]:
    """Return the labels that carriers were asked to make since the moment, and may have made, by the service's log."""
    text = (env.folder / "service.log").read_bytes()
    lines: list[dict[str, Any]] = [orjson.loads(line) for line in text.splitlines() if line.startswith(b"{")]
    return {
        line["label"]
        for line in lines
        if line["message"] == "carrier call" and line["operation"] in OPERATIONS
        and line["outcome"] in OUTCOMES and line["timestamp"] > moment_s
    }  # fmt: skip


def found_by_alpha(label_ids: set[str]) -> dict[str, tuple[str, ...]]:
    """Ask alpha for labels by the reference that it keeps; return the tracking numbers of those that it knows."""
    found = {each: alpha().find_by_reference(each, credentials()) for each in label_ids}
    return {each: numbers for each, numbers in found.items() if numbers}


def cancel(found: dict[str, tuple[str, ...]]) -> None:
    """Cancel parcels at alpha: their shop has no PDF, and will order again."""
    for number in itertools.chain.from_iterable(found.values()):
        alpha().cancel(number, credentials())


def alpha() -> Any:
    from shops.contracts.clients import client

    return client("alpha", is_test=False)


def credentials() -> Any:
    from shops.contracts.models import CarrierContract

    return CarrierContract.objects.get(shop=SHOP, carrier_code="alpha").credentials
