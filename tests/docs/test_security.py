"""docs/security.md: every test that it names is there, and every requirement is told once."""

import re

from tests.support.processes import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+\.\d+\.\d+[^|]*) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def defined() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return {name for file in files for name in re.findall(r"^def (test_\w+)\(", file.read_text(), re.MULTILINE)}


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 50
    assert named - defined() == set()


def test_every_requirement_is_told_once_and_in_order() -> None:
    rows = ROW.findall(PAGE)
    first = [tuple(map(int, re.findall(r"\d+", numbers)[:3])) for numbers, _, _ in rows]
    assert len(rows) > 100
    assert first == sorted(set(first))
    assert PAGE.partition("## ASVS")[2].count("\n| ") - len(rows) == 1  # its heading; no row is left out for its form
