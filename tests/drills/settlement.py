"""Labels bought around a moment that the database is restored to: put back by one command, ``recover``.

Some were under way at the moment, some bought after it. After it some are cancelled, some customers erased, and some
buyers get no label, because the storage is down or the carrier's answer is lost. What the restored service says is
compared with what it said before, and with the sandbox's ledger: what the carriers made and will bill.
"""

import logging
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from django.core.management import call_command
from django.db import connection

from tests.drills.audit import Audit
from tests.drills.environment import Environment, environment, lease_settings
from tests.drills.orders import Orders
from tests.drills.printing import counts, say
from tests.drills.shop import ACCOUNTS, RECIPIENT, SHOP, carrier_of
from tests.labels.backups import ask, backed_up, check, hand_over, postgresql_program, recovered, restore
from tests.support.http import Answer
from tests.support.paths import SHIPMENTS
from tests.support.processes import ROOT
from tests.support.waiting import until

UNDER_WAY, UNANSWERED = 10, 4
TIMEOUT_S, MARGIN_S, CARRIER_S = 6.0, 2.0, 3.0
SETTINGS = lease_settings(TIMEOUT_S, MARGIN_S, TIMEOUT_S + MARGIN_S, UNDER_WAY) | {"LOG_FORMAT": "json"}
PURCHASING = "SELECT count(*) = %d FROM labels_shippinglabel WHERE state = 'purchasing'"
EMAIL = "%s@mail.example"
OF = 10  # of so many labels, the first two are cancelled and the next two's customers erased: one of each carrier


class Shop(Orders):
    """The orders of a shop, each for a customer of its own."""

    port = 0

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.erased: set[str] = set()

    def buy(self, count: int) -> list[str]:
        """Order labels, some at once; return their keys."""
        keys = [self.add(carrier_of(number)) for number in range(count)]
        for key in keys:
            self.bodies[key]["destinationAddress"] = RECIPIENT | {"email": EMAIL % key}
        self.ends(keys)
        return keys

    def ends(self, keys: Iterable[str]) -> list[str]:
        """Send orders, for the first time or again; return the outcomes, with the label's id if there is one."""
        answers = self.send_all(self.port, keys, UNDER_WAY)
        return [f"{answer.outcome} {answer.body.get('id', '')}" for answer in answers]

    @property
    def labels(self) -> dict[str, str]:
        """The ids that the shop was given, by the keys."""
        return {key: seen[0].body["id"] for key, seen in self.answers.items() if seen[0].status == 201}

    def ask(self, method: str, path: str) -> Answer:
        return self.env.ask(self.port, method, f"{SHIPMENTS}/{path}")

    def cancel(self, keys: list[str]) -> None:
        for key in keys:
            answer = self.ask("POST", f"{self.labels[key]}/cancel")
            assert answer.status == 200, answer

    def erase(self, keys: list[str]) -> None:
        for key in keys:
            call_command("erase_customer", SHOP, EMAIL % key, stdout=StringIO())
        self.erased.update(keys)

    def told(self) -> dict[str, tuple[str, Any, str]]:
        """Retrieve each label and repeat its order: what is said, without what each answer has of its own."""
        again = dict(zip(self.labels, self.ends(self.labels), strict=True))
        retrieved = {key: self.ask("GET", label_id) for key, label_id in self.labels.items()}
        own = {"labelUrl": "", "timestamp": ""}
        return {key: (answer.outcome, answer.body | own, again[key]) for key, answer in retrieved.items()}


def drill(count: int) -> list[str]:
    """Buy `count` labels before the moment and as many after it; return the faults."""
    print("labels of the service's own")
    with environment("postgresql", SETTINGS) as env:
        url, backup, shop = os.environ["DATABASE_URL"], env.folder / "backup", Shop(env)
        with backed_up(url, backup), env.served(threads=2 * UNDER_WAY + 2) as server:
            shop.port = server.port
            before = shop.buy(count)
            moment, under_way = interrupted_by_the_moment(shop, url)
            after = shop.buy(count)
            for keys in (before, under_way, after):
                shop.cancel([key for number, key in enumerate(keys) if number % OF in (0, 1)])
                shop.erase([key for number, key in enumerate(keys) if number % OF in (2, 3)])
            told = shop.told()
            assert len(told) == len(shop.bodies), "an order was not answered with a label"
            unstored, unanswered = bought_without_label(shop)
            server.stop()
        owner = (env.folder / "pg").stat()
        restore(backup, env.folder / "restored", moment)
        hand_over(env.folder / "restored", owner)
        hand_over(backup, owner)
        say("labels given to the shop", f"{len(before)} before, {len(under_way)} under way, {len(after)} after")
        with recovered(env.folder / "restored") as restored, in_place_of_ours(restored):
            return [*put_back(shop, restored), *compared(shop, told, unstored, unanswered)]


