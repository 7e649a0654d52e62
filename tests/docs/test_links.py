"""Links of pages lead to sections, tests that are named exist, and an index says where things are."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.cases import in_one_test
from tests.support.markdown import headings
from tests.support.processes import ROOT

pytestmark = pytest.mark.any_database
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)")
NAMED = re.compile(r"(?<![\w/])(docs/[\w/-]+\.md)(?:#([\w-]+))?")  # in code and configuration
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
REQUIREMENT = re.compile(r"^\| (\d+\.\d+\.\d+[^|]*) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
INDEX = re.compile(r"^\| (.+\?) \| `(\S+)`: `(\w+)` \|$", re.MULTILINE)
ROWS = INDEX.findall((ROOT / "docs" / "architecture.md").read_text())
OF_THE_SERVICE = "config/docs/"  # its own paths, which the pages' tests follow


def tracked(*patterns: str) -> list[Path]:
    names = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in names.stdout.split("\0") if name and not name.startswith(OF_THE_SERVICE)]


def leads(target: Path, anchor: str) -> bool:
    return target.exists() and (not anchor or anchor in headings(target))


def test_every_link_of_a_page_leads_to_a_section() -> None:
    pages = tracked("*.md")
    links = [
        (page, path, anchor)
        for page in pages
        for path, anchor in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in path
    ]
    assert len(links) > 90
    broken = [link for link in links if not leads(link[0].parent / link[1] if link[1] else link[0], link[2])]
    assert broken == []


def test_every_page_that_code_and_alerts_name_has_the_section() -> None:
    files = tracked("*.py", "*.sh", "*.yaml", "*.toml", "Makefile", "deploy")
    named = {found for file in files for found in NAMED.findall(file.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert [each for each in named if not leads(ROOT / each[0], each[1])] == []


def defined() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return {name for file in files for name in re.findall(r"^def (test_\w+)\(", file.read_text(), re.MULTILINE)}


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", SECURITY))
    assert len(named) > 50
    assert named - defined() == set()


def test_every_requirement_is_told_once_and_in_order() -> None:
    rows = REQUIREMENT.findall(SECURITY)
    first = [tuple(map(int, re.findall(r"\d+", numbers)[:3])) for numbers, _, _ in rows]
    assert len(rows) > 100
    assert first == sorted(set(first))
    heading = SECURITY.partition("## ASVS")[2].count("\n| ") - len(rows)
    assert heading == 1  # no row is left out for its form


def test_the_index_answers_thirty_questions() -> None:
    assert len(ROWS) == 30


@in_one_test("question, path, name", ROWS)
def test_what_a_question_is_about_is_declared_where_the_index_says(question: str, path: str, name: str) -> None:
    declared = re.compile(rf"^( *(def|class) |    |\W*){name}\b", re.MULTILINE)
    assert declared.search((ROOT / path).read_text()), question
