"""A shop's labels of the week, on the shop's page."""

from django.http import HttpRequest
from django.utils.translation import gettext

from labels.ids import id_prefix
from labels.models import ShippingLabel
from shops.admin.shop_overview import PANELS, first_day, week_panel
from shops.models import Shop
from shops.staff.days import start_of


def labels_panel(request: HttpRequest, shop: Shop) -> str:
    newest = ShippingLabel.objects.for_shop(shop.id).filter(id__gte=id_prefix(start_of(first_day()))).order_by("-id")
    states, view = newest.values_list("state", flat=True), "labels_shippinglabel_changelist"
    return week_panel(gettext("Labels"), states, view=view, parameter="state", shop_id=shop.id)


PANELS.append(("labels", "shippinglabel", labels_panel))
