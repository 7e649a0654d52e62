"""The admin pages of parcels."""

from parcels.admin.parcels import ParcelAdmin

__all__ = ["ParcelAdmin"]
