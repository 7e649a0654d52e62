"""The admin pages of parcels."""

from parcels.admin import shops
from parcels.admin.codes import UnlistedEventCodeAdmin
from parcels.admin.parcels import ParcelAdmin

__all__ = ["ParcelAdmin", "UnlistedEventCodeAdmin", "shops"]
