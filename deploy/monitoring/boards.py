"""Grafana dashboards from a short notation: rows of panels, each with its queries by legend."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import common, dashboard, loki, prometheus, stat, timeseries
from grafana_foundation_sdk.models.common import BigValueColorMode, LegendDisplayMode, LegendPlacement
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    DashboardCursorSync,
    DataSourceRef,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
)

WIDTH = 24
PROMETHEUS, LOKI = "prometheus", "loki"


@dataclass(frozen=True)
class Panel:
    """A graph or, with a limit, a figure that is red from there on; of an objective's share, below."""

    title: str
    queries: Mapping[str, str]
    unit: str = "short"
    limit: float | None = None
    is_share: bool = False


@dataclass(frozen=True)
class Board:
    """A dashboard for one kind of reader."""

    uid: str
    title: str
    description: str
    rows: Mapping[str, Sequence[Panel]]
    source: str = PROMETHEUS
    variable: tuple[str, str] | None = None  # its name and label

    @property
    def expressions(self) -> list[str]:
        return [query for panels in self.rows.values() for panel in panels for query in panel.queries.values()]

    def build(self) -> Dashboard:
        board = dashboard.Dashboard(self.title).uid(self.uid).description(self.description).tags(["parcel-service"])
        board = board.time("now-6h", "now").refresh("30s").timezone("browser").tooltip(DashboardCursorSync.CROSSHAIR)
        board = board.with_variable(dashboard.DatasourceVariable("datasource").label("Source").type(self.source))
        if self.variable:
            name, label = self.variable
            board = board.with_variable(dashboard.TextBoxVariable(name).label(label))
        number = 0
        for title, panels in self.rows.items():
            board = board.with_row(dashboard.Row(title).id(number := number + 1))
            for panel in panels:
                made = (graph if panel.limit is None else figure)(panel)
                made = made.id(number := number + 1).title(panel.title).unit(panel.unit).span(WIDTH // len(panels))
                made = made.datasource(DataSourceRef(type_val=self.source, uid="${datasource}"))
                for letter, (legend, expression) in zip("ABCDEF", panel.queries.items(), strict=False):
                    query = (loki if self.source == LOKI else prometheus).Dataquery().expr(expression)
                    made = made.with_target(query.legend_format(legend).ref_id(letter))
                board = board.with_panel(made)
        return board.build()


def graph(panel: Panel) -> timeseries.Panel:
    legend = common.VizLegendOptions().display_mode(LegendDisplayMode.LIST).placement(LegendPlacement.BOTTOM)
    return timeseries.Panel().height(8).min(0).fill_opacity(10).legend(legend.show_legend(True))


def figure(panel: Panel) -> stat.Panel:
    assert panel.limit is not None
    below, above = ("red", "green") if panel.is_share else ("green", "red")
    steps = [Threshold(value=None, color=below), Threshold(value=panel.limit, color=above)]
    thresholds = dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)
    made = stat.Panel().height(4).thresholds(thresholds).color_mode(BigValueColorMode.BACKGROUND_SOLID)
    return made.color_scheme(dashboard.FieldColor().mode(FieldColorModeId.THRESHOLDS)).no_value("none")


def without_variables(expression: str) -> str:
    """Give Grafana's variables a value, for a parser."""
    return re.sub(r"\$__(rate_interval|interval|range)", "5m", expression).replace("$shop", "shop_1")
