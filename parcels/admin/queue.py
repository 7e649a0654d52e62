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
    if not may_view(request, "parcels", "parcel"):
        return
    live, changed, first = Parcel.objects.live(), "last_status_updated_at", today() - timedelta(days=TROUBLE_DAYS)
    late = counted(live.filter(is_overdue(clock.now())), WINDOW_END)
    yield Row("overdue", _("Past their promise, not delivered"), parcels_url(delivery=Timing.OVERDUE.value), **late)
    soon, title = counted(live.filter(goes_back()), changed), _("Go back from their pickup point within 2 days")
    yield Row("goes_back", title, parcels_url(goes_back=GOES_BACK_DAYS), **soon)
    lost = counted(live.filter(last_status__in=TROUBLE, created_at__gte=milliseconds(start_of(first))), changed)
    link = parcels_url(status=[status.value for status in TROUBLE], created_from=first.isoformat())
    note = _("Of the parcels created in the last 30 days.")
    yield Row("trouble", _("Lost, damaged or refused"), link, **lost, note=note)
