"""The pages of parcels in the admin, as staff open them."""

from typing import Any

from django.test import Client

from tests.support.desk import undrawn

PARCELS = "/admin/parcels/parcel/"
DAY_MS = 86_400_000
NOON_MS = 1_790_164_800_000  # 23 September 2026, 12:00 UTC


def listed(staff: Client, **query: Any) -> list[str]:
    """Return the ids of the parcels on the list's first page, in its order."""
    return [parcel.pk for parcel in undrawn(staff, PARCELS, **query)["cl"].result_list]


def page_of(staff: Client, parcel_id: str) -> str:
    answer = staff.get(f"{PARCELS}{parcel_id}/change/")
    assert answer.status_code == 200
    return answer.text
