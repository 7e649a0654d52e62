"""Known vulnerabilities and the bill of materials: a finding, silence and an unreachable database are told apart."""

import json
import subprocess
import sys

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests import audit
from tests.audit import Result, read_npm_audit, read_pip_audit
from tests.support.processes import ROOT

FLAWED = {"name": "django", "version": "5.2.0", "vulns": [{"id": "CVE-1"}]}
FINE = {"name": "redis", "version": "6.0", "vulns": []}
SKIPPED = {"name": "tqdm", "skip_reason": "unknown"}


@pytest.mark.parametrize(
    ("packages", "found", "not_asked"),
    [
        ([FINE], [], ""),
        ([FLAWED, FINE], ["django 5.2.0: CVE-1"], ""),
        ([FINE, SKIPPED], [], "1 of 2 (unknown)"),
        ([FLAWED, SKIPPED], ["django 5.2.0: CVE-1"], "1 of 2 (unknown)"),
    ],
)
def test_a_package_that_was_skipped_is_not_one_without_flaws(
    packages: list[object], found: list[str], not_asked: str
) -> None:
    assert read_pip_audit(json.dumps({"dependencies": packages}), "") == Result(found, not_asked)


@pytest.mark.parametrize("output", ["", "Traceback", "[]", "{}"])
def test_no_report_is_no_answer(output: str) -> None:
    assert read_pip_audit(output, "a\nconnection refused\n") == Result([], "connection refused")
    assert read_npm_audit(output, "") == Result([], "no answer")


def test_npms_findings_and_failures_are_read() -> None:
    assert read_npm_audit('{"vulnerabilities": {}}', "") == Result()
    assert read_npm_audit('{"vulnerabilities": {"a": {"severity": "high"}}}', "") == Result(["a: high"])
    assert read_npm_audit('{"message": "405 Method Not Allowed"}', "") == Result([], "405 Method Not Allowed")


@pytest.mark.parametrize(
    ("results", "code"),
    [([Result(), Result()], 0), ([Result(), Result([], "away")], 2), ([Result(["a"]), Result([], "away")], 1)],
)
def test_the_exit_code_is_zero_only_if_all_was_looked_up_and_nothing_found(
    results: list[Result], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "audits", lambda: enumerate(results))
    assert audit.main() == code
    assert ("NOT LOOKED UP: away" in capsys.readouterr().out) is (Result([], "away") in results)


def test_the_image_brings_a_valid_bill_of_all_its_packages() -> None:
    command = [sys.executable, "deploy/sbom.py", "requirements.txt"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [tuple(line.split()[0].split("==")) for line in lines if line and line[0] not in " #"]
    components = json.loads(text)["components"]
    assert [(each["name"], each["version"]) for each in components] == wanted
    assert all(each["hashes"] for each in components)
    containerfile = (ROOT / "deploy" / "Containerfile").read_text()
    assert "python3 /sbom.py /requirements.txt > /sbom.cdx.json" in containerfile
    assert "COPY --from=build /sbom.cdx.json /usr/share/sbom/" in containerfile
