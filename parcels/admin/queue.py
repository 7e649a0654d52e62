"""The parcels' rows of the staff's queue."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.http import HttpRequest
from django.utils.translation import gettext as _

from parcels.admin.figures import parcels_url
from parcels.admin.filters import GOES_BACK_DAYS, goes_back
from parcels.figures.models import Timing
from parcels.figures.timing import WINDOW_END, is_overdue
from parcels.models import Parcel, TrackingStatus
from parcels.tracking.events import milliseconds
from shops.db import clock
from shops.staff.days import start_of, today
from shops.staff.panels import may_view
from shops.staff.queue import Row, counted

TROUBLE: Final = (TrackingStatus.EXCEPTION, TrackingStatus.RETURN_TO_SENDER)
TROUBLE_DAYS: Final = 30


def rows(request: HttpRequest) -> Iterator[Row]:
    """Make the rows of those who may see parcels."""
    if may_view(request, "parcels", "parcel"):
        yield overdue()
        yield going_back()
        yield trouble()


def overdue() -> Row:
    late = Parcel.objects.live().filter(is_overdue(clock.now()))
    title = _("Past their promise, not delivered")
    return Row("overdue", title, parcels_url(delivery=Timing.OVERDUE.value), **counted(late, WINDOW_END))


def going_back() -> Row:
    soon = Parcel.objects.live().filter(goes_back())
    title = _("Go back from their pickup point within 2 days")
    return Row("goes_back", title, parcels_url(goes_back=GOES_BACK_DAYS), **counted(soon, "last_status_updated_at"))


def trouble() -> Row:
    first = today() - timedelta(days=TROUBLE_DAYS)
    lost = Parcel.objects.live().filter(last_status__in=TROUBLE, created_at__gte=milliseconds(start_of(first)))
    link = parcels_url(status=[status.value for status in TROUBLE], created_from=first.isoformat())
    note = _("Of the parcels created in the last 30 days.")
    title = _("Lost, damaged or refused")
    return Row("trouble", title, link, **counted(lost, "last_status_updated_at"), note=note)
