"""The lives of numbers, parcels and deliveries, played at random: the design's sentences hold in every story."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from tests.labels.conftest import Sandbox
from tests.models.parcel_stories import ParcelStories
from tests.models.parcel_world import World
from tests.models.playing import play


def test_every_story_of_a_parcel_is_told_as_the_design_says(
    transactional_db: None,
    sandbox: Sandbox,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    stories: int,
) -> None:
    with ExitStack() as stack:
        play(ParcelStories, World(sandbox, tmp_path, settings, monkeypatch, stack), stories=stories, steps=8)
