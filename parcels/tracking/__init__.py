"""Parcels' statuses, kept fresh from what the carriers report."""
