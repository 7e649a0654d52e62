"""The table of a label's transitions: each row as the runbook has it, and nothing but the table moves a label."""

import re
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.conf import settings
from django.db import OperationalError
from django.db.models import Q

from labels.lifecycle.states import TRANSITIONS, Event, move, said_of
from labels.models import LabelState, ShippingLabel
from parcels.models import Parcel
from shops.webhooks import outbox
from shops.webhooks.models import WebhookEvent
from tests.labels.conftest import row
from tests.labels.factories import PDF, LabelFactory
from tests.labels.orders import order, post
from tests.labels.test_metrics import value
from tests.support.api import Caller

RUNBOOK = Path(settings.BASE_DIR, "docs", "runbook", "fail.md")
ROW = re.compile(r"^\| `(\w+)` \| ([\w`, ]+) \| `(\w+)` \| (\w*) \| ([^|]*) \| `?([\w.]*)`? \| (.+) \|$", re.MULTILINE)


def label_in(state: LabelState, own: Caller) -> ShippingLabel:
    label: ShippingLabel = LabelFactory(
        shop=own.shop,
        state=state,
        idempotency_key="k",
        tracking_numbers=["N1"],
        error_code="BETA_UNAVAILABLE",
        days_ago=1,  # the host's clock, which made it, and the database's may tell the same microsecond
    )
    return label


def test_the_runbook_has_the_table() -> None:
    told = {
        event: (tuple(re.findall(r"\w+", sources)), target, key, effect.strip(), webhook, says)
        for event, sources, target, key, effect, webhook, says in ROW.findall(RUNBOOK.read_text())
    }
    assert told == {
        str(event): (
            tuple(map(str, step.sources)),
            str(step.target),
            "free" if step.frees_key else "",
            str(step.effect or ""),
            step.webhook,
            step.says,
        )
        for event, step in TRANSITIONS.items()
    }


@pytest.mark.parametrize(
    ("event", "source"), [(event, source) for event, step in TRANSITIONS.items() for source in step.sources]
)
def test_a_transition_does_what_its_row_says(event: Event, source: LabelState, own: Caller) -> None:
    step, before = TRANSITIONS[event], value("label_transitions_total", carrier="beta", event=event)
    label = label_in(source, own)
    finished_at = label.finished_at
    facts = {"pdf": PDF} if step.target == LabelState.RECEIVED else {"pdf": None}
    assert move(label, event, **facts)
    moved = row()
    assert (label.state, moved.state, moved.pdf and bytes(moved.pdf)) == (step.target, step.target, facts["pdf"])
    assert moved.idempotency_key == (None if step.frees_key else "k")
    told = [(each.type, each.data) for each in WebhookEvent.objects.filter(subject=label.id)]
    more = {"code": moved.error_code} if step.webhook == "label.failed" else {"trackingNumbers": ["N1"]}
    named = {"id": label.id, "orderId": label.order_id, "carrierCode": "beta", "productCode": label.product_code}
    assert told == ([(step.webhook, named | more)] if step.webhook else [])
    assert Parcel.objects.exists() is (event == Event.STORED)
    assert said_of(moved) == step.says
    assert (moved.finished_at != finished_at) is step.ends_purchase
    assert value("label_transitions_total", carrier="beta", event=event) == before + 1


def test_an_event_that_cant_be_written_undoes_the_change(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labels.lifecycle.db_retry.DB_RETRY_TIMEOUT_S", 0)
    monkeypatch.setattr(outbox, "write", Mock(side_effect=OperationalError))
    assert post(buyer, order()).status_code == 500
    assert row().state == LabelState.RECEIVED


@pytest.mark.parametrize("source", LabelState)
def test_from_any_other_state_nothing_happens(source: LabelState, own: Caller) -> None:
    label = label_in(source, own)
    before = ShippingLabel.objects.values().get()
    for event, step in TRANSITIONS.items():
        if source not in step.sources:
            assert not move(label, event), event
            assert (ShippingLabel.objects.values().get(), WebhookEvent.objects.count()) == (before, 0), event


def test_a_guard_that_is_not_true_of_the_row_keeps_it_as_it_is(own: Caller) -> None:
    label = label_in(LabelState.UNKNOWN, own)
    assert not move(label, Event.NOT_FOUND, Q(decided_by="ada"))
    assert row().state == LabelState.UNKNOWN


def test_no_other_module_updates_a_state() -> None:
    sources = (path for path in Path(settings.BASE_DIR, "labels").rglob("*.py") if "migrations" not in path.parts)
    writes = re.compile(r"\.update\([^)]*\bstate=(?!NumberState)|\bstate=[^)]*\)\.save\(")
    assert [path.name for path in sources if writes.search(path.read_text())] == []
