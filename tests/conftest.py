"""Fixtures of all tests: two shops with tokens, a client without one, empty counters, a clock."""

import fcntl
import gc
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import chain, islice, pairwise
from pathlib import Path

import hypothesis
import pytest
from django.core.cache import caches
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.template import Context, Template
from django.test import Client, utils
from django.utils.safestring import SafeString
from pytest_django import DjangoDbBlocker

from carriers import pdf, pdf_merger
from carriers.http.transport import UnreadableError
from carriers.sandbox.server import SandboxServer
from config import error_pages
from config.api import fast_path
from config.login.backends import OneAtATimeHasher
from config.ops import log_writer
from shops.models import Shop
from tests.support import emptying, migrated
from tests.support.api import Caller, Clock, Nobody, caller, forget, logged_in
from tests.support.factories import ShopFactory
from tests.support.waiting import WAIT_TIMEOUT_S

# Every run tries the same fifty examples, without a deadline, and keeps no files; a drill tries many others.
hypothesis.settings.register_profile("suite", max_examples=50, derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("drill", max_examples=5000, deadline=None, database=None, print_blob=True)
hypothesis.settings.load_profile("suite")
REWRITTEN = pdf.rewritten
TESTS = Path(__file__).parent
LONGEST_S = 30  # no test that computes with days takes longer, on a busy machine too
# Folders and files of the longest tests, which begin first: one that begins late leaves a processor without work.
LONG = {"drills", "docs", "contract", "clients", "models"}
LONG |= {"test_accessibility.py", "test_canaries.py", "test_monitoring.py"}
# Programs that run for several tests, which one worker takes: the demonstration, a server, and a browser's visits.
SHARED = {"demo", "client_server", "seen_in_guide", "seen_in_reference"}
# Pages and forms of the staff, log-ins, checks, points, files and the shape of HTTP: their queries are of the simplest.
# Their lists, searches and figures run on both databases, as do all that locks, imports, counts and removes.
ANY_DATABASE = {
    TESTS / path
    for folder, names in {
        "config": "test_messages",
        "config/api": "test_errors test_bodies test_policies test_admin_hosts test_http_contract",
        "config/desk": "test_languages test_looks test_morning test_tasks",
        "config/login": "test_devices test_passwords test_second_factor test_sessions test_sign_on",
        "docs": "test_pages",
        "labels": "test_accounts test_contracts test_folder test_metrics test_order_check test_points test_word_back",
        "labels/admin": "test_adopting test_cancelling test_deciding test_page test_pdf test_printing test_slips"
        " test_to_decide",
        "parcels/admin": "test_dossier test_page test_tracking",
        "shops": "test_admin test_contract_admin test_contract_form test_sender_address_command test_sender_form",
        "shops/webhooks": "test_admin test_public_addresses test_signing",
    }.items()
    for path in (f"{folder}/{name}.py" for name in names.split())
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run what needs the real services with them only, and what is not about the database once, with SQLite."""
    if config.getoption("services") == "sqlite":
        for item in items:
            if item.get_closest_marker("real_services"):
                item.add_marker(pytest.mark.skip(reason="needs --services postgresql"))
    else:
        config.hook.pytest_deselected(items=[item for item in items if not is_about_services(item)])
        items[:] = [item for item in items if is_about_services(item)]
    if config.getoption("reverse"):
        items.reverse()
    items[:] = longest_first(items, workers=int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Begin no test shortly before a day ends, in Paris or in UTC, or the time changes: each runs within one day."""
    left_s = -time.time() % 3600
    if left_s < LONGEST_S and datetime.now(UTC).hour in (21, 22, 23, 0):
        time.sleep(left_s)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, object, object]:
    """Compile a file in one worker, which takes longer than collecting it: the others wait, and load what it wrote."""
    with ExitStack() as stack:
        if isinstance(collector, pytest.Module):
            fcntl.flock(stack.enter_context(collector.path.open()), fcntl.LOCK_EX)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect no garbage meanwhile, and none later of the ten thousand tests and all modules, which stay."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


def longest_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Begin each worker's share, which is a part of the list (`--dist worksteal`), with some that start programs."""
    drills: dict[str, list[pytest.Item]] = {}
    for item in items:
        if LONG & set(item.path.parts):
            (shared,) = SHARED & set(getattr(item, "fixturenames", ())) or (item.nodeid,)
            drills.setdefault(shared, []).append(item)
    others = iter([item for item in items if not LONG & set(item.path.parts)])
    longest = sorted(drills.values(), key=len, reverse=True)
    heads = [list(chain.from_iterable(longest[worker::workers])) for worker in range(workers)]
    ends = [len(items) * worker // workers for worker in range(workers + 1)]
    for head, (start, end) in zip(heads, pairwise(ends), strict=True):
        head.extend(islice(others, max(0, end - start - len(head))))
    return [*chain.from_iterable(heads), *others]


def is_about_services(item: pytest.Item) -> bool:
    if item.get_closest_marker("real_services") or item.get_closest_marker("both_databases"):
        return True
    if item.get_closest_marker("any_database") or item.path in ANY_DATABASE:
        return False
    uses_database = {"db", "transactional_db", "django_db_setup"} & set(getattr(item, "fixturenames", ()))
    return bool(uses_database or item.get_closest_marker("django_db"))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Copy a migrated database, SQLite's into a file: connections of several threads lock one in memory.

    Nothing of it has to survive a power cut.
    """
    for connection in connections.all():
        if connection.vendor == "postgresql":
            connection.settings_dict["TEST"]["TEMPLATE"] = connection.settings_dict["NAME"]
        else:
            connection.settings_dict["OPTIONS"]["init_command"] += "; PRAGMA synchronous=OFF"
            file = tmp_path_factory.mktemp("database") / "test.sqlite3"
            connection.settings_dict["TEST"]["NAME"] = str(file)
            migrated.copy_to(file)


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Use a copy of a migrated database. Each database ends with its folder or its server."""
    return True


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        emptying.install()
        yield
        connections.close_all()


@pytest.fixture(scope="session", autouse=True)
def changed_for_tests(django_test_environment: None) -> Iterator[None]:
    """Change what every test needs otherwise, in one fixture: pytest looks each up for each of ten thousand tests."""
    log_writer.stderr = None  # pytest shows the lines of a test that fails
    OneAtATimeHasher.iterations = 1
    wait_longer_for_redis()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # nothing has to survive a power cut; a bad descriptor still fails
        patch.setattr(pdf, "rewritten", merged_here)
        patch.setattr(Template, "_render", whole_page_noted)
        # Keep a test's connection, with its transaction, after a request; Django's own handler for tests does so.
        patch.setattr(fast_path, "close_old_connections", lambda: None)
        yield


def merged_here(pdfs: Sequence[bytes], timeout_s: float) -> bytes:
    """Merge PDFs without the separate process, whose start takes longer than all else of a purchase."""
    try:
        return pdf.checked(pdf_merger._merged(iter(pdfs)))
    except Exception:  # noqa: BLE001 - as of the process, whatever it fails with
        raise UnreadableError("the labels cannot be merged") from None


def whole_page_noted(template: Template, context: Context) -> SafeString:
    """Keep the context of each page, and not of the hundred parts that it includes: a sixth of the time of a page."""
    if context.template is not template:
        return template.nodelist.render(context)
    noted: Callable[[Template, Context], SafeString] = vars(utils)["instrumented_test_render"]
    return noted(template, context)


def wait_longer_for_redis() -> None:
    """Wait on a busy machine: the service lets a request through that it can't count within 0.2 s."""
    made_with = caches.settings["rate_limit"]
    options = made_with.get("OPTIONS", {})
    made_with["OPTIONS"] = options | {name: WAIT_TIMEOUT_S for name in options if name.endswith("timeout")}


@pytest.fixture
def no_sidebar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the staff's sidebar out, which is the same in every page and a fifth of its time."""
    monkeypatch.setattr("unfold.sites.UnfoldAdminSite.get_sidebar_list", lambda *_: [])


@pytest.fixture
def refusals_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse staff with a whole page once for each status, which is the same at every address, and then without one."""
    page, seen = error_pages.error_page, set[int]()

    def read_once(request: HttpRequest, status: int, *texts: str) -> HttpResponse:
        if status in seen:
            return HttpResponse(status=status)
        seen.add(status)
        return page(request, status, *texts)

    monkeypatch.setattr(error_pages, "error_page", read_once)


@pytest.fixture
def merging_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merge PDFs in the separate process, as the service does."""
    monkeypatch.setattr(pdf, "rewritten", REWRITTEN)


@pytest.fixture(autouse=True)
def empty_counters() -> None:
    forget()
    caches["rate_limit"].clear()


@pytest.fixture(scope="session")
def sandbox_server() -> Iterator[SandboxServer]:
    """The carriers' sandbox, which each test empties."""
    with SandboxServer() as server:
        yield server


@pytest.fixture
def own(db: None) -> Caller:
    """The shop that asks."""
    return caller(ShopFactory(id="own", name="Own"))


@pytest.fixture
def other(db: None) -> Caller:
    """Another shop, whose data the first must not see."""
    return caller(ShopFactory(id="other", name="Other"))


@pytest.fixture
def shop(db: None) -> Shop:
    """A shop as its staff know it."""
    made: Shop = ShopFactory(id="lumiere", name="Maison Lumière")
    return made


@pytest.fixture
def staff(request: pytest.FixtureRequest, db: None, no_sidebar: None) -> Client:
    """A member of the staff, with the permissions that the test's module names."""
    return logged_in(*request.module.PERMISSIONS)


@pytest.fixture
def nobody() -> Nobody:
    """A client that sends no token."""
    return Nobody()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(time.time())
    monkeypatch.setattr("time.time", made.time)
    monkeypatch.setattr("time.monotonic", made.time)
    monkeypatch.setattr("django.utils.timezone.now", made.now)
    return made
