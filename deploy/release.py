"""Tells what stands in the way of a release: ``python -m deploy.release`` prints that, or the version."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from config import __version__

ROOT = Path(__file__).parent.parent
HEADING = re.compile(r"^## (\S+) \((.+)\)$", re.MULTILINE)
CHANGES = "config/docs/changes.md"  # for the API's users; a version that changes nothing for them is not in it
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def faults(folder: Path, version: str) -> Iterator[str]:
    """Yield what has to be put right before the version is released from a repository."""
    if git(folder, "status", "--porcelain"):
        yield "the work tree has changes: commit them, those of generated files too"
    if git(folder, "tag", "--list", f"v{version}"):
        yield f"the tag v{version} exists: raise the version in config/__init__.py and pyproject.toml"
    if tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"] != version:
        yield f"pyproject.toml does not have the version {version} of config/__init__.py"
    if "(unreleased)" in (folder / CHANGES).read_text():
        yield f"{CHANGES} says (unreleased) where the day of the release belongs"
    yield from faults_of_changelog((folder / "CHANGELOG.md").read_text(), version)


def faults_of_changelog(text: str, version: str) -> Iterator[str]:
    _, newest, day, section, *_ = [*HEADING.split(text), "", "", ""]
    if newest != version:
        yield f"CHANGELOG.md begins with {newest or 'no version'} instead of {version}"
    if not DATE.fullmatch(day):
        yield f"CHANGELOG.md says ({day}) where the day of the release belongs, such as (2026-12-01)"
    if "\n### Upgrade\n" not in section:
        yield 'CHANGELOG.md has no section "### Upgrade": say what operators have to do, or that it is nothing'


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603, S607 - fixed words
    return done.stdout.strip()


def main() -> int:
    if found := list(faults(ROOT, __version__)):
        sys.stderr.write("".join(f"{each}\n" for each in found))
        return 1
    sys.stdout.write(f"{__version__}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
