"""The version, said once and shown everywhere."""

import tomllib

import pytest
from django.core.management import call_command
from prometheus_client import CollectorRegistry

from config import __version__
from config.docs.openapi.document import generate
from config.ops.metrics import show_version
from tests.support.processes import ROOT

pytestmark = pytest.mark.any_database


def test_project_and_changelog_have_it() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__
    assert f"\n## {__version__} " in (ROOT / "CHANGELOG.md").read_text()


def test_a_command_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("serve", "--version")
    assert capsys.readouterr().out == f"{__version__}\n"


def test_the_description_and_the_metrics_tell_it() -> None:
    assert f"version {__version__} of the service" in generate()["info"]["description"]
    show_version(registry := CollectorRegistry())
    ((sample,),) = [metric.samples for metric in registry.collect()]
    assert (sample.name, sample.labels) == ("service_info", {"version": __version__})
