"""The admin pages of labels."""

from labels.admin import shops
from labels.admin.finance import FinanceAdmin
from labels.admin.labels import ShippingLabelAdmin
from labels.admin.slips import DepositSlipAdmin

__all__ = ["DepositSlipAdmin", "FinanceAdmin", "ShippingLabelAdmin", "shops"]
