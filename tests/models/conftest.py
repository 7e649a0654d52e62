"""The world in which labels are bought, for the models."""

from tests.labels.conftest import buyer, folder, sandbox, sandbox_server

__all__ = ["buyer", "folder", "sandbox", "sandbox_server"]
