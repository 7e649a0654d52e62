"""The alert rules, their drills and the dashboards: about metrics that there are, tried by promtool, in the runbook."""

import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client import REGISTRY

from config.ops import logs, metrics
from tests.support.markdown import headings
from tests.support.programs import NOT_INSTALLED, program
from tests.support.waiting import WAIT_TIMEOUT_S

pytestmark = pytest.mark.any_database
DEPLOY = Path(settings.BASE_DIR, "deploy")
RUNBOOK = Path(settings.BASE_DIR, "docs", "runbook")
DRILLS = ("rules_test", "slow_rules_test")
ROW = re.compile(r"^\| `(\w+)` \| (page|ticket) \| [^|]+ \| \[([^]]+)\]\(fail\.md(#[^)]+)\) \|$", re.MULTILINE)
METRIC = re.compile(r"^\| (`\w+`(?:, `\w+`)*)(?: \(\w+\))? \|([^|]*)\|", re.MULTILINE)
NAME = re.compile(
    r"\b(?:[a-z]+_)+(?:total|seconds|count|bucket|decide|queued|active|failing|disabled|breaker|interrupted)\b"
)


def read_yaml(name: str) -> Any:
    return yaml.load((DEPLOY / name).read_text(), Loader=yaml.CSafeLoader)


RULES = read_yaml("prometheus/rules.yaml")["groups"][0]["rules"]
ALERTS = [rule for rule in RULES if "alert" in rule]
LOG_RULES = read_yaml("loki/rules.yaml")["groups"][0]["rules"]
BOARDS = {path.stem: json.loads(path.read_text()) for path in (DEPLOY / "grafana").glob("*.json")}


def named(alert: dict[str, Any]) -> tuple[str, str]:
    return alert["alert"], alert["labels"]["severity"]


def queries(*boards: str) -> list[str]:
    """The boards' queries, with values in place of Grafana's variables."""
    found = [
        target["expr"] for name in boards for panel in BOARDS[name]["panels"] for target in panel.get("targets", ())
    ]
    return [re.sub(r"\$__(rate_interval|interval|range)", "5m", each).replace("$shop", "shop_1") for each in found]


def promtool(*words: str) -> subprocess.CompletedProcess[str]:
    found = program("promtool")
    if not found:  # `make .venv/bin/promtool` fetches Debian's, or put Prometheus' own into the path
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"promtool{NOT_INSTALLED}")
    seldom = dict(os.environ) | {"GOGC": "400"}  # a fourth of the time goes into collecting garbage otherwise
    return subprocess.run(
        [found, *words],
        cwd=DEPLOY / "prometheus",
        env=seldom,
        capture_output=True,
        text=True,
        timeout=WAIT_TIMEOUT_S,
        check=False,
    )


def assert_passes(run: subprocess.CompletedProcess[str]) -> None:
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("name", DRILLS)
def test_drills_fire_their_own_alerts_and_no_others_and_a_calm_day_fires_none(name: str) -> None:
    assert_passes(promtool("test", "rules", f"{name}.yaml"))


def test_every_alert_is_fired_by_a_drill() -> None:
    tests = [test for name in DRILLS for test in read_yaml(f"prometheus/{name}.yaml")["tests"]]
    fired = {
        (drill["alertname"], alert["exp_labels"]["severity"])
        for test in tests
        for drill in test.get("alert_rule_test", ())
        for alert in drill["exp_alerts"]
    }
    # The tickets of objectives that page differ from one another by the objective's name only.
    assert set(map(named, ALERTS)) - fired == {
        (name, "ticket") for name in ("LookUpsSlow", "OrdersFail", "WebhooksLate")
    }


def test_every_alert_has_a_row_in_the_runbook_that_leads_to_its_section() -> None:
    table = ROW.findall((RUNBOOK / "watch.md").read_text())
    assert {(name, severity): f"docs/runbook/fail.md{anchor}" for name, severity, _, anchor in table} == {
        named(alert): alert["annotations"]["runbook_url"].removeprefix("{{ $externalLabels.runbook }}")
        for alert in ALERTS
    }
    anchors = {title: anchor for anchor, title in headings(RUNBOOK / "fail.md").items()}
    assert all(anchors[section] == anchor.removeprefix("#") for _, _, section, anchor in table)


