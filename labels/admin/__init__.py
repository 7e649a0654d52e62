"""The admin pages of labels."""

from labels.admin.finance import FinanceAdmin
from labels.admin.labels import ShippingLabelAdmin

__all__ = ["FinanceAdmin", "ShippingLabelAdmin"]
