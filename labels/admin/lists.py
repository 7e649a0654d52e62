"""The staff's list of labels: counted up to its last page, read in the columns it shows."""

from shops.staff.base import CappedList


class LabelList(CappedList):
    """Reads no more columns than the list shows."""

    not_listed = ("pdf", "sender", "customs", "body_digest", "search_words")
