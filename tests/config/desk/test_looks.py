"""The looks of the staff's lists: the id is last, and filters can be taken off."""

import re
from collections import defaultdict
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from parcels.models import NumberState, TrackingNumber
from shops.staff.filters import PeriodFilter
from tests.config.test_ids import LISTS
from tests.labels.factories import LabelFactory
from tests.support.api import Response
from tests.support.desk import FRENCH, member, routes, rows
from tests.support.factories import ShopFactory, import_parcel, promise

pytestmark = pytest.mark.django_db
TO_DECIDE = "/admin/labels/shippinglabel/to-decide/"  # rows of labels, and not Django's list
DJANGOS = [address for address in LISTS if address != TO_DECIDE]
PARCELS = "/admin/parcels/parcel/"


def chips(answer: Response) -> list[str]:
    return [link.replace("&amp;", "&") for link in re.findall(r'<a class="desk-chip"[^>]* href="([^"]*)"', answer.text)]


def values_of(spec: Any) -> dict[str, str]:
    """A value for each parameter of a filter."""
    names = [str(name) for name in spec.expected_parameters() if not str(name).endswith("__isnull")]
    if isinstance(spec, PeriodFilter):
        return dict.fromkeys(names, "2026-01-02")
    if choices := getattr(spec, "lookup_choices", None):
        return {names[0]: str(choices[0][0] if hasattr(spec, "parameter_name") else first_of(spec))}
    return {names[0]: str(first_of(spec)) if spec.field.remote_field else "1"}


def first_of(spec: Any) -> Any:
    return spec.field.related_model.objects.values_list("pk", flat=True).first()


def test_each_list_has_its_id_last_and_filters_that_can_be_taken_off(no_sidebar: None) -> None:
    rows()
    staff = member("root")
    for address in DJANGOS:
        plain = staff.get(address)
        cells = re.findall(r'<t[dh][^>]* data-label="([^"]*)">(.)', plain.text)  # a small screen names every column
        assert [name for name, start in cells if name == "Select record" and start != "<"] == [], address
        listed = plain.context["cl"]
        assert [column for column in listed.list_display if column == listed.opts.pk.name] == [listed.list_display[-1]]
        given = [values_of(spec) for spec in listed.filter_specs]
        assert chips(plain) == [], address
        links = chips(staff.get(address, {name: value for values in given for name, value in values.items()}))
        assert len(links) == len(given), address
        for link in links[:1]:
            assert len(chips(staff.get(address + link))) == len(links) - 1, (address, link)
        for values in given:
            assert chips(staff.get(address, values)) == ["?"], (address, values)


def test_a_filter_is_named_in_words_and_taken_off_alone() -> None:
    shop = ShopFactory(id="lumiere", name="Maison Lumière")
    import_parcel(shop)
    given = {
        "shop__id__exact": "lumiere",
        "status": ["EXCEPTION", "none"],
        "handed": "no",
        "handed_in_from": "2026-01-02",
    }
    answer = member("root").get(PARCELS, given | {"q": "6A1"}, headers=FRENCH)
    for words in ("Maison Lumière", "Incident, Aucun encore", "du 02/01/2026", "6A1"):
        assert words in re.sub(r"\s+", " ", answer.text)
    without = next(link for link in chips(answer) if "handed=" not in link)
    assert without == "?handed_in_from=2026-01-02&q=6A1&shop__id__exact=lumiere&status=EXCEPTION&status=none"


def test_a_filter_by_shop_reads_no_other_shop() -> None:
    shop, _ = ShopFactory(), ShopFactory()
    with CaptureQueriesContext(connection) as asked:
        assert len(chips(member("root").get(PARCELS, {"shop__id__exact": shop.id}))) == 1
    of_shops = [each["sql"] for each in asked.captured_queries if 'FROM "shops_shop"' in each["sql"]]
    assert all("WHERE" in sql for sql in of_shops), of_shops


def test_a_parcel_past_its_promise_is_marked_late_in_lists() -> None:
    shop = ShopFactory()
    past = {"estimatedDeliveryDateWindow": promise(1_700_000_000_000), "deliveryDate": None}
    late = import_parcel(shop, orderNumber="#1", orderId="1", **past)
    import_parcel(shop, orderNumber="#1", orderId="1", estimatedDeliveryDateWindow=None, deliveryDate=None)
    label = LabelFactory(shop=shop)
    LabelFactory(shop=shop)
    TrackingNumber.objects.filter(parcel=late["id"]).update(label=label.id, state=NumberState.BOUGHT)
    staff = member("root")
    for address in (PARCELS, "/admin/search/?q=%231", "/admin/labels/shippinglabel/"):
        assert staff.get(address, headers=FRENCH).text.count("En retard") == 1, address


def test_the_sidebar_marks_one_page_as_the_current_one() -> None:
    rows()
    staff = member("root")
    for address in (*DJANGOS, TO_DECIDE):
        groups = staff.get(address).context["sidebar_navigation"]
        assert [item["link"] for group in groups for item in group["items"] if item["active"]] == [address]


def test_no_two_pages_have_one_title_and_lists_are_named_by_what_they_list(no_sidebar: None) -> None:
    """Read in French: two titles that are one in English are one there, too."""
    staff, titles = member("root"), defaultdict(list)
    for name, address in [*routes(rows()), ("labels_change", "/admin/labels/"), ("auth_change", "/admin/auth/")]:
        answer = staff.get(address, headers=FRENCH)
        text = answer.getvalue().decode(errors="ignore") if answer.status_code == 200 else ""
        # A row's removal is asked about on a page whose text names it.
        if not name.endswith("_delete") and (title := re.search(r"<title>(.*?)</title>", text, re.DOTALL)):
            titles[" ".join(title[1].split())].append(name)
    assert {title: names for title, names in titles.items() if len(names) > 1} == {}
    assert [title for title in titles if title.startswith("Sélectionne")] == []
    cut = re.compile(r"\bde [aeéèêiouhAEÉIOUH]")  # no article that a vowel would cut
    named = {title: name for title, (name, *_) in titles.items() if name.endswith(("_change", "_add"))}
    assert [title for title in named if cut.search(title)] == []
