"""A release is refused while the work tree, the version, its tag and the changelog disagree."""

import subprocess
from pathlib import Path

import pytest

from deploy.provenance import PINS, statement
from deploy.release import CHANGES, faults
from tests.support.processes import ROOT

pytestmark = pytest.mark.any_database
VERSION = "0.2.0"
CHANGELOG = """# Changelog

## 0.2.0 (2026-12-01)

### Upgrade

- Run `migrate`.

### Changes

## 0.1.0 (2026-11-01)

### Upgrade

- Nothing.
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository from which version 0.2.0 can be released."""
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{VERSION}"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / CHANGES).parent.mkdir(parents=True)
    (tmp_path / CHANGES).write_text("### 0.2.0 (2026-12-01)\n")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "All")


def test_a_repository_that_is_ready_is_released(repository: Path) -> None:
    assert list(faults(repository, VERSION)) == []


@pytest.mark.parametrize("name", ["openapi.yaml", "CHANGELOG.md"])
def test_a_change_that_is_not_committed_is_told(repository: Path, name: str) -> None:
    with (repository / name).open("a") as file:
        file.write("\n")
    [fault] = faults(repository, VERSION)
    assert "the work tree has changes" in fault


def test_a_version_is_released_once(repository: Path) -> None:
    git(repository, "tag", f"v{VERSION}")
    [fault] = faults(repository, VERSION)
    assert "the tag v0.2.0 exists" in fault


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("(2026-12-01)", "(unreleased)", "says (unreleased)"),
        ("## 0.2.0 (2026-12-01)", "## 0.3.0 (2026-12-01)", "begins with 0.3.0"),
        ("### Upgrade\n\n- Run", "- Run", "no section"),
        (CHANGELOG, "# Changelog\n", "no version"),
    ],
)
def test_the_changelog_has_the_version_its_day_and_what_operators_do(
    repository: Path, before: str, after: str, told: str
) -> None:
    (repository / "CHANGELOG.md").write_text(CHANGELOG.replace(before, after))
    commit(repository)
    assert told in "\n".join(faults(repository, VERSION))


def test_the_page_of_changes_has_the_day(repository: Path) -> None:
    (repository / CHANGES).write_text("### 0.2.0 (unreleased)\n")
    commit(repository)
    assert list(faults(repository, VERSION)) == [f"{CHANGES} says (unreleased) where the day of the release belongs"]


def test_both_files_have_the_version(repository: Path) -> None:
    assert "pyproject.toml does not have the version 0.3.0" in "\n".join(faults(repository, "0.3.0"))


def test_every_version_of_our_changelog_tells_operators_what_to_do() -> None:
    versions = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    assert all("\n### Upgrade\n" in each for each in versions)


def test_the_provenance_names_what_went_into_the_image_by_digest() -> None:
    base = {"name": "python:3.11", "digest": "sha256:" + "b" * 64}
    made = statement("parcel-service:0.2.0", "sha256:" + "a" * 64, commit="c" * 40, epoch=1_790_000_000, base=base)
    assert (made["_type"], made["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        "https://slsa.dev/provenance/v1",
    )
    assert made["subject"] == [{"name": "parcel-service:0.2.0", "digest": {"sha256": "a" * 64}}]
    definition = made["predicate"]["buildDefinition"]
    assert definition["externalParameters"] == {
        "commit": "c" * 40,
        "SOURCE_DATE_EPOCH": 1_790_000_000,
        "BASE": "python:3.11",
    }
    source, its_base, *pins = definition["resolvedDependencies"]
    assert (source["digest"], its_base["digest"]) == ({"gitCommit": "c" * 40}, {"sha256": "b" * 64})
    assert {pin["name"] for pin in pins} == set(PINS)
    assert all(len(pin["digest"]["sha256"]) == 64 for pin in pins)


def test_no_file_of_the_project_is_a_link() -> None:
    """One leads to a place of one machine."""
    listed = subprocess.run(["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert [line for line in listed.stdout.splitlines() if line.startswith("120000")] == []
