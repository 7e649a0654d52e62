"""The types of events, each with its data: ids, numbers, status and times, nothing personal."""

import tomllib
from pathlib import Path
from typing import Any, Final

# By name: when it is sent (`summary`), and the `fields` of its data.
EVENT_TYPES: Final[dict[str, dict[str, Any]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
TEST, DISABLED = "webhook.test", "webhook.disabled"