def interrupted_by_the_moment(shop: Shop, url: str) -> tuple[str, list[str]]:
    """Choose a moment at which the carriers are asked for some labels, and let these purchases end well."""
    slow = [{"fault": "slow", "carrier": carrier, "delay_s": CARRIER_S} for carrier in ACCOUNTS]
    with shop.env.faults(*slow), ThreadPoolExecutor(1) as pool:
        buyer = pool.submit(shop.buy, UNDER_WAY)
        until(lambda: ask(url, PURCHASING % UNDER_WAY) == "True")
        return ask(url, "SELECT clock_timestamp()"), buyer.result()


def bought_without_label(shop: Shop) -> tuple[list[str], list[str]]:
    """Order labels while the storage is down, and labels whose carrier's answer is lost."""
    labels_dir, away = shop.env.labels_dir, shop.env.folder / "away"
    shutil.move(labels_dir, away)
    labels_dir.touch()
    unstored = shop.buy(UNANSWERED)
    labels_dir.unlink()
    shutil.move(away, labels_dir)
    with shop.env.faults(*[{"fault": "resetmade", "carrier": carrier} for carrier in ACCOUNTS]):
        return unstored, shop.buy(UNANSWERED)


@contextmanager
def in_place_of_ours(url: str) -> Iterator[None]:
    """Let this process and those that are started use another server."""
    [connection.settings_dict["HOST"]] = parse_qs(urlsplit(url).query)["host"]
    connection.close()
    os.environ["DATABASE_URL"] = url
    logging.disable(logging.INFO)
    yield
    connection.close()


def put_back(shop: Shop, url: str) -> list[str]:
    """Run the command once; print what it and `check_labels` say, and return the faults."""
    known, started_s = erased_ones(shop, url), time.monotonic()
    done = subprocess.run(
        [sys.executable, "manage.py", "recover"], cwd=ROOT, env=shop.env.variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    say("recover", f"{time.monotonic() - started_s:.1f} s: {', '.join(done.stdout.splitlines())}")
    by_hand = [line for line in done.stdout.splitlines() if "receipts" in line] + check().splitlines()
    back = erased_ones(shop, url)
    say("steps by hand that it asks for", len(by_hand))
    say("erased customers in the database", f"{len(known)} restored, {len(back)} after it, of {len(shop.erased)}")
    return [
        *([done.stderr] if done.returncode else []),
        *by_hand,
        *(f"{key}: erased, and back" for key in back),
        *([] if known else ["nobody erased was in the restored database"]),
    ]


def erased_ones(shop: Shop, url: str) -> set[str]:
    """Search the whole database for the e-mails of erased customers."""
    dump = subprocess.run(
        [postgresql_program("pg_dump"), "--data-only", url], capture_output=True, text=True, check=True
    )
    return set(re.findall(EMAIL % r"(\w+)", dump.stdout)) & shop.erased


def compared(shop: Shop, told: dict[str, Any], unstored: list[str], unanswered: list[str]) -> list[str]:
    """Ask the restored service all that was asked before; return the faults."""
    env, without_receipt = shop.env, logged_without_receipt(shop.env)
    with env.served(threads=2 * UNDER_WAY + 2) as server:
        shop.port = server.port
        made = {row["tracking_number"] for row in env.ledger()}
        now = shop.told()
        again = {row["tracking_number"] for row in env.ledger()} - made
        without_row = Audit(env).without_row()
        outcomes = [counts(each.rpartition(" ")[0] for each in shop.ends(keys)) for keys in (unanswered, unstored)]
        server.stop()
    lost = [key for key, said in told.items() if now[key] != said]
    result = Audit(env).keys({key: seen for key, seen in shop.answers.items() if key not in shop.erased})
    say("lost, bought again", f"{len(lost)}, {len(again)} of {len(told)}")
    say("an answer was lost; repeated", outcomes[0])
    say("the storage was down; repeated", outcomes[1])
    say("of these bought before, without a row", f"{len(without_row)}, named by the log: {len(without_receipt)}")
    say("rows against the ledger", result)
    return [
        *result.faults,
        *(f"{key}: was told {told[key]}, now {now[key]}" for key in lost),
        *(f"{number}: bought again" for number in again),
        *(f"{each}: has no row, or is named without need" for each in without_row ^ without_receipt),
    ]


def logged_without_receipt(env: Environment) -> set[str]:
    """Return the labels that the log names as the runbook says."""
    lines = (env.folder / "service.log").read_bytes().splitlines()
    entries: list[dict[str, Any]] = [orjson.loads(line) for line in lines if line.startswith(b"{")]
    return {entry["label"] for entry in entries if entry["message"] == "receipt not written"}
