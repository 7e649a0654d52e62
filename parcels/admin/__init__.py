"""The admin pages of parcels."""

from parcels.admin import codes, parcels, shops

__all__ = ["codes", "parcels", "shops"]