def test_every_alert_has_commands_to_see_start_and_read_the_log_that_name_what_is_deployed() -> None:
    alerts = {alert["alert"] for alert in [*ALERTS, *LOG_RULES]}
    blocks = (RUNBOOK / "commands.md").read_text().split("\n## ")[1:]
    assert {block.splitlines()[0] for block in blocks} == alerts
    units = {path.stem for path in (DEPLOY / "systemd").glob("*.service")} | {"postgresql", "redis-server"}
    deployments = {read_yaml(f"kubernetes/base/{name}.yaml")["metadata"]["name"] for name in ("deployment", "work")}
    for block in blocks:
        rows = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("| ")]
        assert [(name, len(cells)) for name, *cells in rows[1:]] == [("compose", 3), ("systemd", 3), ("Kubernetes", 3)]
        services = re.findall(r"docker compose (?:exec|up -d|ps|logs --since [13]h) (\w+)", block)
        assert set(services) <= set(read_yaml("compose.yaml")["services"])
        assert set(re.findall(r"(?:systemctl \w+|journalctl -u) ([\w-]+)", block)) <= units
        assert set(re.findall(r" deploy/(parcel-[\w-]+)", block)) <= deployments
        assert set(re.findall(r"manage(?:\.py)? (\w+)", block)) <= set(get_commands())


def test_a_log_is_read_of_every_process_that_may_have_written_the_line() -> None:
    blocks = (RUNBOOK / "commands.md").read_text().split("\n## ")[1:]
    logs_of = {block.splitlines()[0]: "".join(re.findall(r"logs .*?`|journalctl .*?`", block)) for block in blocks}
    # Both processes record purchases, ask carriers, look at the clock and write a log.
    of_both = ("LabelNotRecorded", "RowsVanished", "CredentialsRejected", "HostClockOff", "LogHasGaps", "InstanceDown")
    for name in (*of_both, "CriticalLine"):
        for read in (" service work`", "-u parcel-serve -u parcel-work ", "-l app.kubernetes.io/name=parcel-service`"):
            assert read in logs_of[name], name
    # Of a deployment kubectl reads one pod, and of a selector's pods ten lines unless told otherwise.
    assert all(" deploy/" not in read and " --tail -1 -l " in read for read in logs_of.values())


def test_what_to_look_for_in_the_log_is_logged() -> None:
    words = set(re.findall("In the log: `(.*?)`", (RUNBOOK / "commands.md").read_text()))
    texts = re.findall(r'(?:getLogger|logger\.\w+)\(\s*"(.*?)"', "".join(path.read_text() for path in sources()))
    logged = "\n".join(["CRITICAL", "WARNING", "outcome", *texts])  # a level, a field, a logger or a message
    assert {word for word in words if word not in logged} == set()


def test_a_critical_line_pages_with_its_host_carrier_and_shop() -> None:
    (rule,) = LOG_RULES
    assert rule["labels"] == {"severity": "page"}
    assert 'level="CRITICAL"' in rule["expr"]
    named = {"instance", "logger", "message", "carrier", "shop"}  # the first is Loki's, the others a line's
    assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) == named
    assert set(re.findall(r"\w+", rule["expr"].partition(")")[0])) - {"sum", "by"} == named


def exported() -> set[str]:
    """The names of all samples that the service and `work` can serve."""
    suffixes = {"histogram": ("_count", "_bucket"), "counter": ("_total",), "gauge": ("",)}
    return {metric.name + suffix for metric in REGISTRY.collect() for suffix in suffixes.get(metric.type, ())}


def from_database() -> set[str]:
    return {metric.name for read in metrics.FROM_DATABASE for metric in read()}


def used() -> Iterable[str]:
    for expression in [*(rule["expr"] for rule in RULES), *queries("service", "carriers")]:
        yield from NAME.findall(re.sub(r"(cause|condition|slo):\w+(:\w+)?|\{\w.*?\}|by \(.*?\)", "", expression))


@pytest.mark.django_db
def test_rules_drills_and_dashboards_name_metrics_that_there_are() -> None:
    known = exported() | from_database()
    assert set(used()) - known == set()
    in_drills = re.findall(
        r"^ *(?:- )?series: (\w+)", (DEPLOY / "prometheus/rules_test.yaml").read_text(), re.MULTILINE
    )
    assert set(in_drills) - known == {"up"}


@pytest.mark.django_db
def test_the_runbook_has_every_metric_with_its_labels() -> None:
    rows = METRIC.findall((RUNBOOK / "watch.md").read_text().partition("\n## Metrics\n")[2])
    told = {name: re.findall("`(.*?)`", labels) for names, labels in rows for name in re.findall("`(.*?)`", names)}
    ours: set[Any] = {each for each in REGISTRY._collector_to_names if hasattr(each, "_labelnames")}
    counted = {each._name + "_total" * (each._type == "counter"): list(each._labelnames) for each in ours}
    assert {name: labels for name, labels in counted.items() if told.get(name) != labels} == {}
    assert from_database() - set(told) == set()


def sources() -> list[Path]:
    rooms = [Path(settings.BASE_DIR, name) for name in ("config", "labels", "parcels", "shops", "carriers")]
    return [path for room in rooms for path in room.rglob("*.py") if "sandbox" not in path.parts]


