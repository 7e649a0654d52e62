"""Every link between the repository's pages, and from its code and alerts to them, leads to a page and a section."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.markdown import headings
from tests.support.processes import ROOT

pytestmark = pytest.mark.any_database
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)")
NAMED = re.compile(r"(?<![\w/])(docs/[\w/-]+\.md)(?:#([\w-]+))?")  # in code and configuration
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
