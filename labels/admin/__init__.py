"""The admin pages of labels, and what labels add to the pages of parcels and shops."""

from labels.admin import finance, labels, panels, slips

__all__ = ["finance", "labels", "panels", "slips"]
