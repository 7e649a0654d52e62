"""Plays a model: a few stories that are always the same ones, or other ones for each seed."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.internal.conjecture import engine
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

SEED, COUNTS, AS_FOUND = "MODEL_SEED", "MODEL_COUNTS", "MODEL_AS_FOUND"
SHRINKING_S = 60


def play(machine: type[RuleBasedStateMachine], world: Any, *, stories: int, steps: int) -> None:
    """Play stories in a world; a story that breaks a promise is shortened for a minute, and printed."""
    played: Any = type("Played", (machine,), {"world": world})
    engine.MAX_SHRINKING_SECONDS = SHRINKING_S
    if SEED in os.environ:
        played = seed(int(os.environ[SEED]))(played)
    budget = settings(
        max_examples=int(os.environ.get("MODEL_STORIES", stories)),
        stateful_step_count=int(os.environ.get("MODEL_STEPS", steps)),
        deadline=None,
        database=None,
        derandomize=SEED not in os.environ,
        phases=[Phase.generate] if AS_FOUND in os.environ else [Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(played, settings=budget)
    finally:
        count_transitions()


def count_transitions() -> None:
    """Write down how often each row of the table of a label's states was walked, where that is asked for."""
    from labels import metrics  # noqa: PLC0415 - `python -m tests.models` has no Django
    from labels.lifecycle.states import Event  # noqa: PLC0415 - as above

    if COUNTS not in os.environ:
        return
    counts = Counter(dict.fromkeys(map(str, Event), 0))
    for metric in metrics.TRANSITIONS.collect():
        for sample in metric.samples:
            if sample.name.endswith("_total"):
                counts[sample.labels["event"]] += int(sample.value)
    Path(os.environ[COUNTS]).write_text(json.dumps(counts))  # of the whole process: the last model's is both's


def counted(file: Path) -> Counter[str]:
    return Counter(json.loads(file.read_text()))
