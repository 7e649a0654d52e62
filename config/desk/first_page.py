"""The staff's first page: the queue, the figures of all apps that the user may see, and their age."""

from typing import Any

from django.http import HttpRequest

from config.desk import morning, queue
from shops.staff import figures
from shops.staff.panels import Chart, Table, Tile, age_of, may_view

KINDS = {figures.LABELS: ("labels", "shippinglabel"), figures.PARCELS: ("parcels", "parcel")}


def add_figures(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the queue to the page's context, the tables of the carriers beside it, and tiles and charts below."""
    panels = [panel for part in queue.PARTS for panel in part.panels(request)]
    by_kind = {kind: [panel for panel in panels if isinstance(panel, kind)] for kind in (Tile, Chart, Table)}
    beside = [panel for panel in (queue.yesterday(request), *by_kind[Table]) if panel]
    shown: dict[str, Any] = {"tiles": by_kind[Tile], "panels": by_kind[Chart], "beside": beside}
    if counted := [kind for kind, model in KINDS.items() if may_view(request, *model)]:
        shown |= {"is_counted": True, **age_of(*counted)}
    return context | shown | queue.context(request) | morning.choice(request)
