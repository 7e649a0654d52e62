"""Plays the models for as long as asked: ``python -m tests.models [MODEL] [--database NAME] [--minutes N]``.

MODEL is `label` or `parcel`, by default both; NAME is `sqlite` or `postgresql`. Each round is other stories; a story
that breaks a sentence of the design is shortened, but `--as-found`, and printed, with the seed that plays it again. At
the end: how often each transition of a label was made.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path

from tests.drills.harness import read_options
from tests.models.playing import counted


def main() -> int:
    first = time.time_ns() % 10**6
    sizes = {"minutes": 10.0, "steps": 20, "stories": 200, "seed": first}
    options = read_options(chosen=["label", "parcel"], database="sqlite", as_found=False, **sizes)
    folder = Path(tempfile.mkdtemp())
    ends_at = time.monotonic() + 60 * options.minutes
    for seed in count(options.seed):
        print(f"seed {seed}", flush=True)
        if status := play(options, seed, folder / str(seed)):
            print(f"again: python -m tests.models --seed {seed} --stories {options.stories} --steps {options.steps}")
            break
        if time.monotonic() >= ends_at:
            break
    print_counts(folder)
    return status


def play(options: argparse.Namespace, seed: int, counts: Path) -> int:
    sizes = {"MODEL_STORIES": options.stories, "MODEL_STEPS": options.steps, "MODEL_SEED": seed, "MODEL_COUNTS": counts}
    sizes |= {"MODEL_AS_FOUND": 1} if options.as_found else {}
    environment = os.environ | {name: str(value) for name, value in sizes.items()}
    paths = [f"tests/models/test_{model}_life.py" for model in options.chosen] or ["tests/models"]
    command = [sys.executable, "-m", "pytest", "-q", "--services", options.database, "-p", "no:logging"]
    return subprocess.run([*command, "--timeout=0", *paths], env=environment, check=False).returncode


def print_counts(folder: Path) -> None:
    """Print how often each row of the table was walked, the rarest first."""
    counts: Counter[str] = Counter()
    for file in folder.iterdir():
        counts.update(counted(file))
    for event, times in reversed(counts.most_common()):
        print(f"{times:>8}  {event}")


if __name__ == "__main__":
    sys.exit(main())
