"""A label's life, played at random: the design's sentences hold in every story."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from pytest_django.fixtures import Settings

from tests.labels.conftest import Sandbox
from tests.models.label_life import LabelLife
from tests.models.label_world import World
from tests.support.api import Caller

STORIES = int(os.environ.get("MODEL_STORIES", "25"))
STEPS = int(os.environ.get("MODEL_STEPS", "12"))


def test_every_story_of_a_label_ends_as_the_design_says(
    buyer: Caller, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    world = World(buyer, sandbox, folder, monkeypatch)

    class Played(LabelLife):
        pass

    Played.world = world
    run_state_machine_as_test(Played, settings=budget())


def budget() -> settings:
    return settings(
        max_examples=STORIES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        derandomize="MODEL_STORIES" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
