"""All routes of the admin, with a row for each page, and members of the staff in each role."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import orjson
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Group, User
from django.db import models
from django.template.response import SimpleTemplateResponse
from django.test import Client
from django.urls import URLPattern, reverse
from django.utils import timezone

from config.roles import ROLES
from labels.models import DepositSlip, ShippingLabel
from parcels.models import Parcel, TrackingNumber, UnlistedEventCode
from parcels.tracking.timeline import Timeline, as_stored
from shops.models import Shop
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.taking import QueueRow
from shops.webhooks import endpoints, signing
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.labels.factories import ContractFactory, LabelFactory
from tests.support.api import Response, client, note_second_factor
from tests.support.canaries import canary, phone
from tests.support.factories import (
    AccessTokenFactory,
    DestinationFactory,
    EventFactory,
    LineItemFactory,
    ParcelLineFactory,
    ShopFactory,
    import_lines,
)
from tests.support.paths import patterns

FRENCH = {"Accept-Language": "fr-FR,fr;q=0.9,en;q=0.5"}
UNDRAWN = patch.object(SimpleTemplateResponse, "rendered_content", "")  # pages of which nothing is read
QUERIES = {"autocomplete": {"app_label": "shops", "model_name": "accesstoken", "field_name": "shop", "term": ""}}


def member(role: str) -> Client:
    """A member of the staff with one role; "root" is a superuser, and "none" has no role."""
    user = User.objects.create_user(role.lower(), is_staff=True, is_superuser=role == "root")
    if role in ROLES:
        user.groups.add(Group.objects.get(name=role))
    browser = client()
    browser.force_login(user)
    note_second_factor(browser, user)
    return browser


def undrawn(browser: Client, path: str, **query: Any) -> Any:
    """Ask for a page; return what it would show, without drawing it: lists are asked hundreds of times."""
    with UNDRAWN:
        answer: Any = browser.get(path, query)
    assert answer.status_code == 200, path
    return answer.context_data


def listed(browser: Client, link: str) -> int:
    """Count the rows of a list, or of the page of labels to decide."""
    context = undrawn(browser, link)
    return int(context["cl"].result_count if "cl" in context else len([*context["waiting"], *context["noticed"]]))


def act(browser: Client, action: str, *chosen: models.Model, **fields: str) -> Response:
    """Do an action on rows of their list, which asks first unless `is_confirmed` is a field."""
    page = reverse(f"admin:{chosen[0]._meta.label_lower.replace('.', '_')}_changelist")
    selected = {"action": action, "_selected_action": [row.pk for row in chosen]}
    return browser.post(page, selected | fields, follow=True)


def give(browser: Client, user: User, *roles: str, **fields: str) -> Response:
    """Tick these roles, and no others, on a user's page."""
    groups = Group.objects.filter(name__in=roles).values_list("pk", flat=True)
    own = {"username": user.username, "is_staff": "on", "is_active": "on", "is_superuser": "on", "groups": [*groups]}
    joined = {"date_joined_0": "2026-01-01", "date_joined_1": "10:00:00"}
    return browser.post(f"/admin/auth/user/{user.pk}/change/", own | joined | fields)


def seen(page: str) -> list[str]:
    """Find the digests that a page's forms send of what it showed: of a label, or of the values of a form."""
    return re.findall(r'name="seen" value="(\w+)"', page)


def sent(answer: Any) -> bytes:
    """The file that a page sends."""
    assert answer.status_code == 200
    content: bytes = answer.getvalue()
    return content


def csv_rows(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sent(answer).decode("utf-8-sig"), newline="")))


def rows() -> dict[str, models.Model]:
    """A row of each model that has pages, by the model's label; canaries stand for all that is personal."""
    shop: Shop = ShopFactory(id="lumiere")
    endpoint = WebhookEndpoint(shop=shop, url="https://shop.example/hook")
    endpoint.set_secret(signing.new_secret())
    endpoint.save()
    endpoints.send_test(endpoint)
    now = timezone.now()
    code = {"carrier_code": "beta", "code": "X9", "text": canary(), "first_seen_at": now, "last_seen_at": now}
    made: list[models.Model] = [
        shop,
        slip_of_somebody(shop),
        parcel_of_somebody(shop),
        endpoint,
        WebhookDelivery.objects.filter(event__type="webhook.test").get(),
        AccessTokenFactory(shop=shop),
        ContractFactory(shop=shop, carrier_code="alpha"),
        label_of_somebody(shop),
        UnlistedEventCode.objects.create(**code),
        User.objects.create_user("colleague", is_staff=True),
        Group.objects.get_or_create(name="Reporting")[0],
        record(Action.ADDED, shop),
        QueueRow.objects.create(name="refused", **noted()),
    ]
    return {row._meta.label_lower: row for row in made}


