"""The admin pages of labels."""

from labels.admin.labels import ShippingLabelAdmin
from labels.admin.slips import DepositSlipAdmin

__all__ = ["DepositSlipAdmin", "ShippingLabelAdmin"]
