"""The admin pages of parcels."""

from parcels.admin import figures, parcels

__all__ = ["figures", "parcels"]
