"""Checks of orders: what would a purchase say? Nothing is bought, and nothing is written."""
