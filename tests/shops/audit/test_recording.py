"""Entries of the audit log."""

from typing import Any

import pytest
from django.conf import LazySettings

from shops.db.words import word
from shops.staff.audit.models import Action, AuditEntry, Channel
from shops.staff.audit.recording import Actor, Shown, acting, customer_digests, record
from tests.support.factories import ShopFactory

pytestmark = pytest.mark.django_db


def test_an_entry_names_the_one_who_acts() -> None:
    shop = ShopFactory()
    with acting(Actor("ada", Channel.ADMIN, "192.0.2.1")):
        entry = record(Action.CHANGED, shop, changes={"name": ["before", "after"]}, reason="asked by phone")
    entry.refresh_from_db()
    assert (entry.actor, entry.channel, entry.address) == ("ada", "admin", "192.0.2.1")
    assert (entry.object_type, entry.object_id) == ("shops.shop", shop.pk)
    assert (entry.changes, entry.details) == ({"name": ["before", "after"]}, {"reason": "asked by phone"})
    assert entry.at is not None


@pytest.mark.parametrize("letter", ["x", "Ж", '"'])
def test_the_longest_name_of_an_account_acts_from_the_longest_address(letter: str) -> None:
    name, address = letter * 150, "2001:db8:1111:2222:3333:4444:5555:6666"
    with acting(Actor(name, Channel.ADMIN, address)):
        entry = record(Action.VIEWED)
    entry.refresh_from_db()
    assert (entry.actor, entry.address) == (name, address)


def test_the_background_work_acts_where_nobody_else_does() -> None:
    assert (record(Action.REMOVED).actor, record(Action.REMOVED).channel) == ("work", "work")


def test_a_customer_is_found_by_the_email_after_the_key_has_changed(settings: LazySettings) -> None:
    record(Action.VIEWED, customer_email="Jean@Example.com ")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"
    record(Action.VIEWED, customer_email="jean@example.com")
    assert AuditEntry.objects.filter(customer__in=customer_digests("jean@example.com")).count() == 2
    assert "jean" not in str(list(AuditEntry.objects.values())).lower()


def test_each_entry_is_a_line_of_the_log_too_without_a_name(
    caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    shop = ShopFactory()
    with django_capture_on_commit_callbacks(execute=True), acting(Actor("ada", Channel.ADMIN, "192.0.2.1", 7)):
        entry = record(Action.CHANGED, shop, shop_id=shop.id, changes={"name": ["before", "after"]}, note="by phone")
    (line,) = [line for line in caplog.records if line.name == "service.audit"]
    assert (line.entry, line.action, line.channel, line.user_id) == (entry.pk, "changed", "admin", 7)  # type: ignore[attr-defined]  # as it is logged
    assert (line.object_type, line.shop_id) == ("shops.shop", shop.id)  # type: ignore[attr-defined]  # as above
    assert not {"ada", "192.0.2.1", "before", "by phone"} & set(map(str, vars(line).values()))


@pytest.mark.parametrize("row_id", ["P1", "gid://shopify/Fulfillment/4711", "a'b\\c%d_e f", "É" * 255])
def test_a_list_is_found_by_each_id_that_it_showed_and_by_its_customers(row_id: str) -> None:
    rows = [Shown(row_id, "zoe@example.com"), *(Shown(f"other{number}", f"{number}@x.example") for number in range(49))]
    entry = record(Action.LISTED, shown=rows, of="parcels.parcel")
    record(Action.LISTED, shown=[Shown("P", "zo@example.com")])
    for text in (row_id, "Zoe@example.com", "other48", "48@x.example"):
        words = customer_digests(text) if "@" in text else [word(text)]
        found = [AuditEntry.objects.filter(search_words__has=each) for each in words]
        assert [list(each) for each in found] == [[entry]], text
    assert entry.details["shown"][0] == row_id
