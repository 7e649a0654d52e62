"""A label's life, played at random: the design's sentences hold in every story."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from tests.labels.conftest import Sandbox
from tests.models.label_stories import LabelStories
from tests.models.label_world import World
from tests.models.playing import play
from tests.support.api import Caller


def test_every_story_of_a_label_ends_as_the_design_says(
    buyer: Caller, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings, stories: int
) -> None:
    play(LabelStories, World(buyer, sandbox, folder, monkeypatch), stories=stories, steps=6)
