"""Concurrent imports: of two shops that import the same new id, one gets it and the other has a bad line."""

from collections.abc import Iterator
from threading import Barrier, Event

import pytest
from django.db import OperationalError, transaction

from labels.lifecycle.states import Event as LabelEvent
from labels.lifecycle.states import move
from parcels.importing.reading import BATCH_SIZE, NothingImportedError
from shops.db.failures import is_deadlock
from shops.models import Shop
from tests.labels.factories import LabelFactory
from tests.parcels.lines import line, many
from tests.support.api import Caller
from tests.support.factories import import_lines
from tests.support.sql import WAITING, value
from tests.support.threads import Threads
from tests.support.waiting import WAIT_TIMEOUT_S, until

pytestmark = pytest.mark.real_services


@pytest.mark.parametrize("is_strict", [True, False])
@pytest.mark.parametrize("commits", [True, False])
def test_the_first_to_commit_gets_the_id(
    *, is_strict: bool, commits: bool, transactional_db: None, own: Caller, other: Caller
) -> None:
    written = Event()
    report: list[tuple[int, str]] = []

    def import_second() -> int:
        try:
            written.wait(WAIT_TIMEOUT_S)
            lines = [line(id="contested", trackingId="N1"), line(id="free", trackingId="N2")]
            return import_lines(other.shop, lines, lambda *bad: report.append(bad), is_strict=is_strict)
        except NothingImportedError:
            return 0

    with Threads(1) as pool:
        with transaction.atomic():
            import_lines(own.shop, [line(id="contested", trackingId="N1", orderNumber="#own")])
            second = pool.submit(import_second)
            written.set()
            until(lambda: value(WAITING))  # it found no owner, and is writing
            transaction.set_rollback(not commits)
        count = second.result(WAIT_TIMEOUT_S)
    if commits:
        assert own.look_up("N1").json()["orderNumber"] == "#own"
        assert other.look_up("N1").status_code == 404
        assert report == [(1, "id: belongs to another shop.")]
        assert count == (0 if is_strict else 1)
        assert other.look_up("N2").status_code == (404 if is_strict else 200)
    else:
        assert own.look_up("N1").status_code == 404
        assert (count, report) == (2, [])
        assert other.look_up("N1").status_code == other.look_up("N2").status_code == 200


def test_imports_of_one_shop_in_contrary_orders_do_not_deadlock(transactional_db: None, own: Caller) -> None:
    count = BATCH_SIZE * 2
    import_lines(own.shop, many(count))
    with Threads(2) as pool:
        counts = pool.map(import_lines, [own.shop] * 2, [[*many(count)], [*many(count)][::-1]])
        assert list(counts) == [count] * 2


def test_of_two_shops_that_import_the_same_new_ids_in_contrary_orders_one_is_told_to_import_again(
    transactional_db: None, own: Caller, other: Caller
) -> None:
    have_written = Barrier(2, timeout=WAIT_TIMEOUT_S)

    def lines(names: str) -> Iterator[bytes]:
        for rank, name in enumerate(names):
            yield from many(BATCH_SIZE, name)
            if rank == 0:
                yield line(id=f"{name}{BATCH_SIZE}", trackingId="N")  # is read when the batch before it is written
                have_written.wait()

    def run(shop: Shop, names: str) -> int | None:
        try:
            return import_lines(shop, lines(names))
        except OperationalError as error:
            return None if is_deadlock(error) else -1

    with Threads(2) as pool:
        counts = list(pool.map(run, [own.shop, other.shop], ["ab", "ba"]))
    assert sorted(counts, key=str) == [2 * BATCH_SIZE + 1, None]
    found = [caller.look_up("a1").status_code for caller in (own, other)]
    assert found == [200 if count else 404 for count in counts]


def test_a_label_with_a_number_of_a_parcel_that_an_import_holds_is_finished_after_it(
    transactional_db: None, own: Caller
) -> None:
    import_lines(own.shop, [line(id="P1", trackingId="P1", carrierCode="alpha")])
    label = LabelFactory(shop=own.shop, state="received", carrier_code="alpha", tracking_numbers=["P1"])
    is_held, is_over = Event(), Event()

    def lines() -> Iterator[bytes]:
        yield from many(BATCH_SIZE, "P", carrierCode="alpha")
        is_held.set()
        assert is_over.wait(WAIT_TIMEOUT_S)
        yield line(id="last", trackingId="last")

    with Threads(1) as pool:
        importing = pool.submit(import_lines, own.shop, lines())
        assert is_held.wait(WAIT_TIMEOUT_S)
        with pytest.raises(OperationalError):
            move(label, LabelEvent.STORED, pdf=None)
        is_over.set()
        assert importing.result(WAIT_TIMEOUT_S) == BATCH_SIZE + 1
    move(label, LabelEvent.STORED, pdf=None)
    assert own.look_up("P1").json()["id"] == "P1"
