"""The admin pages of shops, access tokens, carrier contracts, webhooks and the audit log."""

from shops.admin.audit import AuditEntryAdmin
from shops.admin.contracts import CarrierContractAdmin
from shops.admin.deliveries import WebhookDeliveryAdmin
from shops.admin.shops import ShopAdmin
from shops.admin.tokens import AccessTokenAdmin
from shops.admin.webhooks import WebhookEndpointAdmin

__all__ = [
    "AccessTokenAdmin",
    "AuditEntryAdmin",
    "CarrierContractAdmin",
    "ShopAdmin",
    "WebhookDeliveryAdmin",
    "WebhookEndpointAdmin",
]
