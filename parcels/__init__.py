"""Parcels and their tracking: look-up, search, import and the admin's pages."""
