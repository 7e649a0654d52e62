"""Shops, their access tokens, and what a shop may ask for: authentication and rate limit."""