def test_the_runbook_has_every_logger_of_the_service() -> None:
    table = (RUNBOOK / "watch.md").read_text().partition("\n| logger |")[2].partition("\n\n")[0]
    told = set(re.findall("`(.*?)`", "".join(row.split("|")[1] for row in table.splitlines() if "`" in row)))
    logged = {name for path in sources() for name in re.findall(r'getLogger\("(.*?)"\)', path.read_text())}
    assert logged - told == set()


def test_kubernetes_names_the_jobs_as_the_rules_do() -> None:
    monitor = read_yaml("kubernetes/monitoring/pod-monitor.yaml")
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    pods = {}
    for name in ("deployment", "work"):
        manifest = read_yaml(f"kubernetes/base/{name}.yaml")
        pods[name] = manifest["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
    jobs = {each["regex"]: each["replacement"] for each in endpoint["relabelings"]}
    assert jobs == {pods["deployment"]: "parcel-service", pods["work"]: "parcel-work"}
    assert {job for rule in RULES for job in re.findall(r'job="([^"]+)"', rule["expr"])} == set(jobs.values())


def parsed(expressions: Iterable[str], folder: Path) -> subprocess.CompletedProcess[str]:
    rules = [
        {"record": "a:panel", "expr": expression, "labels": {"n": str(n)}} for n, expression in enumerate(expressions)
    ]
    (folder / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    return promtool("check", "rules", str(folder / "panels.yaml"))


def test_prometheus_reads_the_rules_and_every_panels_query(tmp_path: Path) -> None:
    assert_passes(promtool("check", "rules", "rules.yaml"))
    found = queries("service", "carriers")
    assert_passes(parsed(found, tmp_path))
    assert parsed([found[0] + ")"], tmp_path).returncode != 0


def tried(drills: dict[str, Any], folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "drills.yaml").write_text(yaml.safe_dump(drills))
    return promtool("test", "rules", str(folder / "drills.yaml"))


def test_a_figure_of_an_hour_without_requests_is_no_number_that_looks_bad(tmp_path: Path) -> None:
    stats = [panel for panel in BOARDS["service"]["panels"] if panel["type"] == "stat"]
    figures = [target["expr"] for panel in stats for target in panel["targets"]]
    of = 'http_request_duration_seconds_%s{method="%s",route="%s",status="200",le="0.05"}'
    requests = (("count", "GET", "parcel"), ("bucket", "GET", "parcel"), ("count", "POST", "labels"))
    quiet = [{"series": of % each, "values": "7+0x120"} for each in requests]
    nan = [{"expr": f"({each}) unless ({each}) == ({each})", "eval_time": "1h", "exp_samples": []} for each in figures]
    drill = {"interval": "30s", "input_series": quiet, "promql_expr_test": nan}
    drills = {"rule_files": [str(DEPLOY / "prometheus/rules.yaml")], "evaluation_interval": "30s", "tests": [drill]}
    assert_passes(tried(drills, tmp_path))


def test_where_no_call_failed_the_share_of_those_that_did_is_zero(tmp_path: Path) -> None:
    (share,) = (each for each in queries("carriers") if "/ sum" in each)
    calls = {"series": 'carrier_call_duration_seconds_count{carrier="alpha",outcome="ok"}', "values": "0+1x20"}
    none = {"expr": share, "eval_time": "10m", "exp_samples": [{"labels": '{carrier="alpha"}', "value": 0}]}
    drill = {"interval": "30s", "input_series": [calls], "promql_expr_test": [none]}
    assert_passes(tried({"rule_files": [], "tests": [drill]}, tmp_path))


def test_the_shops_queries_are_promql_around_filters_of_the_access_logs_fields(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, client: Any
) -> None:
    caplog.set_level("INFO", logger="service.request")
    client.get("/livez/")
    line = json.loads(logs.JsonFormatter().format(caplog.records[-1]))
    found = queries("shop")
    filters = {part.strip() for query in found for part in re.findall(r"\|([^|\[]+)", query)}
    for each in filters - {"json"}:
        field = re.fullmatch(r'(?:unwrap )?(\w+)(?:="[\w.-]+"|>?=\d+)?', each)
        assert field, each
        assert field[1] in line
    outer = [re.sub(r"\{[^|]*\|[^\[]*", "lines", query) for query in found]
    by_last = [re.sub(r"^(quantile_over_time.*\)) (by \(.*\))$", r"sum \2 (\1)", query) for query in outer]
    assert_passes(parsed(by_last, tmp_path))


@pytest.mark.parametrize("name", BOARDS)
def test_grafanas_types_hold_all_of_a_dashboard(name: str) -> None:
    register_default_plugins()
    board = BOARDS[name]
    assert json.loads(json.dumps(Dashboard.from_json(board), cls=JSONEncoder)) == board
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    placed = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(placed)) == len(placed)
