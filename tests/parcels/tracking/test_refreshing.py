"""A pass asks about what is due, and nothing else; what fails is tried later and changes nothing."""

import logging
import os
import signal
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from parcels.figures.counting import recount
from parcels.figures.models import TrackingFigure
from parcels.importing.numbers import GIVEN_OUT_AGAIN
from parcels.importing.writing import MAX_FOLLOWED
from parcels.models import Parcel, TrackingNumber
from parcels.tracking import refreshing
from parcels.tracking.due import Outcome, oldest_due_s
from parcels.tracking.events import milliseconds
from parcels.tracking.recording import record_all
from parcels.tracking.refreshing import refresh
from shops.contracts import accounts
from shops.contracts.clients import tracker
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.webhooks.models import WebhookEvent
from tests.carriers.support.tracking import beta_refusal
from tests.labels.factories import ContractFactory
from tests.labels.gates import during
from tests.parcels.tracking.conftest import OUTAGE, Carriers, follow, forget_clients, make_due, status
from tests.support.api import Caller
from tests.support.factories import ShopFactory
from tests.support.sql import value
from tests.support.threads import in_threads
from tests.support.tracking import number_of
from tests.support.waiting import WAIT_TIMEOUT_S, until


def run(carrier_code: str = "alpha", limit: int | None = None) -> Counter[str]:
    return refresh(carrier_code, stop=Event(), limit=limit)


@pytest.mark.parametrize(("carrier_code", "codes"), [("alpha", ("DC", "TS")), ("beta", ("PCHMQT", "PCHCFM"))])
def test_a_due_parcel_gets_the_carriers_status(
    carriers: Carriers, shop: Shop, carrier_code: str, codes: tuple[str, ...]
) -> None:
    parcel = follow(shop, "N1", carrier_code=carrier_code)
    carriers.tell("N1", *codes)
    assert run(carrier_code) == {"known": 1}
    row = number_of(parcel)
    assert status(parcel) == "IN_TRANSIT"
    assert (row.outcome, row.leased_until, row.failures) == ("known", None, 0)
    assert row.due_at is not None
    assert timedelta(hours=1.7) < row.due_at - timezone.now() < timedelta(hours=2.3)


def test_a_parcel_of_a_deactivated_shop_is_followed_and_its_events_are_kept(carriers: Carriers, shop: Shop) -> None:
    parcel = follow(shop, "N1")
    Shop.objects.update(is_active=False)
    carriers.tell("N1", "TS")
    assert run() == {"known": 1}
    assert status(parcel) == "IN_TRANSIT"
    assert WebhookEvent.objects.get().data["status"] == "IN_TRANSIT"


def test_only_what_is_due_and_free_is_asked_about(carriers: Carriers, shop: Shop) -> None:
    follow(shop, "LATER", is_due=False)
    leased, given_up = follow(shop, "LEASED"), follow(shop, "OVER")
    TrackingNumber.objects.filter(parcel=leased).update(leased_until=timezone.now() + timedelta(minutes=1))
    TrackingNumber.objects.filter(parcel=given_up).update(due_at=None)
    ended = follow(shop, "ENDED")
    TrackingNumber.objects.filter(parcel=ended).update(leased_until=timezone.now() - timedelta(minutes=1))
    follow(shop, "BETAS", carrier_code="beta")
    assert run() == {"unknown": 1}
    assert carriers.asked == ["ENDED"]


def test_passes_at_once_ask_about_each_parcel_once(carriers: Carriers, shop: Shop) -> None:
    numbers = [f"N{place}" for place in range(24)]
    for number in numbers:
        follow(shop, number)
    found = in_threads(3, lambda _: run())
    assert sum(found, Counter()) == {"unknown": 24}
    assert sorted(carriers.asked) == sorted(numbers)


