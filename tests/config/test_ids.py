"""Ids are what shops choose: every link of the staff's pages leads to its page, whatever characters an id has."""

import time
from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from django.test import Client

from labels.models import DepositSlip, ShippingLabel
from parcels.models import Parcel, TrackingNumber
from shops.models import AccessToken, Shop
from shops.staff.pages import address_of, page_of
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from tests.labels.factories import ContractFactory, LabelFactory
from tests.support.api import Response
from tests.support.desk import rows
from tests.support.factories import ShopFactory, import_parcel
from tests.support.markup import parsed

pytestmark = [pytest.mark.django_db, pytest.mark.any_database, pytest.mark.usefixtures("no_sidebar")]
PERMISSIONS = (
    *("view_parcel", "view_shippinglabel", "view_shop", "view_accesstoken", "view_carriercontract"),
    *("view_webhookdelivery", "view_webhookendpoint", "view_depositslip", "view_unlistedeventcode"),
    *("view_auditentry", "view_user", "view_group", "view_personal_data", "change_trackingnumber"),
)
# Behind an underscore these look like Django's own escapes.
IDS = [
    "P" + "".join(f"{character}2F{character}Z" for character in "_:/#?;@"),
    "P" + "".join(f"{character}2F{character}Z" for character in '&=+$,"<>%\\'),
    "P_40",
    "P_23_5F",
    "gid://shopify/Fulfillment/4711",
    "P of\ntwo lines",
]
SHOPS = ["eu-west_40", "Shop_2311", "shop_5F"]
LISTS = [
    *("/admin/parcels/parcel/", "/admin/labels/shippinglabel/", "/admin/shops/shop/", "/admin/shops/accesstoken/"),
    *("/admin/shops/carriercontract/", "/admin/shops/webhookdelivery/", "/admin/shops/webhookendpoint/"),
    *("/admin/labels/shippinglabel/to-decide/", "/admin/labels/depositslip/", "/admin/parcels/unlistedeventcode/"),
    *("/admin/shops/auditentry/", "/admin/auth/user/", "/admin/auth/group/"),
]
MISSING = "exist. Perhaps it was deleted?"


def links(answer: Response, *endings: str) -> list[str]:
    """The links of a page that end so, whole."""
    here = answer.wsgi_request.get_full_path()
    named = parsed(answer.text).xpath("//a/@href | //form/@action")
    found = (urljoin(here, link) for link in named if link)
    return [link for link in dict.fromkeys(found) if link.startswith("/admin/") and link.endswith(endings)]


def opened(staff: Client, address: str) -> Response:
    answer = staff.get(address, follow=True)
    assert answer.status_code == 200, address
    assert MISSING not in answer.text, address
    return answer


def labelled_parcel(shop: Shop, parcel_id: str, number: str, token_id: str = "") -> Parcel:
    """A parcel of this id that its carrier is asked about, with its label."""
    order = {"orderNumber": f"#{number}", "orderId": f"order-{number}"}
    import_parcel(shop, id=parcel_id, trackingId=number, createdAt=round(time.time() * 1000), **order)
    parcel = Parcel.objects.get(pk=parcel_id)
    label = LabelFactory(shop=shop, order_id=f"order-{number}", tracking_numbers=[number], token_id=token_id)
    TrackingNumber.objects.filter(parcel=parcel_id).update(label=label.id)
    return parcel


@pytest.fixture
def shop() -> Shop:
    return ShopFactory(id="shop_2311", name="Maison Lumière")


@pytest.mark.parametrize("parcel_id", IDS)
def test_a_parcels_page_is_whole_from_wherever_it_is_opened(staff: Client, shop: Shop, parcel_id: str) -> None:
    labelled_parcel(shop, parcel_id, "6A1")
    read: dict[str, str] = {}  # most lead to one address
    for start in pages_of_the_parcel(staff):
        page = read[start] = read.get(start) or opened(staff, start).text
        for part in ("Ask the carrier now", "Maison Lumière", ShippingLabel.objects.get().id):
            assert part in page, start
        assert "Not followed" not in page


def pages_of_the_parcel(staff: Client) -> Iterator[str]:
    """Addresses of the one parcel's page: of the list, the box, a list of hits, its label and the audit log."""
    change = "/change/"
    yield from links(opened(staff, "/admin/parcels/parcel/"), change)
    yield staff.get("/admin/search/", {"q": "#6A1"})["Location"]
    label = ShippingLabel.objects.get()
    import_parcel(label.shop, id="other", orderNumber="#6A1")
    yield next(each for each in links(opened(staff, "/admin/search/?q=%236A1"), change) if "/other/" not in each)
    of_label = links(opened(staff, page_of(label)), change)
    yield next(each for each in of_label if "/parcels/parcel/" in each)
    of_log = links(opened(staff, "/admin/shops/auditentry/?action=viewed"), change)
    yield next(each for each in of_log if "/parcels/parcel/" in each)


@pytest.mark.parametrize("parcel_id", [IDS[0], *IDS[-3:]])  # the links are made as those above
def test_the_carrier_is_asked_about_that_parcel_and_its_page_and_history_follow(
    staff: Client, shop: Shop, parcel_id: str
) -> None:
    labelled_parcel(shop, parcel_id, "6A1")
    page = opened(staff, links(opened(staff, "/admin/parcels/parcel/"), "/change/")[0])
    (ask,) = links(page, "/ask/")
    assert "The carrier is asked" in staff.post(ask, follow=True).text
    assert opened(staff, address_of("parcels.parcel", parcel_id, "history"))


@pytest.mark.parametrize("shop_id", [*SHOPS, "shop_d321a8bf01234567"])
def test_a_shops_page_has_its_panels_from_wherever_it_is_opened(staff: Client, shop_id: str) -> None:
    shop = ShopFactory(id=shop_id)
    ContractFactory(shop=shop)
    labelled_parcel(shop, "P1", "6A1")
    label = ShippingLabel.objects.get()
    places = ("/admin/shops/shop/", address_of("parcels.parcel", "P1"), page_of(label))
    starts = [link for place in places for link in links(opened(staff, place), "/change/") if "/shops/shop/" in link]
    assert len(starts) == len(places)
    for start in set(starts):
        page = opened(staff, start).text
        for part in ("Requests", "Contracts", "Webhook endpoints", "Parcels of the last", "Labels of the last"):
            assert part in page, (start, part)
        assert "19869502" in page


def test_every_link_from_every_list_leads_somewhere(staff: Client) -> None:
    rows()
    for number, shop_id in enumerate([*SHOPS, "plain"]):
        shop = ShopFactory(id=shop_id)
        token_id = f"tok_2{number}F1"
        AccessToken.objects.create(shop=shop, id=token_id, digest=token_id)
        for place, parcel_id in enumerate(IDS[number :: len(SHOPS) + 1]):
            labelled_parcel(shop, parcel_id, f"6A{number}{place}", token_id)
        ContractFactory(shop=shop, id=f"con_2{number}F1")
    seen: set[str] = set()
    ends = ("/change/", "/history/")
    read_last = "/admin/shops/auditentry/"  # the other lists are on record there
    todo = [link for start in [*LISTS, read_last] for link in links(opened(staff, start), *ends)]
    while todo:
        if (address := todo.pop()) not in seen:
            seen.add(address)
            todo += links(opened(staff, address), *ends)
    for model in (Parcel, Shop, ShippingLabel, AccessToken, WebhookEndpoint, WebhookDelivery, DepositSlip):
        for row in model._default_manager.all():
            assert page_of(row) in seen
