"""Plays labels' lives for as long as asked: ``python -m tests.models [--database sqlite|postgresql] [--minutes N]``.

Each round is other stories; a story that breaks a sentence of the design is shortened and printed.
"""

import argparse
import os
import subprocess
import sys
import time


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
        command = [sys.executable, "-m", "pytest", "-q", "--services", options.database, "-p", "no:logging"]
        if status := subprocess.run([*command, "--timeout=0", "tests/models"], check=False).returncode:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