def test_each_number_of_a_parcel_is_asked_about_up_to_a_bound(
    carriers: Carriers, shop: Shop, settings: Settings
) -> None:
    settings.TRACKING_CONCURRENCY = 1
    numbers = [f"N{place:03}" for place in range(MAX_FOLLOWED + 5)]
    follow(shop, "N000", trackingNumbers=numbers)
    assert run() == {"unknown": MAX_FOLLOWED}
    assert sorted(carriers.asked) == numbers[:MAX_FOLLOWED]


def test_a_limit_bounds_a_pass(carriers: Carriers, shop: Shop) -> None:
    for place in range(5):
        follow(shop, f"N{place}")
    assert run(limit=2) == {"unknown": 2}
    assert len(carriers.asked) == 2


@pytest.mark.real_services
def test_no_connection_to_the_database_is_open_during_a_call(carriers: Carriers, shop: Shop) -> None:
    calls = []

    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND NOT pid = ANY(%s)"
    )

    def count() -> None:
        # A backend whose connection was closed ends a moment later, and the other number's call may just begin.
        until(lambda: value(others, [known]) == 0)
        calls.append("without a connection")
        connection.close()

    known = [value("SELECT pg_backend_pid()")]  # the test's own
    follow(shop, "N1", trackingNumbers=["N1", "N2"])
    carriers.before = count
    run()
    assert len(calls) == 2


# --- Failures ---


def test_a_failure_changes_nothing_and_is_tried_later_and_later(carriers: Carriers, shop: Shop) -> None:
    parcel = follow(shop, "N1")
    carriers.tell("N1", "TS")
    run()
    before = Parcel.objects.filter(id=parcel).values().get()
    carriers.faults[""] = OUTAGE
    waits = []
    for _ in range(3):
        make_due()
        assert run() == {"unavailable": 1}
        row = number_of(parcel)
        assert row.due_at is not None
        waits.append((row.due_at - timezone.now()) / timedelta(minutes=1))
        assert (row.outcome, row.leased_until) == ("unavailable", None)
    assert [round(wait / 5) for wait in waits] == [1, 2, 4]
    assert Parcel.objects.filter(id=parcel).values().get() == before
    carriers.faults.clear()
    make_due()
    assert run() == {"known": 1}
    assert number_of(parcel).failures == 0


def test_a_number_that_cannot_be_answered_hides_no_other_of_its_parcel(carriers: Carriers, shop: Shop) -> None:
    parcel = follow(shop, "N1", trackingNumbers=["N1", "N2"])
    carriers.faults["N1"] = OUTAGE
    carriers.tell("N2", "TS")
    assert run() == {"unavailable": 1, "known": 1}
    assert status(parcel) == "IN_TRANSIT"
    row = TrackingNumber.objects.get(number="N1")
    assert (row.outcome, row.failures) == ("unavailable", 1)
    assert row.due_at is not None
    assert row.due_at < timezone.now() + timedelta(minutes=10)


def test_each_number_is_asked_about_at_its_own_carrier(carriers: Carriers, shop: Shop) -> None:
    parcel = follow(shop, "N1", trackingNumbers=["N1", "N2"])
    TrackingNumber.objects.filter(number="N2").update(carrier_code="beta", state="bought", label="L1")
    carriers.tell("N1", "DC", "TS", "D")
    carriers.tell("N2", "PCHCFM")
    assert (run("alpha"), run("beta")) == ({"known": 1}, {"known": 1})
    assert status(parcel) == "IN_TRANSIT"
    carriers.tell("N2", "LIVCFM")
    make_due()
    run("beta")
    assert status(parcel) == "DELIVERED"


def test_a_shop_with_a_backlog_is_not_asked_about_before_another(
    carriers: Carriers, shop: Shop, other: Caller, settings: Settings
) -> None:
    settings.TRACKING_CONCURRENCY = 1  # several threads would each take one number, of a shop chosen by chance
    for number in range(20):
        follow(shop, f"N{number}")
    late = follow(other.shop, "LATE")
    TrackingNumber.objects.filter(parcel=late).update(due_at=timezone.now())
    run(limit=4)
    assert "LATE" in carriers.asked


