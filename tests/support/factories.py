"""Factories of what tests need: shops, tokens, and parcels by way of the importer, as in production."""

# ruff: noqa: N815 - the public names are camelCase

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import factory
import orjson
from django.utils import timezone

from parcels.importing.reading import ParcelImport
from shops.models import AccessToken, Shop

Json = dict[str, Any]


class ShopFactory(factory.django.DjangoModelFactory[Shop]):
    class Meta:
        model = Shop

    name = factory.Sequence(lambda n: f"Shop {n}")


class AccessTokenFactory(factory.django.DjangoModelFactory[AccessToken]):
    """A valid token of a shop; its text is kept on the instance as ``secret``, where the model itself keeps none."""

    class Meta:
        model = AccessToken

    class Params:
        is_expired = factory.Trait(expires_at=factory.LazyFunction(lambda: timezone.now() - timedelta(days=1)))
        is_revoked = factory.Trait(revoked_at=factory.LazyFunction(timezone.now))

    shop = factory.SubFactory(ShopFactory)

    @classmethod
    def _create(cls, model_class: type[AccessToken], *args: Any, **kwargs: Any) -> AccessToken:
        revoked_at = kwargs.pop("revoked_at", None)
        token, secret = model_class.issue(**kwargs)
        if revoked_at:
            token.revoked_at = revoked_at
            token.save()
        token.secret = secret  # type: ignore[attr-defined]  # for tests only
        return token


class EventFactory(factory.DictFactory):
    """An event of a parcel, as in an import."""

    status = "IN_TRANSIT"
    createdAt = 1_790_000_000_000
    label = "On its way"
    carrierStatusCode = "B10"
    isNotificationSkipped = False
    notifications = factory.LazyFunction(list)


class LineItemFactory(factory.DictFactory):
    """An article of a parcel, as in an import."""

    lineItemId = factory.Sequence(lambda n: f"li_{n}")
    name = "Carnet A5"
    imageUrl = "https://cdn.example.com/CRN-A5.jpg"
    sku = "CRN-A5"
    quantity = 2
    price = 9.95
    productId = "prod_crn-a5"
    metadata = None


class DestinationFactory(factory.DictFactory):
    """The destination of a parcel, as in an import."""

    firstName = "Zoé"
    lastName = "Œuvrard"
    name = "Zoé Œuvrard"
    company = ""
    address1 = "18 impasse des Œillets"
    address2 = None
    city = "Brest"
    zip = "29200"
    province = "Bretagne"
    provinceCode = "BRE"
    country = "France"
    countryCode = "FR"
    phone = "+33619724389"
    latitude = 48.390394
    longitude = -4.486076
    isPickupPoint = False


class PublicParcelFactory(factory.DictFactory):
    """The fields of a line of an import that an answer shows too, in the order of the specification."""

    id = factory.Sequence(lambda n: f"P{n:05}")
    orderId = factory.Sequence(lambda n: f"54{n:08}")
    orderNumber = factory.Sequence(lambda n: f"#{n}")
    trackingId = factory.Sequence(lambda n: f"6A{n:011}")
    trackingNumbers = factory.LazyAttribute(lambda parcel: [parcel.trackingId])
    carrierCode = "beta"
    carrierProduct = "beta_domicile_sans_signature_france"
    carrierDisplayName = "Beta Post"
    lastStatus = "IN_TRANSIT"
    lastStatusUpdatedAt = 1_790_000_000_000
    carrierLastStatus = factory.LazyFunction(
        lambda: {"code": "B10", "description": "Acheminement", "date": 1_790_000_000_000}
    )
    estimatedDeliveryDateWindow = factory.LazyFunction(
        lambda: {
            "exactDeliveryDay": 1_790_200_000_000,
            "minimumDeliveryDate": 1_790_100_000_000,
            "maximumDeliveryDate": 1_790_300_000_000,
        }
    )
    deliveryDate = None
    endDepositDate = None
    destination = factory.SubFactory(DestinationFactory)
    lineItems = factory.List([factory.SubFactory(LineItemFactory)])
    events = factory.List([factory.SubFactory(EventFactory)])
    createdAt = factory.Sequence(lambda n: 1_789_000_000_000 + n)
    updatedAt = 1_790_000_000_000


class ParcelLineFactory(PublicParcelFactory):
    """A line of an import: a parcel with what is held internally and never shown."""

    customerEmail = factory.Sequence(lambda n: f"customer{n}@example.com")
    customerLocale = "fr-FR"
    previousEmails = factory.LazyFunction(lambda: ["before@example.com"])
    giftConfig = factory.LazyFunction(lambda: {"wrapped": True})
    crossSellRecommendations = factory.LazyFunction(lambda: [{"productId": "prod_cross"}])
    webTemplate = "noel-2026"


PUBLIC_FIELDS = tuple(PublicParcelFactory())
INTERNAL_FIELDS = tuple(name for name in ParcelLineFactory() if name not in PUBLIC_FIELDS)


def ms_ago(days: float = 0) -> int:
    """Return a time as the API has it: milliseconds since 1970."""
    return round((timezone.now() - timedelta(days=days)).timestamp() * 1000)


def promise(end_ms: int) -> dict[str, int]:
    """The window of a delivery that is promised for one moment."""
    return dict.fromkeys(("exactDeliveryDay", "minimumDeliveryDate", "maximumDeliveryDate"), end_ms)


def ignore(number: int, reason: str) -> None:
    """Take a report of a bad line, and do nothing with it."""


def import_lines(
    shop: Shop, lines: Iterable[bytes], report: Callable[[int, str], None] = ignore, *, is_strict: bool = True
) -> int:
    return ParcelImport(shop_id=shop.id, report=report, is_strict=is_strict).run(enumerate(lines, 1))


UNTOLD: Json = {"lastStatus": None, "lastStatusUpdatedAt": None, "carrierLastStatus": None, "events": []}


def import_parcel(shop: Shop, **fields: Any) -> Json:
    """Import one parcel; return it as the API should answer it (but for the order of several events)."""
    line: Json = ParcelLineFactory(**fields)
    import_lines(shop, [orjson.dumps(line)])
    return {"id": line["id"], "shopId": shop.id} | {name: line[name] for name in PUBLIC_FIELDS}
