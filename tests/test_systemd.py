"""The units of deploy/systemd: systemd accepts them, they are restricted, and they agree with the service."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

from tests.support.deployment import ROOT
from tests.support.programs import needs

FOLDER = ROOT / "deploy" / "systemd"
SERVICES = sorted(file.name for file in FOLDER.glob("*.service"))
SHARED = (FOLDER / "parcel-.service.d" / "parcels.conf").read_text().splitlines()
PROGRAM = "/srv/parcel-service/"
MOST_EXPOSED = 20  # tenths
needs_systemd = needs("systemd-analyze", shutil.which("systemd-analyze"))
pytestmark = pytest.mark.any_database


@pytest.fixture
def units(tmp_path: Path) -> Path:
    return shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)


def analyze(*words: str | Path) -> tuple[int, str]:
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@needs_systemd
def test_systemd_understands_every_directive(units: Path) -> None:
    assert analyze("verify", "--man=no", *units.glob("*.service"), *units.glob("*.timer")) == (0, "")


@needs_systemd
def test_a_misspelt_directive_is_told(units: Path) -> None:
    shared = units / "parcel-.service.d" / "parcels.conf"
    shared.write_text(shared.read_text().replace("ProtectHome=", "ProtectHomes="))
    assert "Unknown key 'ProtectHomes'" in analyze("verify", "--man=no", units / "parcel-serve.service")[1]


@needs_systemd
@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_little_exposed(units: Path, name: str) -> None:
    code, told = analyze("security", "--offline=true", f"--threshold={MOST_EXPOSED}", "--no-pager", units / name)
    assert (code, told) == (0, "")


def test_every_service_has_the_shared_restrictions() -> None:
    """Systemd reads them for units whose name starts with `parcel-`; commands by hand are such units too."""
    assert {name.startswith("parcel-") for name in SERVICES} == {True}
    assert '--unit="parcel-manage-$$"' in (FOLDER / "manage").read_text()
    assert {
        *("User=parcels", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "ProtectHome=yes"),
        *("PrivateTmp=yes", "PrivateDevices=yes", "MemoryDenyWriteExecute=yes", "RestrictNamespaces=yes"),
        *("SystemCallFilter=@system-service", "SystemCallFilter=~@privileged", "UMask=0077"),
    } <= set(SHARED)


@pytest.mark.parametrize("name", SERVICES)
def test_a_process_stays_with_its_release_when_the_link_moves(name: str) -> None:
    """A relative path leads to the folder that the link meant at the start; also for what Python imports later."""
    assert PROGRAM not in (FOLDER / name).read_text()
    assert f"WorkingDirectory={PROGRAM}current" in SHARED


@pytest.mark.parametrize("name", SERVICES)
def test_units_run_commands_that_exist(name: str) -> None:
    text = (FOLDER / name).read_text()
    [command] = re.findall(r"\.venv/bin/python manage\.py (\w+)", text)
    assert command in get_commands()


def test_systemd_waits_as_long_as_the_service_takes_to_stop() -> None:
    assert f"TimeoutStopSec={settings.STOP_TIMEOUT}" in SHARED


def test_only_the_migration_reads_the_url_of_the_role_that_owns_the_tables() -> None:
    readers = [name for name in SERVICES if "/etc/parcel-migrate.env" in (FOLDER / name).read_text()]
    assert readers == ["parcel-migrate.service"]
