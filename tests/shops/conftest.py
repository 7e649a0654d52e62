"""The carriers' sandbox, for checks of contracts."""

from tests.labels.conftest import sandbox, sandbox_server

__all__ = ["sandbox", "sandbox_server"]
