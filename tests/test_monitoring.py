"""The alert rules, their tests and the dashboards: generated, about metrics that there are, and tried by promtool."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client import REGISTRY

from config.ops import logs, metrics
from deploy.monitoring.alerts import ALERTS
from deploy.monitoring.boards import without_variables
from deploy.monitoring.causes import CAUSES, CONDITIONS, SERVICE, WORK
from deploy.monitoring.dashboards import BOARDS, SHOP_BOARD
from deploy.monitoring.expected import DRILLS
from deploy.monitoring.files import GRAFANA, ROOT, RULES, generated
from deploy.monitoring.timelines import series, written
from deploy.monitoring.traffic import calm
from tests.support.programs import NOT_INSTALLED
from tests.support.waiting import WAIT_TIMEOUT_S

pytestmark = pytest.mark.any_database
FILES = generated()
ON_PROMETHEUS = [board for board in BOARDS.values() if board is not SHOP_BOARD]
NAME = re.compile(
    r"\b(?:[a-z]+_)+(?:total|seconds|count|bucket|decide|queued|active|failing|disabled|breaker|interrupted)\b"
)


def promtool(*words: str) -> subprocess.CompletedProcess[str]:
    beside = Path(sys.executable).with_name("promtool")
    found = beside if beside.exists() else shutil.which("promtool")
    if not found:  # `make .venv/bin/promtool` fetches Debian's, or put Prometheus' own into the path
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"promtool{NOT_INSTALLED}")
    return subprocess.run(
        [str(found), *words], cwd=ROOT / RULES, capture_output=True, text=True, timeout=WAIT_TIMEOUT_S, check=False
    )


def assert_passes(run: subprocess.CompletedProcess[str]) -> None:
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", FILES)
def test_the_committed_file_is_the_generated_one(path: str) -> None:
    assert (ROOT / path).read_text() == FILES[path], "run `make monitoring`"


@pytest.mark.parametrize("name", ["rules_test", "slow_rules_test"])
def test_drills_fire_their_own_alerts_and_no_others_and_a_calm_day_fires_none(name: str) -> None:
    assert_passes(promtool("test", "rules", f"{name}.yaml"))


def test_every_alert_is_fired_by_a_drill() -> None:
    fired = {(each.name, each.severity) for drill in DRILLS for each in drill.fires}
    unfired = {(alert.name, alert.severity) for alert in ALERTS} - fired
    # The tickets of objectives that page differ from one another by the objective's name only.
    assert unfired == {(name, "ticket") for name in ("LookUpsSlow", "OrdersFail", "WebhooksLate")}


def test_every_alert_leads_to_a_section_of_the_runbook() -> None:
    headings = re.findall(r"^##? (.+)$", (ROOT / "docs/runbook.md").read_text(), re.MULTILINE)
    assert {alert.section for alert in ALERTS} <= set(headings)


def exported() -> set[str]:
    """The names of all samples that the service and `work` can serve."""
    suffixes = {"histogram": ("_count", "_bucket"), "counter": ("_total",), "gauge": ("",)}
    return {metric.name + suffix for metric in REGISTRY.collect() for suffix in suffixes.get(metric.type, ())}


def from_database() -> set[str]:
    return {metric.name for read in metrics.FROM_DATABASE for metric in read()}


def used() -> Iterable[str]:
    boards = [query for board in ON_PROMETHEUS for query in board.expressions]
    for expression in [*CAUSES.values(), *CONDITIONS.values(), *(alert.expression for alert in ALERTS), *boards]:
        yield from NAME.findall(re.sub(r"(cause|condition|slo):\w+(:\w+)?|\{\w.*?\}|by \(.*?\)", "", expression))


@pytest.mark.django_db
def test_rules_and_dashboards_name_metrics_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.ops.metrics.connection.close", lambda: None)  # the test's own
    known = exported() | from_database()
    assert set(used()) - known == set()
    assert {each.metric for each in calm(1)} - known == {"up"}


def test_kubernetes_names_the_jobs_as_the_rules_do() -> None:
    monitor = yaml.safe_load((ROOT / "deploy/kubernetes/monitoring/pod-monitor.yaml").read_text())
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    pods = {}
    for name in ("deployment", "work"):
        manifest = yaml.safe_load((ROOT / f"deploy/kubernetes/base/{name}.yaml").read_text())
        pods[name] = manifest["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
    jobs = {each["regex"]: each["replacement"] for each in endpoint["relabelings"]}
    assert jobs == {pods["deployment"]: SERVICE, pods["work"]: WORK}


def parsed(expressions: Iterable[str], folder: Path) -> subprocess.CompletedProcess[str]:
    rules = [
        {"record": "a:panel", "expr": expression, "labels": {"n": str(n)}} for n, expression in enumerate(expressions)
    ]
    (folder / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    return promtool("check", "rules", str(folder / "panels.yaml"))


def test_prometheus_reads_the_rules_and_every_panels_query(tmp_path: Path) -> None:
    assert_passes(promtool("check", "rules", "rules.yaml"))
    queries = [without_variables(query) for board in ON_PROMETHEUS for query in board.expressions]
    assert_passes(parsed(queries, tmp_path))
    assert parsed([queries[0] + ")"], tmp_path).returncode != 0


def test_the_shops_queries_are_promql_around_filters_of_the_access_logs_fields(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, client: Any
) -> None:
    caplog.set_level("INFO", logger="service.request")
    client.get("/livez/")
    line = json.loads(logs.JsonFormatter().format(caplog.records[-1]))
    queries = [without_variables(query) for query in SHOP_BOARD.expressions]
    filters = {part.strip() for query in queries for part in re.findall(r"\|([^|\[]+)", query)}
    for each in filters - {"json"}:
        field = re.fullmatch(r'(?:unwrap )?(\w+)(?:="[\w.-]+"|>?=\d+)?', each)
        assert field, each
        assert field[1] in line
    outer = [re.sub(r"\{[^|]*\|[^\[]*", "lines", query) for query in queries]
    by_last = [re.sub(r"^(quantile_over_time.*\)) (by \(.*\))$", r"sum \2 (\1)", query) for query in outer]
    assert_passes(parsed(by_last, tmp_path))


@pytest.mark.parametrize("name", BOARDS)
def test_grafanas_types_hold_all_of_a_dashboard(name: str) -> None:
    register_default_plugins()
    board = json.loads((ROOT / GRAFANA / f"{name}.json").read_text())
    assert json.loads(json.dumps(Dashboard.from_json(board), cls=JSONEncoder)) == board
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    placed = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(placed)) == len(placed)


def test_samples_are_written_as_promtool_reads_them() -> None:
    gauge, counter = series("up", job="a"), series("lines_total", job="a")
    assert written({gauge: [1, 1, 0, None, None, 1], counter: [2, 2, None, 1, 5]}) == [
        {"series": 'up{job="a"}', "values": "1+0x1 0+0x0 stale _x1 1+0x0"},
        {"series": 'lines_total{job="a"}', "values": "2+2x1 stale 1+5x1"},
    ]
