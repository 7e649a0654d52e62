"""The product as the parcels' model plays with it: its API, commands, staff pages and the passes of `work`.

Only this module knows where in the product these are.
"""

import json
import re
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import CommandError
from django.db import connection, transaction
from django.db.models import DateTimeField, F, Model

from config.retention import apply_retention
from labels.lifecycle import decisions
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from parcels.importing import numbers
from parcels.tracking import limits
from parcels.tracking.refreshing import refresh
from shops.contracts import clients
from shops.models import Shop
from shops.webhooks import delivering
from shops.webhooks.models import WebhookEndpoint
from tests.labels.factories import PDF
from tests.shops.commands import call
from tests.support.api import Caller, caller, logged_in

CARRIERS = ("alpha", "beta")
# Never changed by time, or kept by the database itself.
TIMELESS = {"auditentry", "accesstoken", "shop"}
STAFF_PAGE = "/admin/shops/webhookendpoint/"


def tables() -> list[type[Model]]:
    """All tables that a story writes, whatever they are."""
    models = [model for label in ("parcels", "labels", "shops") for model in apps.get_app_config(label).get_models()]
    return [each for each in models if each._meta.model_name not in {*TIMELESS, "carriercontract", "carrieraccount"}]


def forget_everything() -> None:
    """Empty the tables; shops, their tokens and contracts stay."""
    with transaction.atomic(), connection.cursor() as cursor:
        for model in tables():
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")


def pass_time(seconds: float) -> None:
    """Let this much time pass for all rows, and for the circuit breakers."""
    delta = timedelta(seconds=seconds)
    for model in apps.get_models():
        if model._meta.app_label in {"parcels", "labels", "shops"} and model._meta.model_name not in TIMELESS:
            names = [each.name for each in model._meta.concrete_fields if isinstance(each, DateTimeField)]
            if names:
                model._default_manager.update(**{name: F(name) - delta for name in names})


def everything() -> str:
    """Return all that is kept, as text."""
    rows = [list(model._default_manager.values_list()) for model in tables()]
    return json.dumps(rows, default=str, ensure_ascii=False)


def forget_clients(endpoints: dict[str, Any], tracking_url: str) -> None:
    """Make new clients, with closed circuit breakers: the shipping services are the sandbox's, tracking is not.

    The setting is changed in place, as each assignment would be a further layer of it.
    """
    for made in (clients.client, clients.tracker, limits.slots):
        made.cache_clear()
    settings.CARRIER_ENDPOINTS.update(endpoints)
    for carrier in CARRIERS:
        clients.client(carrier, is_test=False)
    settings.CARRIER_ENDPOINTS.update({name: urls | {"tracking_url": tracking_url} for name, urls in endpoints.items()})
    for carrier in CARRIERS:
        clients.tracker(carrier, is_test=False)


# --- What `work` does ---


def ask_carriers() -> None:
    for carrier in CARRIERS:
        refresh(carrier, stop=Event())


deliver, reconcile_labels = delivering.deliver_due, reconcile


def remove_old() -> None:
    for _ in apply_retention():
        pass


# --- Commands and staff pages ---


def run(*arguments: str) -> tuple[str, str]:
    """Run a command; return its two outputs. Raise CommandError."""
    out, err = call(*arguments)
    return out.strip(), err


def new_shop(*options: str) -> Caller:
    shop_id, _ = run("create_shop", "A shop", *options)
    return caller(Shop.objects.get(id=shop_id))


def import_lines(shop_id: str, lines: list[dict[str, Any]], folder: Path) -> None:
    path = folder / "lines.ndjson"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run("import_parcels", shop_id, str(path))


def erase(shop_id: str, email: str) -> bool:
    """Erase a customer; False where a label of theirs is open."""
    with suppress(CommandError):
        run("erase_customer", shop_id, email)
        return True
    return False


def let_go(parcel_id: str, number: str) -> None:
    assert numbers.let_go(parcel_id, number)


def cancel(label_id: str) -> None:
    with suppress(CommandError):
        run("cancel_label", label_id)


def new_endpoint(shop_id: str, url: str) -> tuple[str, str]:
    """Make an endpoint; return its id and its secret."""
    endpoint_id, shown = run("create_webhook", shop_id, url)
    return endpoint_id, find_secret(shown)


class Staff:
    """A member of the staff, at the pages of the endpoints."""

    def __init__(self) -> None:
        self.browser = logged_in("view_webhookendpoint", "change_webhookendpoint", name="ada")

    def act(self, action: str, endpoint_id: str, **fields: str) -> str:
        form = {"action": action, "_selected_action": endpoint_id, **fields}
        answer = self.browser.post(STAFF_PAGE, form)
        assert answer.status_code in {200, 302}, answer.content
        return answer.content.decode()

    def enable(self, endpoint_id: str) -> None:
        self.act("enable", endpoint_id)

    def test(self, endpoint_id: str) -> None:
        self.act("send_test", endpoint_id)

    def rotate(self, endpoint_id: str) -> str:
        return find_secret(self.act("rotate", endpoint_id, is_confirmed="yes"))

    def replay(self, endpoint_id: str) -> None:
        since = {"since_0": "2020-01-01", "since_1": "00:00:00"}
        self.act("replay", endpoint_id, is_confirmed="yes", **since)

    def pause(self, endpoint_id: str, *, is_paused: bool) -> None:
        form = {"is_paused": "on"} if is_paused else {}
        assert self.browser.post(f"{STAFF_PAGE}{endpoint_id}/change/", form).status_code == 302

    def adopt(self, label_id: str, numbers: list[str]) -> None:
        label = ShippingLabel.objects.get(id=label_id)
        with suppress(decisions.DecisionError):
            decisions.adopt(label=label, tracking_numbers=numbers, pdf=PDF)


def is_disabled(endpoint_id: str) -> bool:
    return WebhookEndpoint.objects.filter(id=endpoint_id).exclude(disabled_at=None).exists()


def label_state(label_id: str) -> str:
    """Return `bought`, `cancelling`, `cancelled` or `open`."""
    state = ShippingLabel.objects.values_list("state", flat=True).get(id=label_id)
    names = {LabelState.GENERATED: "bought", LabelState.CANCELLED: "cancelled"}
    names |= {LabelState.CANCELLING: "cancelling", LabelState.CANCEL_UNKNOWN: "cancelling"}
    return names.get(LabelState(state), "open")


def labels_of(order_id: str) -> list[str]:
    return list(ShippingLabel.objects.filter(order_id=order_id).values_list("id", flat=True))


def find_secret(text: str) -> str:
    found = re.search(r"whsec_[A-Za-z0-9+/=]+", text)
    assert found, text
    return found[0]
