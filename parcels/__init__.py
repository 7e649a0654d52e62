"""Parcels and their tracking: look-up, search, import and the staff's view of them."""
