"""The page of changes and deprecations agrees with the service."""

import re
from typing import Any

import orjson

from config.docs.guide import CHANGES
from config.docs.openapi.views import as_json
from tests.support.processes import ROOT

TEXT = CHANGES.read_text(encoding="utf-8")
NOTHING = "\nNothing is deprecated.\n"


def deprecated(part: Any, name: str = "") -> list[str]:
    """Return the names of the description's parts that are marked as deprecated."""
    if isinstance(part, list):
        return [
            each
            for item in part
            for each in deprecated(item, str(item.get("name", name)) if isinstance(item, dict) else name)
        ]
    if not isinstance(part, dict):
        return []
    own = [name] if part.get("deprecated") is True else []
    return own + [each for key, item in part.items() for each in deprecated(item, key)]


def test_deprecated_parts_are_told_by_their_names() -> None:
    description = {"paths": {"/old": {"get": {"deprecated": True, "parameters": [{"name": "q", "deprecated": True}]}}}}
    assert deprecated(description) == ["get", "q"]


def test_the_page_lists_what_the_description_marks() -> None:
    names = deprecated(orjson.loads(as_json()))
    assert [name for name in names if f"`{name}`" not in TEXT] == []
    assert (NOTHING in TEXT) == (names == [])


def test_the_versions_and_their_days_are_those_of_the_changelog_in_its_order() -> None:
    ours = re.findall(r"^### (\S+ \(.*\))$", TEXT, re.MULTILINE)
    released = re.findall(r"^## (\S+ \(.*\))$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert ours == [version for version in released if version in ours] != []


def test_the_page_tells_the_version_of_the_interface() -> None:
    assert f"The API itself is version {orjson.loads(as_json())['info']['version']}." in TEXT
