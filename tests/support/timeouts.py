"""A pytest plugin: what still waits after its test's timeout is interrupted too, such as a pool of hanging threads."""

import signal
from collections.abc import Generator

import pytest
from pytest_timeout import Settings

from tests.support.waiting import WAIT_TIMEOUT_S


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Settings) -> Generator[None, object, object]:
    """Let the timer of pytest-timeout expire again and again, instead of once."""
    is_set = yield
    signal.setitimer(signal.ITIMER_REAL, settings.timeout, WAIT_TIMEOUT_S)
    return is_set


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> None:
    """Stop it once the test has failed: it would interrupt the report of that on a slow machine."""
    if call.excinfo:
        signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Set it anew, as a test's failure has ended it; a run without a timeout has no timer, which nobody would stop."""
    chosen = item.config.getoption("timeout")
    timeout_s = float(item.config.getini("timeout") if chosen is None else chosen)
    if not timeout_s:
        return
    settings = Settings(timeout=timeout_s, method="signal", func_only=False, disable_debugger_detection=False)
    item.config.hook.pytest_timeout_set_timer(item=item, settings=settings)
