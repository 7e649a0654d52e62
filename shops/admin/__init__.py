"""The admin pages of shops, access tokens and carrier contracts."""

from shops.admin.contracts import CarrierContractAdmin
from shops.admin.shops import ShopAdmin
from shops.admin.tokens import AccessTokenAdmin

__all__ = ["AccessTokenAdmin", "CarrierContractAdmin", "ShopAdmin"]
