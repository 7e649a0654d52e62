"""The staff's first page: the figures of all apps that the user may see, and their age."""

from typing import Any

from django.http import HttpRequest

from labels.admin import figures as labels
from parcels.admin import figures as parcels
from shops.admin import figures as shops
from shops.staff import figures
from shops.staff.panels import Chart, Table, Tile, age_of, may_view

KINDS = {figures.LABELS: ("labels", "shippinglabel"), figures.PARCELS: ("parcels", "parcel")}


def add_figures(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the panels to the page's context: tiles, then charts, then tables."""
    panels = [panel for part in (labels, parcels, shops) for panel in part.panels(request)]
    tiles = [panel for panel in panels if isinstance(panel, Tile)]
    others = [panel for kind in (Chart, Table) for panel in panels if isinstance(panel, kind)]
    return context | {"tiles": tiles, "panels": others} | age(request)


def age(request: HttpRequest) -> dict[str, Any]:
    kinds = [kind for kind, model in KINDS.items() if may_view(request, *model)]
    return {"is_counted": True, **age_of(*kinds)} if kinds else {}
