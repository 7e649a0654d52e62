"""The log-in drill: ``python -m tests.drills.logins``.

The service runs as in production (granian, 2 workers, PostgreSQL, Redis). Clients look parcels up while 60 others,
without an account, send passwords all the time, each at most two a second: first from one address, then each from a
network of its own, with ever new user names. Before that, the 60 ask for an unknown page as often: the look-ups' p95
may be at most twice what it is then. It prints the look-ups of each phase, and the others' answers.
"""

import argparse
import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.hung_carrier import LEAD_S, WORKERS, flat_out, load_parcels, look_up_clients
from tests.drills.load import Clients, LookUps, look_ups, outcomes
from tests.drills.printing import counts
from tests.support.http import Connection

GUESSERS = 60
TIMES_SLOWER = 2  # than beside as many requests for an unknown page, at most: look-ups' p95
LOGIN = "/admin/account/login/"
CSRF_TOKEN = "a" * 32
ANCHOR = "unknown page"
PLACES = {ANCHOR: "10.{}.0.1", "one address": "192.0.2.1", "60 networks": "10.{}.0.1"}


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    numbers = load_parcels()
    with env.served(workers=WORKERS) as server, ProcessPoolExecutor(2) as pool:
        clients = look_up_clients(env, server.port, options.seconds)
        look_up = partial(look_ups, pool, numbers, server.pid)
        look_up(flat_out(clients, LEAD_S))  # each thread connects to the database
        phases = {"before": look_up(clients)}
        show("before", phases["before"])
        for place, address in PLACES.items():
            guessers = replace(clients, count=GUESSERS, seconds=options.seconds + 2 * LEAD_S, pace_s=options.pace)
            path = "/nope" if place == ANCHOR else LOGIN
            guesses = pool.submit(guess_all, guessers, path, address)
            time.sleep(LEAD_S)
            phases[place] = look_up(clients)
            show(place, phases[place], guesses.result())
        phases["after"] = look_up(clients)
        show("after", phases["after"])
    slow = [name for name in PLACES if is_slow(phases, name)]
    faults = [f"{name}: look-ups' p95 is more than twice that beside an {ANCHOR}" for name in slow]
    return faults + [f"{name}: look-ups were not all answered" for name, phase in phases.items() if phase.answered < 1]


def is_slow(phases: dict[str, LookUps], name: str) -> bool:
    return phases[name].percentiles_ms[1] > TIMES_SLOWER * phases[ANCHOR].percentiles_ms[1]


def show(name: str, phase: LookUps, guesses: Counter[str] | None = None) -> None:
    print(f"  {name:12} {phase}  {counts(guesses) if guesses else ''}", flush=True)


def guess_all(clients: Clients, path: str, address: str) -> Counter[str]:
    """Send wrong passwords for names that nobody has, each client from its own address; return the statuses."""

    def guesser(number: int) -> Callable[[], str]:
        connection = Connection(clients.port)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"csrftoken={CSRF_TOKEN}",
            "X-Forwarded-For": address.format(number),
        }

        def guess() -> str:
            name = secrets.token_hex(4)
            form = {"csrfmiddlewaretoken": CSRF_TOKEN, "login": name, "username": name, "password": "wrong"}
            return str(connection.request("POST", path, urlencode(form), headers).status or "no answer")

        return guess

    return outcomes(clients.run(guesser))


if __name__ == "__main__":
    play(drill, {"TRUSTED_PROXIES": 1}, redis=True, seconds=20.0, pace=0.5)
