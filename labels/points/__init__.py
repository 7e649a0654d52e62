"""Pickup points near a place, for a shop's customers to choose from."""
