"""The admin pages of shops, access tokens, carrier contracts, webhooks and the audit log."""

from shops.admin import audit, contracts, deliveries, shops, tokens, webhooks

__all__ = ["audit", "contracts", "deliveries", "shops", "tokens", "webhooks"]
