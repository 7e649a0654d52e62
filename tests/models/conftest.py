"""The world in which labels are bought, for the models, and how much of their lives is played."""

import pytest

from tests.labels.conftest import buyer, folder, sandbox

__all__ = ["buyer", "folder", "sandbox"]


@pytest.fixture
def stories(pytestconfig: pytest.Config) -> int:
    """Play the first third again on SQLite: all are played on PostgreSQL, whose locks matter."""
    return 5 if pytestconfig.getoption("services") == "sqlite" else 15
