"""Factories of contracts with carriers and of labels."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import factory
from django.db import transaction
from django.utils import timezone

from carriers.products import PRODUCTS
from labels.ids import id_prefix, new_label_id
from labels.lifecycle.parcels import prepare_publication
from labels.models import OVER, LabelState, ShippingLabel
from labels.pdfs import storage
from shops.contracts.models import CarrierContract
from tests.labels.orders import ACCOUNT, PASSWORD, PRODUCT, RECIPIENT, SENDER
from tests.support.factories import ShopFactory

PDF = b"%PDF-1.4 a label %%EOF"


class ContractFactory(factory.django.DjangoModelFactory[CarrierContract]):
    """A shop's contract with all of a carrier's products; `password` and `api_key` change its secret."""

    class Meta:
        model = CarrierContract

    shop = factory.SubFactory(ShopFactory)
    carrier_code = "alpha"
    account_number = factory.LazyAttribute(lambda made: ACCOUNT[made.carrier_code])
    products = factory.LazyAttribute(
        lambda made: {code: None for code, product in PRODUCTS.items() if product.carrier == made.carrier_code}
    )
    customs_description = "Bougies"
    customs_value_eur = Decimal("12.50")
    customs_hs_code = "340600"

    @classmethod
    def _create(cls, model_class: type[CarrierContract], *args: Any, **kwargs: Any) -> CarrierContract:
        secret = {name: kwargs.pop(name) for name in ("password", "api_key") if name in kwargs}
        made = model_class(**kwargs)
        made.set_secret(**(secret or {"password": PASSWORD[made.carrier_code]}))
        made.save()
        return made


class LabelFactory(factory.django.DjangoModelFactory[ShippingLabel]):
    """A label whose purchase came to its state `days_ago`; its PDF is where that state has it."""

    class Meta:
        model = ShippingLabel

    class Params:
        days_ago = 0.0

    id = factory.LazyAttribute(lambda made: id_prefix(made.created_at) + new_label_id()[-7:])
    shop = factory.SubFactory(ShopFactory)
    state = LabelState.GENERATED
    created_at = factory.LazyAttribute(lambda made: timezone.now() - timedelta(days=made.days_ago))
    finished_at = factory.LazyAttribute(
        lambda made: made.created_at if made.state in (*OVER, LabelState.INCOMPLETE) else None
    )
    leased_until = factory.LazyAttribute(lambda made: made.created_at - timedelta(minutes=1))
    order_id = "5400000001"
    carrier_code = "beta"
    product_code = factory.LazyAttribute(lambda made: PRODUCT[made.carrier_code])
    account_number = factory.LazyAttribute(lambda made: ACCOUNT[made.carrier_code])
    sender = factory.LazyFunction(SENDER.copy)
    recipient = factory.LazyFunction(RECIPIENT.copy)
    weights_kg = factory.LazyFunction(lambda: ["1.25"])
    pdf = factory.LazyAttribute(lambda made: PDF if made.state == LabelState.RECEIVED else None)

    @classmethod
    def _create(cls, model_class: type[ShippingLabel], *args: Any, **kwargs: Any) -> ShippingLabel:
        made: ShippingLabel = super()._create(model_class, *args, **kwargs)
        if made.state == LabelState.GENERATED and made.pdf_removed_at is None:
            storage.store(made, PDF)
        return made


def publish(label: ShippingLabel) -> None:
    """Make a label's parcel, as its purchase does."""
    with transaction.atomic():
        prepare_publication(label)()
