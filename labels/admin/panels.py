"""Labels on the pages of parcels and of shops: a parcel's label, and a shop's labels of the week."""

from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext

from labels.ids import id_prefix
from labels.models import ShippingLabel, ShippingLabelQuerySet
from parcels.admin.claim import SENDERS
from parcels.admin.parcels import ParcelAdmin
from parcels.importing.numbers import GIVEN_OUT_AGAIN
from parcels.models import NumberState, Parcel, TrackingNumber
from parcels.templatetags.parcel_page import LATE_FIELDS
from parcels.tracking.events import milliseconds
from shops.admin.shop_overview import PANELS, first_day, week_panel
from shops.models import Shop
from shops.staff.days import start_of
from shops.staff.masking import may_see

ORDERED_AT_MOST = 10


def labels_of(shop_id: str) -> ShippingLabelQuerySet:
    return ShippingLabel.objects.for_shop(shop_id).defer("pdf")


def label_of(parcel: Parcel) -> ShippingLabel | None:
    """Return the label that is, or became, a parcel."""
    own = labels_of(parcel.shop_id)
    bought = TrackingNumber.objects.filter(parcel=parcel.pk).values("label")
    return own.filter(id=parcel.pk).first() or own.filter(id__in=bought).first()


def sender_of(parcel: Parcel) -> dict[str, Any] | None:
    label = label_of(parcel)
    return label.sender if label else None


def label_panel(request: HttpRequest, parcel: Parcel) -> str:
    """Render the label that is, or became, this parcel, with its PDF."""
    if not request.user.has_perm("labels.view_shippinglabel"):
        return ""
    own, label = labels_of(parcel.shop_id), label_of(parcel)
    tried = own.filter(order_id=parcel.order_id).order_by("-id")[:ORDERED_AT_MOST] if parcel.order_id else []
    context = {"tried": tried, "label": label, "has_pdf": label and label.has_pdf and may_see(request)}
    return render_to_string("labels/of_parcel.html", context) if label or tried else ""


def parcel_of(label: ShippingLabel) -> Parcel | None:
    """Return the parcel that a label is, or became by an import; withdrawn ones too.

    One that has its number at another time is not it: the carrier has given that out again.
    """
    times = [milliseconds(label.created_at + apart) for apart in (-GIVEN_OUT_AGAIN, GIVEN_OUT_AGAIN)]
    own = TrackingNumber.objects.for_shop(label.shop_id).filter(created_at__range=times)
    numbers = own.filter(number__in=label.tracking_numbers)
    found: Parcel | None = Parcel.objects.filter(numbers__in=numbers).newest_first().first()
    return found


def parcels_by_label(label_ids: list[str]) -> dict[str, Parcel]:
    """Return the parcels that labels bought numbers of, with what tells if one is late."""
    bought = TrackingNumber.objects.filter(state=NumberState.BOUGHT, label__in=label_ids).select_related("parcel")
    return {str(row.label): row.parcel for row in bought.only("label", *(f"parcel__{name}" for name in LATE_FIELDS))}


def labels_panel(request: HttpRequest, shop: Shop) -> str:
    newest = ShippingLabel.objects.for_shop(shop.id).filter(id__gte=id_prefix(start_of(first_day()))).order_by("-id")
    states, view = newest.values_list("state", flat=True), "labels_shippinglabel_changelist"
    return week_panel(gettext("Labels"), states, view=view, parameter="state", shop_id=shop.id)


ParcelAdmin.panels.append(label_panel)
SENDERS.append(sender_of)
PANELS.append(("labels", "shippinglabel", labels_panel))
