"""The carriers' sandbox, for checks of contracts."""

from tests.labels.conftest import sandbox

__all__ = ["sandbox"]
