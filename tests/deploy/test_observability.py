"""Alerts and boards ask for what there is, and promtool finds the rules right."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from lithify.telemetry.metrics import LEVELS
from lithify.telemetry.reference import list_counted
from tests.deploy.checking import DEPLOY, ROOT, accepted, program, read_yaml

FOLDER = DEPLOY / "observability"
ALERTS: list[dict[str, Any]] = read_yaml(FOLDER / "alerts.yaml")["groups"][0]["rules"]
METRIC = re.compile(r"\blithify_\w+")


def series() -> set[str]:
    counted = {name for row in list_counted() for name in ({row.name} | parts(row.name, row.kind))}
    return counted | {level.name for level in LEVELS}


def parts(name: str, kind: str) -> set[str]:
    return {f"{name}_{part}" for part in ("bucket", "count", "sum")} if kind == "histogram" else set()


def board_queries() -> Iterator[str]:
    board = json.loads((FOLDER / "grafana" / "boards" / "lithify.json").read_text("utf-8"))
    return (target["expr"] for panel in board["panels"] for target in panel["targets"])


def kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def test_promtool_accepts_configuration_and_rules() -> None:
    promtool = program("promtool", "LITHIFY_TEST_PROMTOOL")
    assert "SUCCESS" in accepted(promtool, "check", "rules", FOLDER / "alerts.yaml")
    accepted(promtool, "check", "config", FOLDER / "prometheus.yaml")


def test_rules_are_quiet_in_health_and_fire_in_trouble() -> None:
    accepted(program("promtool", "LITHIFY_TEST_PROMTOOL"), "test", "rules", FOLDER / "alerts_test.yaml")


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: str(alert["alert"]))
def test_every_alert_is_tested_and_leads_to_the_runbook(alert: dict[str, Any]) -> None:
    anchor = kebab(alert["alert"])
    assert alert["annotations"]["runbook_url"] == f"docs/runbook.md#{anchor}"
    assert f'alertname="{alert["alert"]}"' in (FOLDER / "alerts_test.yaml").read_text("utf-8")
    headings = [
        line.lstrip("# ") for line in (ROOT / "docs/runbook.md").read_text("utf-8").splitlines() if line[:1] == "#"
    ]
    assert anchor in [heading.lower().replace(" ", "-").replace("`", "") for heading in headings]


def test_alerts_and_board_use_metrics_there_are() -> None:
    queries = [*board_queries(), *(alert["expr"] for alert in ALERTS)]
    assert {name for query in queries for name in METRIC.findall(query)} <= series()


def test_the_board_shows_every_metric() -> None:
    shown = {re.sub("_(bucket|count|sum)$", "", name) for query in board_queries() for name in METRIC.findall(query)}
    assert {row.name for row in list_counted()} | {level.name for level in LEVELS} == shown


def test_prometheus_scrapes_every_process_of_compose() -> None:
    services = read_yaml(ROOT / "compose.yaml")["services"]
    ours = {name for name, service in services.items() if str(service["image"]).startswith("lithify:")}
    [scrape] = read_yaml(FOLDER / "prometheus.yaml")["scrape_configs"]
    [found] = scrape["dns_sd_configs"]
    assert set(found["names"]) == ours
