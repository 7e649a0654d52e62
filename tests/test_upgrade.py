"""deploy/upgrade.sh replaces what serves only while a spare of the new release serves, and undoes what fails.

`python -m tests.drills.upgrade` runs it under load; here programs that write down how they were called take the place
of docker, systemctl and the release's Python.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.processes import ROOT

pytestmark = pytest.mark.any_database
# Writes down its words; fails where one of them is in the file `failing`.
STUB = """#!/bin/sh
echo "${{IMAGE:+$IMAGE: }}{name} $*" >>{folder}/calls
for word; do if grep -qsx -e "$word" {folder}/failing; then exit 1; fi; done
"""
BESIDE = ["systemctl restart parcel-spare", "python -"]
REPLACED = [
    *("systemctl restart parcel-serve", "python -", "systemctl restart parcel-work"),
    "systemctl stop parcel-spare",
]


class Host:
    """A checkout with the tag v0.2.0, beside an installation of 0.1.0."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.checkout, self.program = folder, folder / "checkout", folder / "srv"
        (self.checkout / "deploy" / "systemd").mkdir(parents=True)
        shutil.copy(ROOT / "deploy" / "upgrade.sh", self.checkout / "deploy")
        (self.checkout / "deploy" / "systemd" / "parcel-serve.service").touch()
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "All")
        self.git("tag", "v0.2.0")
        for name in ("bin", "units", "srv/.venv/bin"):
            (folder / name).mkdir(parents=True)
        for name in ("docker", "systemctl"):
            self.stub(name, folder / "bin" / name)
        self.stub("python", self.program / ".venv" / "bin" / "python")
        (self.program / "manage.py").touch()
        (folder / "settings.env").write_text('SERVE_PORT="8123"\n')

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        subprocess.run(["git", *who, *words], cwd=self.checkout, check=True)

    def stub(self, name: str, file: Path) -> None:
        file.write_text(STUB.format(name=name, folder=self.folder))
        file.chmod(0o755)

    def install(self, version: str) -> None:
        """Put a release where the script would install it."""
        release = self.program / "releases" / version
        shutil.copytree(self.checkout / "deploy", release / "deploy")
        (release / "complete").touch()
        (release / ".venv").symlink_to(self.program / ".venv")

    def upgrade(self, *words: str, failing: str = "") -> tuple[int, list[str]]:
        """Run the script; return its exit code and what it called."""
        calls = self.folder / "calls"
        calls.write_text("")
        (self.folder / "failing").write_text(f"{failing}\n" if failing else "")
        environment = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PROGRAM": str(self.program),
            "UNITS": str(self.folder / "units"),
            "SETTINGS": str(self.folder / "settings.env"),
        }
        command = [str(self.checkout / "deploy" / "upgrade.sh"), *words]
        code = subprocess.run(command, env=environment, capture_output=True, check=False).returncode
        called = calls.read_text().replace("docker compose --file deploy/compose.yaml ", "")
        return code, [line.split(" http")[0] for line in called.splitlines()]

    def links(self) -> dict[str, str]:
        return {name: str((self.program / name).readlink()) for name in ("current", "previous")}


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_units_are_replaced_while_a_spare_serves_and_back(host: Host) -> None:
    host.install("v0.2.0")
    begun = ["systemctl daemon-reload", "systemctl start parcel-migrate"]
    assert host.upgrade() == (0, [*begun, *BESIDE, *REPLACED])
    assert host.links() == {"current": "releases/v0.2.0", "previous": "."}
    assert (host.folder / "units" / "parcel-serve.service").exists()
    assert host.upgrade("back") == (0, [*BESIDE, *REPLACED])
    assert host.links() == {"current": ".", "previous": "releases/v0.2.0"}


@pytest.mark.parametrize("failing", ["parcel-migrate", "parcel-spare", "http://127.0.0.2:8123/readyz"])
def test_what_serves_goes_on_where_the_new_release_does_not_start(host: Host, failing: str) -> None:
    host.install("v0.2.0")
    code, called = host.upgrade(failing=failing)
    assert (code, called[-1]) == (1, "systemctl stop parcel-spare")
    assert "systemctl restart parcel-serve" not in called
    assert (host.program / "current").readlink() == Path()


def test_releases_before_the_previous_one_are_removed(host: Host) -> None:
    for version in ("v0.2.0", "v0.1.5"):
        host.install(version)
    assert host.upgrade()[0] == 0
    assert [each.name for each in (host.program / "releases").iterdir()] == ["v0.2.0"]


def test_without_a_release_before_there_is_no_way_back(host: Host) -> None:
    assert host.upgrade("back") == (1, ["systemctl stop parcel-spare"])


def test_containers_are_replaced_while_a_spare_serves_and_back(host: Host) -> None:
    env = host.checkout / "deploy" / ".env"
    env.write_text("SECRET_KEY=kept\n")
    old, new = "parcel-service:latest", "parcel-service:v0.2.0"
    replaced = ["up --detach --wait --no-deps service work", "rm --stop --force spare"]
    steps = ["up --detach --wait --no-deps spare", *replaced]
    begun = [f"docker build --file deploy/Containerfile --tag {new} .", f"{new}: run --rm --no-deps --no-TTY migrate"]
    assert host.upgrade() == (0, [*begun, *(f"{new}: {step}" for step in steps)])
    assert env.read_text() == f"SECRET_KEY=kept\nIMAGE={new}\nPREVIOUS_IMAGE={old}\n"
    assert host.upgrade("back") == (0, [f"{old}: {step}" for step in steps])
    assert env.read_text() == f"SECRET_KEY=kept\nIMAGE={old}\nPREVIOUS_IMAGE={new}\n"


def test_containers_go_on_where_the_spare_does_not_start(host: Host) -> None:
    env = host.checkout / "deploy" / ".env"
    env.write_text("SECRET_KEY=kept\n")
    code, called = host.upgrade(failing="up")
    assert (code, called[-1]) == (1, "parcel-service:v0.2.0: rm --stop --force spare")
    assert env.read_text() == "SECRET_KEY=kept\n"
