"""The admin's list of event codes that the carriers' tables lack."""

from django.contrib import admin

from parcels.models import UnlistedEventCode
from parcels.personal_data.columns import COLUMNS
from shops.staff.base import ModelAdmin, ReadOnly
from shops.staff.filters import CarrierFilter


@admin.register(UnlistedEventCode)
class UnlistedEventCodeAdmin(ReadOnly, ModelAdmin[UnlistedEventCode]):
    """Codes that carriers report and our tables lack, read-only: they change no status until they are added."""

    list_display = ("code", "carrier_code", "text", "count", "first_seen_at", "last_seen_at")
    list_filter = (CarrierFilter,)
    ordering = ("-count",)
    fields = list_display
    personal = COLUMNS[UnlistedEventCode].personal
    are_views_recorded = True
