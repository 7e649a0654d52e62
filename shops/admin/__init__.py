"""The admin pages of shops, access tokens, carrier contracts and webhooks."""

from shops.admin.contracts import CarrierContractAdmin
from shops.admin.deliveries import WebhookDeliveryAdmin
from shops.admin.shops import ShopAdmin
from shops.admin.tokens import AccessTokenAdmin
from shops.admin.webhooks import WebhookEndpointAdmin

__all__ = ["AccessTokenAdmin", "CarrierContractAdmin", "ShopAdmin", "WebhookDeliveryAdmin", "WebhookEndpointAdmin"]
