"""The staff's list of labels: counted up to its last page, read in the columns it shows."""

from typing import Any

from django.http import HttpRequest

from labels.admin.parcels import parcels_by_label
from shops.staff.base import CappedList


class LabelList(CappedList):
    """Reads no more columns than the list shows, and each label's parcel, which may be late."""

    not_listed = ("pdf", "sender", "customs", "body_digest", "search_words")
    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        parcels = parcels_by_label([label.id for label in self.result_list])
        for label in self.result_list:
            label.parcel = parcels.get(label.id)
