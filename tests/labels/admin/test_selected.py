"""Decisions about selected labels: listed first, made one by one, each outcome said."""

import pytest
from django.test import Client

from labels.admin import actions
from labels.models import ShippingLabel
from shops.models import Shop
from tests.labels.admin.pages import LABELS, decide
from tests.labels.conftest import Sandbox
from tests.labels.factories import ContractFactory, LabelFactory
from tests.labels.orders import PRODUCT, order
from tests.labels.orders import post as buy
from tests.support.api import Caller, Response, logged_in


def act(staff: Client, action: str, *labels: ShippingLabel, **data: str) -> Response:
    selected = {"action": action, "_selected_action": [each.id for each in labels]}
    return staff.post(LABELS, selected | data, follow=True)


def states(*labels: ShippingLabel) -> list[str]:
    found = dict(ShippingLabel.objects.values_list("id", "state"))
    return [found[label.id] for label in labels]


@pytest.mark.django_db(transaction=True)
def test_selected_labels_are_cancelled_one_by_one(buyer: Caller, sandbox: Sandbox) -> None:
    staff = logged_in("view_shippinglabel", "change_shippinglabel")
    for number in range(3):
        assert buy(buyer, order(PRODUCT["alpha"], reference=f"R{number}")).status_code == 201
    first, second, third = ShippingLabel.objects.order_by("id")
    sandbox.server.state.ledger.collect("alpha", second.tracking_number)
    over = LabelFactory(shop=buyer.shop, state="failed")

    asked = act(staff, "cancel_selected", first, second, third, over)
    assert all(label.tracking_number in asked.text for label in (first, second, third))
    assert f"/{over.id}/change/" in asked.text
    assert states(first, second, third) == ["label_generated"] * 3

    done = act(staff, "cancel_selected", first, second, third, over, is_confirmed="yes")
    assert states(first, second, third, over) == ["cancelled", "label_generated", "cancelled", "failed"]
    assert "2 cancelled." in done.text
    assert f"1 over, or still worked on: {over.id}." in done.text
    assert "taken the parcel in charge" in done.text
    assert f"): {second.id}." in done.text


def test_why_a_label_is_not_cancelled_is_said_in_the_readers_language(
    staff: Client, buyer: Caller, sandbox: Sandbox
) -> None:
    buy(buyer, order(PRODUCT["alpha"]))
    label = ShippingLabel.objects.get()
    sandbox.server.state.ledger.collect("alpha", label.tracking_number)
    staff.defaults |= {"HTTP_ACCEPT_LANGUAGE": "fr"}
    done = act(staff, "cancel_selected", label, is_confirmed="yes")
    assert "non annulée (Le transporteur a refusé l" in done.text
    cancelled = LabelFactory(shop=buyer.shop, carrier_code="alpha", state="cancelled")
    assert f"{cancelled.id} a été annulée auparavant" in decide(staff, cancelled, "cancel").text


def test_a_carrier_that_can_not_yet_is_told_apart(shop: Shop, sandbox: Sandbox, transactional_db: None) -> None:
    staff = logged_in("view_shippinglabel", "change_shippinglabel")
    ContractFactory(shop=shop, carrier_code="alpha")
    young = LabelFactory(shop=shop, carrier_code="alpha", tracking_numbers=["XS000000001FR"])
    done = act(staff, "cancel_selected", young, is_confirmed="yes")
    assert states(young) == ["cancelling"]
    assert f"1 not cancelled yet, it is tried again for an hour: {young.id}." in done.text


def test_what_takes_too_long_is_left_for_the_next_time(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "TIME_LIMIT_S", 0.0)
    label = LabelFactory(shop=shop)
    assert "1 not asked any more" in act(staff, "cancel_selected", label, is_confirmed="yes").text
    assert states(label) == ["label_generated"]


def test_selected_labels_are_marked_as_not_made_where_they_are_open(staff: Client, shop: Shop) -> None:
    open_ones = [LabelFactory(shop=shop, state="unknown", days_ago=1) for _ in range(2)]
    bought = LabelFactory(shop=shop)
    asked = act(staff, "mark_selected_as_not_made", *open_ones, bought)
    assert "bought twice" in asked.text
    assert states(*open_ones) == ["unknown"] * 2
    done = act(staff, "mark_selected_as_not_made", *open_ones, bought, is_confirmed="yes")
    assert "2 marked as not made." in done.text
    assert states(*open_ones, bought) == ["failed", "failed", "label_generated"]


def test_where_all_are_over_nothing_is_asked(staff: Client, shop: Shop) -> None:
    done = act(staff, "cancel_selected", LabelFactory(shop=shop, state="cancelled"))
    assert "Nothing was changed: all are over" in done.text


def test_too_many_are_not_begun(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "MAX_LABELS", 1)
    labels = [LabelFactory(shop=shop), LabelFactory(shop=shop)]
    assert "Choose at most 1" in act(staff, "cancel_selected", *labels, is_confirmed="yes").text
    assert states(*labels) == ["label_generated"] * 2


def test_without_the_permission_to_change_labels_nothing_is_decided(shop: Shop) -> None:
    label, viewer = LabelFactory(shop=shop), logged_in("view_shippinglabel", name="viewer")
    act(viewer, "cancel_selected", label, is_confirmed="yes")
    assert states(label) == ["label_generated"]
    assert "cancel_selected" not in viewer.get(LABELS).text