def noted() -> dict[str, Any]:
    """A note of a colleague's, which names somebody."""
    return {"notes": [{"at": 1, "by": "ada", "text": canary()}]}


def label_of_somebody(shop: Shop, **fields: Any) -> ShippingLabel:
    """A label with canaries in all that may be personal."""
    item = {"description": canary(), "quantity": 1, "unitValue": "9.5", "weight": "0.1"}
    notes = {name: canary() for name in ("reference", "error_message", "idempotency_key", "body_digest")}
    lists = {name: [canary()] for name in ("parcel_references", "warnings")}
    customs = {"items": [item]} | {name: canary() for name in ("invoiceNumber", "eori", "comments")}
    parties = {"recipient": person(), "sender": person(), "customs": customs}
    made: ShippingLabel = LabelFactory(shop=shop, **{**parties, **notes, **lists, **fields})
    return made


def person() -> dict[str, str]:
    """An address as an order has it."""
    fields = ("firstName", "lastName", "company", "address1", "address2", "zip", "instructions")
    names = {name: canary() for name in fields}
    return names | {"city": "Brest", "countryCode": "FR", "phone": phone(), "email": f"{canary()}@mail.example"}


def slip_of_somebody(shop: Shop) -> DepositSlip:
    """A deposit slip whose PDF names somebody, and waits for the storage."""
    pdf = b"%PDF-1.4 " + canary().encode()
    facts = {"label_ids": [], "tracking_numbers": ["6A1"], "asked_by": "ada", "number": "53", "pdf": pdf}
    facts["refusal"] = canary()
    return DepositSlip.objects.create(shop=shop, carrier_code="beta", **facts)


def parcel_of_somebody(shop: Shop) -> Parcel:
    """A parcel that its carrier has reported on, with canaries in all that may be personal."""
    names = {name: canary() for name in ("firstName", "lastName", "name", "company", "address1", "address2", "zip")}
    picture = f"https://cdn.example.com/{canary()}.jpg"
    line = ParcelLineFactory(
        id="P1",
        destination=DestinationFactory(**names, phone=phone()),
        customerEmail=f"{canary()}@mail.example",
        customerLocale=canary(),
        previousEmails=[f"{canary()}@mail.example"],
        giftConfig={"message": canary()},
        crossSellRecommendations=[{"text": canary()}],
        carrierLastStatus={"code": "B10", "description": canary(), "date": 1_790_000_000_000},
        lineItems=[LineItemFactory(name=canary(), imageUrl=picture, metadata={"engraved": canary()})],
        events=[EventFactory(label=canary(), notifications=[{"to": canary()}])],
    )
    import_lines(shop, [orjson.dumps(line)])
    parcel = Parcel.objects.get()
    parcel.reported = as_stored(Timeline.of(parcel), 1)
    parcel.notes = noted()["notes"]
    parcel.save(update_fields=["reported", "notes"])
    event = {"at": 1, "code": "B10", "text": canary(), "place": canary()}
    events = [event | {"status": None, "is_listed": True, "kept_until": None}]
    followed = {"carrier_code": "beta", "followed_since": timezone.now()}
    TrackingNumber.objects.filter(parcel=parcel, number=parcel.tracking_id).update(events=events, **followed)
    return parcel


def routes(world: dict[str, models.Model]) -> Iterator[tuple[str, str]]:
    """The name and an address of each of the admin's routes, of the row of its model where it is about one.

    Those without a name only redirect, or answer that there is nothing.
    """
    for _, pattern in patterns(admin.site.urls[0]):
        if pattern.name:
            yield pattern.name, address(pattern.name, pattern, world)


def address(name: str, pattern: URLPattern, world: dict[str, models.Model]) -> str:
    arguments: dict[str, Any] = {}
    for argument in pattern.pattern.regex.groupindex:
        app, model, *_ = [*name.split("_"), "", ""]
        row = world.get(f"{app}.{model}")
        values = {"app_label": "shops", "content_type_id": 1, "object_id": "1"}
        arguments[argument] = quote(row.pk) if row else values[argument]
    return reverse(f"admin:{name}", kwargs=arguments, query=QUERIES.get(name, {}))
