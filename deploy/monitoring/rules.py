"""Prometheus' rules: what is recorded, then the alerts, in one group, whose rules are evaluated in order."""

from collections.abc import Iterable

from deploy.monitoring.alerts import ALERTS
from deploy.monitoring.causes import CAUSES, CONDITIONS
from deploy.monitoring.objectives import OBJECTIVES, Rule, record


def records() -> Iterable[Rule]:
    for name, expression in (CAUSES | CONDITIONS).items():
        yield record(name, expression)
    for objective in OBJECTIVES.values():
        yield from objective.rules()


def rules() -> Rule:
    return {"groups": [{"name": "parcel-service", "rules": [*records(), *(alert.rule() for alert in ALERTS)]}]}
