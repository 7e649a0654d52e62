"""The admin pages of labels."""

from labels.admin.labels import ShippingLabelAdmin

__all__ = ["ShippingLabelAdmin"]
