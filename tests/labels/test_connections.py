"""No database connection is held during a call to a carrier: one that hangs must not keep it from look-ups."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from labels import decisions
from labels.models import LabelState, ShippingLabel
from labels.reconciling import reconcile
from shops.contracts import clients
from tests.labels.conftest import Sandbox, row
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller

Held = list[bool]


@pytest.fixture
def held(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Note for each call to a carrier if this thread has a connection to the database then."""
    noted: Held = []

    def noting(ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*args: Any) -> Any:
            noted.append(connection.connection is not None)
            return ask(*args)

        return asked

    for carrier_code in PRODUCT:
        client = clients.client(carrier_code)
        for name in ("create_label", "find_by_reference", "fetch_label", "cancel"):
            monkeypatch.setattr(client, name, noting(getattr(client, name)))
    return noted


def bought_unseen(buyer: Caller, sandbox: Sandbox, fault: str = "closemade") -> ShippingLabel:
    """A label that alpha has made without its PDF, and whose lease has ended."""
    sandbox.arm(fault, count=1)
    assert post(buyer, order()).status_code == 502
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    return row()


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_purchase_holds_none(product_code: str, buyer: Caller, held: Held) -> None:
    assert post(buyer, order(product_code), key="k").status_code == 201
    assert held == [False]


def test_a_reconciliation_holds_none(buyer: Caller, sandbox: Sandbox, held: Held) -> None:
    bought_unseen(buyer, sandbox)
    assert reconcile() == {LabelState.FAILED: 1}
    assert held == [False] * 3


def test_an_adoption_holds_none(buyer: Caller, sandbox: Sandbox, held: Held, django_user_model: Any) -> None:
    label = bought_unseen(buyer, sandbox, "nolabel")
    numbers = [parcel.tracking_number for parcel in sandbox.made()]
    ada = django_user_model.objects.create_user("ada")
    assert decisions.adopt(label=label, tracking_numbers=numbers, pdf=None, decided_by=ada).state == "label_generated"
    assert held == [False] * 2
