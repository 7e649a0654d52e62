"""A pytest plugin: a run's last lines, which name its order and what it did not test for want of a program."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from tests.support.programs import NOT_INSTALLED


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--summary", type=Path, help="write the last lines to this file instead")
    parser.addoption("--reverse", action="store_true", help="run the tests in the reverse of the files' order")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("reverse"):
        config.option.randomly_reorganize = False


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    services = config.getoption("services")
    skipped = terminalreporter.stats.get("skipped", [])
    if services == "sqlite":
        skipped = [report for report in skipped if "real_services" not in report.keywords]
    seed = f"--randomly-seed={config.getoption('randomly_seed', None)}"
    order = "--reverse" if config.getoption("reverse") else seed
    lines = [f"{services}: order of {order}", *not_tested(skipped)]
    if file := config.getoption("summary"):
        file.write_text("\n".join(lines))
    else:
        terminalreporter.write("\n".join(["", *lines, ""]))


def not_tested(skipped: list[pytest.TestReport]) -> Iterator[str]:
    """Yield a line for each program that is not installed."""
    missing = defaultdict(list)
    for report in skipped:
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")  # type: ignore[index] # where, line and reason
        if reason.endswith(NOT_INSTALLED):
            missing[reason].append(report.nodeid.partition("::")[0])
    for reason, files in sorted(missing.items()):
        yield f"{reason}: {len(files)} tests skipped, of {', '.join(sorted(set(files)))}"
