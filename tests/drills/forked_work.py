"""Runs ``work`` in a forked child, kills it after a random time, and forks the next: ``... SEED``.

The parent has imported everything, so a child begins within some milliseconds. It ends at SIGTERM, and prints the
number of its kills.
"""

import os
import random
import signal
import sys
import time
from threading import Event

import django

django.setup()

from config.ops import worker  # noqa: E402 - Django has to be set up first

SHORTEST_S, LONGEST_S = 0.05, 1.5


def main() -> None:
    rng, stop, kills = random.Random(int(sys.argv[1])), Event(), 0
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    while not stop.is_set():
        child = os.fork()
        if child == 0:
            worker.work(Event())
        time.sleep(rng.uniform(SHORTEST_S, LONGEST_S))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills += 1
        print(kills, flush=True)


if __name__ == "__main__":
    main()
