"""Shops, their access tokens and carrier contracts; authentication, the rate limit; what all apps share of Django."""
