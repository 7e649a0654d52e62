"""promtool's unit tests: a calm day fires nothing, and each drill its own alerts and no others."""

from collections.abc import Iterable

from deploy.monitoring.alerts import ALERTS
from deploy.monitoring.drills import Drill, Fires
from deploy.monitoring.expected import DRILLS
from deploy.monitoring.objectives import OBJECTIVES, Rule
from deploy.monitoring.timelines import STEP_S, written
from deploy.monitoring.traffic import SHAPE, calm_day

SLOW_STEP_S = 240  # a day that is evaluated each 30 s takes promtool 45 s
TOLD = {(alert.name, alert.severity): alert for alert in ALERTS}
FIRED = 'group by (alertname, severity) (count_over_time(ALERTS{alertstate="firing"}[3d]))'


def drill_tests() -> Rule:
    return file(STEP_S, [of_drill(drill) for drill in DRILLS if not drill.is_slow])


def slow_tests() -> Rule:
    """The calm day, and what takes an hour or more, evaluated less often."""
    return file(SLOW_STEP_S, [of_calm_day(), *(of_drill(drill) for drill in DRILLS if drill.is_slow)])


def of_calm_day() -> Rule:
    at = f"{len(SHAPE)}h"
    # So that the day is not calm for want of figures.
    measured = expression("count(slo:errors:ratio30m)", at, ("{}", len(OBJECTIVES)))
    return test("a calm day", written(calm_day()), [expression(FIRED, at), measured])


def file(step_s: int, tests: list[Rule]) -> Rule:
    return {"rule_files": ["rules.yaml"], "evaluation_interval": f"{step_s}s", "tests": tests}


def of_drill(drill: Drill) -> Rule:
    names = sorted({f'{{alertname="{each.name}", severity="{each.severity}"}}' for each in drill.fires})
    told = list(alert_tests(drill, f"{drill.calm_s + drill.after_s}s"))
    end = expression(FIRED, f"{drill.calm_s + drill.end_s}s", *[(name, 1) for name in names])
    return test(drill.name, written(drill.timeline()), [end]) | {"alert_rule_test": told}


def alert_tests(drill: Drill, at: str) -> Iterable[Rule]:
    """One for each name of an alert, with all that fires of it, and its annotations."""
    for name in sorted({each.name for each in drill.fires}):
        fired = [alert(each) for each in drill.fires if each.name == name]
        yield {"eval_time": at, "alertname": name, "exp_alerts": fired}


def alert(fires: Fires) -> Rule:
    labels = {"severity": fires.severity} | fires.labels
    return {"exp_labels": labels, "exp_annotations": TOLD[fires.name, fires.severity].annotations}


def expression(expr: str, at: str, *samples: tuple[str, float]) -> Rule:
    return {
        "expr": expr,
        "eval_time": at,
        "exp_samples": [{"labels": labels, "value": value} for labels, value in samples],
    }


def test(name: str, series: list[dict[str, str]], expressions: list[Rule]) -> Rule:
    return {"name": name, "interval": f"{STEP_S}s", "input_series": series, "promql_expr_test": expressions}