@pytest.mark.real_services
def test_a_parcel_that_an_import_holds_is_not_asked_about_in_vain(carriers: Carriers, shop: Shop) -> None:
    parcel = follow(shop, "N1")
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        Parcel.objects.select_for_update().get(id=parcel)
        assert pool.submit(run).result(WAIT_TIMEOUT_S) == {}
    assert carriers.asked == []


@pytest.mark.real_services
def test_an_import_that_holds_a_number_whose_carrier_fails_holds_up_no_other(
    carriers: Carriers, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("N1", "N2"):
        follow(shop, name)
    carriers.faults["N1"] = OUTAGE
    importing = connection.copy()
    importing.inc_thread_sharing()

    def hold(*_: object, **__: object) -> None:
        importing.cursor().execute("BEGIN; SELECT FROM parcels_parcelnumber WHERE number = 'N1' FOR UPDATE")

    during(monkeypatch, refreshing, "record_batch", before=hold)
    with ThreadPoolExecutor(1) as pool:
        passed = pool.submit(run)
        try:
            assert passed.result(10) == {"unavailable": 1, "unknown": 1}
        finally:
            importing.close()
    leased = TrackingNumber.objects.exclude(leased_until=None).values_list("number", flat=True)
    assert list(leased) == ["N1"], "it is due again when its lease ends"


def test_a_parcel_is_asked_about_on_the_account_that_it_was_bought_on(carriers: Carriers, shop: Shop) -> None:
    contract = CarrierContract.objects.get(shop=shop, carrier_code="beta")
    before = contract.account_number
    contract.account_number, contract.pickup_account_number = "900001", "900002"
    accounts.save(contract, secret={"password": "another", "api_key": ""})
    for number, owner in {"N1": before, "N2": "900002", "N3": "900001"}.items():
        follow(shop, number, carrier_code="beta")
        carriers.tell(number, "PCHMQT")
        carriers.owners[number] = owner
    assert run("beta") == {"known": 3}
    assert sorted(set(carriers.logins)) == sorted([before, "900001", "900002"])


def test_an_open_circuit_breaker_leaves_all_rows_due(carriers: Carriers, shop: Shop) -> None:
    other = ShopFactory()
    for place in range(30):
        follow((shop, other)[place % 2], f"N{place}")
    carriers.faults[""] = OUTAGE
    first = run()["unavailable"]
    assert 5 <= first < 15  # the threads' calls that were under way
    assert run() == {}
    due = TrackingNumber.objects.filter(due_at__lte=timezone.now(), leased_until=None)
    assert due.count() == 30 - first
    client = tracker("alpha", is_test=False)
    assert client
    client.circuit_breaker._reset_timeout_s = 0
    assert run() == {"unavailable": 1}, "half-open, one number is the probe"
    carriers.faults.clear()
    assert [run(), run()] == [{"unknown": 1}, {"unknown": 28 - first}]


@pytest.mark.parametrize(("carrier_code", "code"), [("alpha", "SC"), ("beta", "PCHCFM")])
def test_a_shop_whose_questions_nobody_answers_holds_up_no_other(
    carrier_code: str, code: str, carriers: Carriers, shop: Shop, settings: Settings
) -> None:
    settings.TRACKING_CONCURRENCY = 1
    other = ShopFactory()
    ContractFactory(shop=other, carrier_code="beta")
    for place in range(40):
        follow(shop, f"A{place}", carrier_code=carrier_code)
        carriers.faults[f"A{place}"] = OUTAGE
    for place in range(3):
        follow(other, f"B{place}", carrier_code=carrier_code)
    carriers.tell("B0", code)
    assert 5 <= run(carrier_code)["unavailable"] < 40  # the other shop's answers close the circuit breaker
    make_due()
    outcomes = run(carrier_code)
    assert (outcomes["known"], outcomes["unknown"]) == (1, 2)
    due = TrackingNumber.objects.filter(shop=shop, due_at__lte=timezone.now(), leased_until=None)
    assert due.count() == 40 - outcomes["unavailable"]


def test_wrong_credentials_stop_a_shop_until_its_contract_changes(
    carriers: Carriers, shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    parcels = [follow(shop, f"N{place}", carrier_code="beta") for place in range(6)]
    carriers.faults[""] = beta_refusal("201")
    with caplog.at_level(logging.ERROR, "parcels.tracking"):
        for _ in range(3):
            run("beta")
            make_due()
    told = [record for record in caplog.records if record.name == "parcels.tracking"]
    assert [record.getMessage() for record in told] == [
        "tracking stopped: the carrier refuses the contract's credentials"
    ]
    contract = CarrierContract.objects.get(shop=shop, carrier_code="beta")
    assert contract.is_tracking_refused
    count = len(carriers.asked)
    assert count <= 4  # one of each thread
    run("beta")
    assert len(carriers.asked) == count
    assert {number_of(parcel).outcome for parcel in parcels} == {Outcome.CREDENTIALS_REJECTED}
    contract.save()  # as configure_carrier does
    carriers.faults.clear()
    make_due()
    assert run("beta") == {"unknown": 6}


def test_another_shop_goes_on(carriers: Carriers, shop: Shop, settings: Settings) -> None:
    settings.TRACKING_CONCURRENCY = 1  # else PostgreSQL may hold a row for another thread, and it keeps its lease
    follow(shop, "N1", carrier_code="beta")
    other, without = ShopFactory(), ShopFactory()
    ContractFactory(shop=other, carrier_code="beta")
    follow(other, "N2", carrier_code="beta")
    third = follow(without, "N3", carrier_code="beta")
    follow(without, "N4")  # alpha's, which needs no contract
    carriers.faults["N1"] = beta_refusal("201")
    carriers.tell("N2", "PCHCFM")
    assert run("beta") == {"credentials_rejected": 1, "known": 1}
    assert "N3" not in carriers.asked
    assert number_of(third).outcome == Outcome.NO_CONTRACT
    assert run() == {"unknown": 1}


@pytest.mark.parametrize(("age", "is_deferred"), [(timedelta(days=89), True), (timedelta(days=90), False)])
def test_what_no_contract_lets_be_asked_is_followed_for_ninety_days(
    carriers: Carriers, age: timedelta, is_deferred: bool
) -> None:
    """README.md: a parcel that is not final and younger than 90 days is followed."""
    parcel = follow(ShopFactory(), "N1", carrier_code="beta")
    TrackingNumber.objects.update(created_at=milliseconds(timezone.now() - age))
    assert run("beta") == Counter()
    row = number_of(parcel)
    assert (row.outcome, row.due_at is not None) == (Outcome.NO_CONTRACT, is_deferred)


def test_a_number_that_may_be_given_out_again_is_asked_about_no_more(carriers: Carriers, shop: Shop) -> None:
    """tracking.md: ask only for parcels younger than 13 months. The service may have had no URL until now."""
    parcels = [follow(shop, f"N{place}", carrier_code="beta") for place in range(60)]
    old = TrackingNumber.objects.exclude(parcel=parcels[0])
    old.update(created_at=milliseconds(timezone.now() - GIVEN_OUT_AGAIN))
    TrackingNumber.objects.filter(parcel=parcels[0]).update(due_at=timezone.now())  # the last one
    for place in range(60):
        carriers.tell(f"N{place}", "LIVCFM")
    assert run("beta") == {"known": 1}
    assert carriers.asked == ["N0"]
    assert [status(parcel) for parcel in parcels] == ["DELIVERED", *[None] * 59]
    assert set(old.values_list("due_at", "leased_until")) == {(None, None)}


def test_credentials_that_no_key_opens_are_none_that_the_carrier_refuses(carriers: Carriers, shop: Shop) -> None:
    parcel = follow(shop, "N1", carrier_code="beta")
    CarrierContract.objects.update(encrypted_credentials="x")
    assert run("beta") == {}
    assert (number_of(parcel).outcome, carriers.asked) == (Outcome.UNAVAILABLE, [])
    assert not CarrierContract.objects.get(shop=shop, carrier_code="beta").is_tracking_refused


def test_a_carrier_whose_url_is_removed_is_not_asked_and_not_late(
    carriers: Carriers, shop: Shop, settings: Settings
) -> None:
    """design.md: when only ALPHA_URL is changed there is none, and nothing is asked."""
    for number, carrier_code in (("N1", "alpha"), ("N2", "beta")):
        follow(shop, number, carrier_code=carrier_code)
    TrackingNumber.objects.update(due_at=timezone.now() - timedelta(hours=2))
    kept = settings.CARRIER_ENDPOINTS
    settings.CARRIER_ENDPOINTS = kept | {"alpha": kept["alpha"] | {"tracking_url": None}}
    forget_clients()
    assert run() == Counter()
    recount()
    late = {each.carrier_code: each.due_since is not None for each in TrackingFigure.objects.all()}
    assert late == {"alpha": False, "beta": True}
    assert oldest_due_s("alpha") == 0 < oldest_due_s("beta")
    settings.CARRIER_ENDPOINTS = kept
    forget_clients()
    assert oldest_due_s("alpha") >= 7200
    assert run() == {"unknown": 1}


def test_an_answer_that_cannot_be_recorded_holds_up_no_other(
    carriers: Carriers, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcels = [follow(shop, f"N{place}") for place in range(3)]
    for place in range(3):
        carriers.tell(f"N{place}", "TS")

    refused = number_of(parcels[1]).pk

    def refuse(answered: Mapping[int, Any], *, now: datetime, is_test: bool) -> set[int]:
        assert refused not in answered
        return record_all(answered, now=now)

    monkeypatch.setattr("parcels.tracking.refreshing.record_all", refuse)
    run()
    assert [status(parcel) for parcel in parcels] == ["IN_TRANSIT", None, "IN_TRANSIT"]
    assert number_of(parcels[1]).failures == 1


def test_a_stop_begins_nothing_more_and_finishes_what_has_begun(
    carriers: Carriers, shop: Shop, settings: Settings
) -> None:
    settings.TRACKING_CONCURRENCY = 1
    parcels = [follow(shop, f"N{place}") for place in range(10)]
    stop = Event()
    carriers.tell("N0", "TS")
    carriers.before = stop.set
    assert refresh("alpha", stop=stop) == {"known": 1}
    assert carriers.asked == ["N0"]
    assert status(parcels[0]) == "IN_TRANSIT"
    assert not TrackingNumber.objects.filter(leased_until__isnull=False).exists()


# --- The command ---


def test_the_command_makes_one_pass_over_both_carriers(
    carriers: Carriers, shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    for carrier_code in ("alpha", "beta"):
        follow(shop, f"{carrier_code}1".upper(), carrier_code=carrier_code)
        follow(shop, f"{carrier_code}2".upper(), carrier_code=carrier_code)
    carriers.tell("ALPHA1", "TS")
    call_command("refresh_tracking")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("4\n", "1 known\n3 unknown\n")
    make_due()
    call_command("refresh_tracking", limit=1)
    assert capsys.readouterr().out == "2\n"


def test_ctrl_c_ends_a_pass_after_what_it_has_begun(carriers: Carriers, shop: Shop, settings: Settings) -> None:
    settings.TRACKING_CONCURRENCY = 1
    parcels = [follow(shop, f"N{place}") for place in range(3)]
    for place in range(3):
        carriers.tell(f"N{place}", "TS")
    stop = Event()

    def interrupt() -> None:
        if len(carriers.asked) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            stop.wait(1)

    carriers.before = interrupt
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            refresh("alpha", stop=stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(carriers.asked) == 1
    assert [status(parcel) for parcel in parcels].count("IN_TRANSIT") == 1


def test_a_limit_of_nothing_is_an_error(carriers: Carriers) -> None:
    with pytest.raises(CommandError, match="--limit: needs 1 or more"):
        call_command("refresh_tracking", limit=0)
