"""One sold parcel: what was asked for, and what was printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from carriers.sandbox.customs_form import CustomsForm
from carriers.sandbox.label import Label

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRETS = frozenset({"password", "contractNumber", "accountNumber"})


@dataclass(frozen=True)
class Parcel:
    """A parcel with its label, the request that bought it, and what is wrong with its way."""

    label: Label
    request: Mapping[str, Any] = field(default_factory=dict)  # as read, without credentials
    reservation_number: str = ""  # alpha's; of all parcels of one call
    customs_form: CustomsForm | None = None
    misrouted_by: tuple[str, ...] = ()  # the request's fields that are not the pickup point's own
    is_in_schema_order: bool = True  # alpha's structures

    @property
    def number(self) -> str:
        return self.label.tracking_number

    def as_json(self) -> dict[str, Any]:
        form = self.customs_form
        return {
            "request": self.request,
            "printed": self.label.printed,
            "routing": self.label.routing,
            "page_format": self.label.page_format,
            "misrouted_by": self.misrouted_by,
            "in_schema_order": self.is_in_schema_order,
            "customs_form": form.printed if form else None,
            "customs_pages": form.copies if form else 0,
        }


def read_parcel(stored: dict[str, Any]) -> Parcel:
    """Return the parcel that a ledger's file holds."""
    form = stored["customs_form"]
    return Parcel(
        **{
            **stored,
            "label": Label(**stored["label"]),
            "customs_form": CustomsForm(**form) if form else None,
            "misrouted_by": tuple(stored["misrouted_by"]),
        }
    )


def without_secrets(request: Any) -> Any:
    """Return a request as the ledger keeps it: without credentials, and numbers as JSON has them."""
    if isinstance(request, dict):
        return {name: without_secrets(value) for name, value in request.items() if name not in SECRETS}
    if isinstance(request, list):
        return [without_secrets(item) for item in request]
    return float(request) if isinstance(request, Decimal) else request
