"""The staff's pages of labels and contracts, and the files that staff upload there."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    NameObject,
    PdfObject,
    TextStringObject,
)

from labels.models import ShippingLabel
from tests.labels.conftest import Sandbox, row
from tests.labels.orders import LINKED, PRODUCT, order, post, weighing
from tests.support.api import Caller, Response, client
from tests.support.desk import undrawn

LABELS = "/admin/labels/shippinglabel/"
TO_DECIDE = f"{LABELS}to-decide/"
CONTRACTS = "/admin/shops/carriercontract/"
NOON = datetime(2026, 9, 23, 12, tzinfo=UTC)


def page_of(staff: Client, label: ShippingLabel, view: str = "change") -> str:
    answer = staff.get(f"{LABELS}{label.id}/{view}/")
    assert answer.status_code == 200
    return answer.text


def listed(staff: Client, **query: Any) -> list[str]:
    """The order ids of the labels on the list's first page, in its order."""
    return [label.order_id for label in undrawn(staff, LABELS, **query)["cl"].result_list]


def decide(staff: Client, label: ShippingLabel, decision: str, **data: Any) -> Response:
    """Send a decision about a label, which is as it is stored afterwards."""
    answer = staff.post(f"{LABELS}{label.id}/{decision}/", data, follow=True)
    label.refresh_from_db()
    return answer


def download(url: str) -> bytes:
    return client().get(urlsplit(url).path).content


def pdf_file(pages: int = 1, drawing: bytes = b"") -> bytes:
    """A PDF whose pages hold this drawing, and scripts that must not run: its own, the pages', their annotations'."""
    writer, content = PdfWriter(), DecodedStreamObject()
    content.set_data(drawing)
    script = dictionary(S=NameObject("/JavaScript"), JS=TextStringObject("app.alert(1)"))
    opened = dictionary(O=script)
    note = dictionary(Subtype=NameObject("/Widget"), A=script, AA=opened)
    for _ in range(pages):
        page = writer.add_blank_page(283, 425)
        page.update(dictionary(Contents=content, AA=opened, Annots=ArrayObject([writer._add_object(note)])))
    writer.root_object[NameObject("/OpenAction")] = script
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


def dictionary(**values: PdfObject) -> DictionaryObject:
    return DictionaryObject({NameObject(f"/{name}"): value for name, value in values.items()})


def upload(data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("label.pdf", data, "application/pdf")


def buy(caller: Caller, carrier_code: str, parcels: int = 1, **fields: Any) -> Response:
    product_code = LINKED if carrier_code == "beta" and parcels > 1 else PRODUCT[carrier_code]
    return post(caller, order(product_code, parcels=weighing(*[1.5] * parcels), **fields), key="key-1")


def bought_unknown(
    caller: Caller, carrier_code: str, fault: str = "FAULT RESETMADE", parcels: int = 1
) -> ShippingLabel:
    """Buy a label whose outcome stays unknown, and let the lease of its purchase end."""
    assert buy(caller, carrier_code, parcels, reference=fault).status_code == 502
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    label = row()
    assert label.state == "unknown"
    return label


def numbers_of(sandbox: Sandbox, label: ShippingLabel) -> list[str]:
    """The tracking numbers that the carrier gave out for a label."""
    return [parcel.tracking_number for parcel in sandbox.made(label.id)]
