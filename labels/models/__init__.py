"""The tables of labels; Django finds an app's models here."""

from labels.figures.models import LabelFigure
from labels.models.label import ShippingLabel, total_kg
from labels.models.label_states import (
    CANCEL_TIMEOUT,
    IN_CANCELLATION,
    OPEN,
    OVER,
    STORED,
    UNFINISHED,
    LabelState,
    ShippingLabelQuerySet,
    is_free,
    lease,
    settle_wait,
)
from labels.slips.models import DepositSlip

__all__ = [
    "CANCEL_TIMEOUT",
    "IN_CANCELLATION",
    "OPEN",
    "OVER",
    "STORED",
    "UNFINISHED",
    "DepositSlip",
    "LabelFigure",
    "LabelState",
    "ShippingLabel",
    "ShippingLabelQuerySet",
    "is_free",
    "lease",
    "settle_wait",
    "total_kg",
]
