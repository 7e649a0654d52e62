"""Plays labels' lives for as long as asked: ``python -m tests.models [--database sqlite|postgresql] [--minutes N]``.

Each round is other stories; a story that breaks a sentence of the design is shortened and printed.
"""

import argparse
import os
import sys
import time

import pytest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.models", description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--steps", type=int, default=20, help="of each story, at most")
    parser.add_argument("--stories", type=int, default=200, help="of each round")
    options = parser.parse_args()
    os.environ |= {"MODEL_STORIES": str(options.stories), "MODEL_STEPS": str(options.steps)}
    ends_at = time.monotonic() + 60 * options.minutes
    while time.monotonic() < ends_at:
        status = pytest.main(["--services", options.database, "-q", "-p", "no:logging", "tests/models"])
        if status:
            return int(status)
    return 0


if __name__ == "__main__":
    sys.exit(main())
