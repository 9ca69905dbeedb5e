"""The compose file starts what there is, in order, with few rights and nothing open to the network."""

import re
from collections.abc import Iterable
from typing import Any

import pytest

from lithify.node.jobs import QUEUES
from lithify.node.processes import SERVICES as PROCESSES
from lithify.node.workers import OWN_PROCESSES
from lithify.settings import Settings
from tests.deploy.checking import ROOT, accepted, program, read_yaml

COMPOSE = ROOT / "compose.yaml"
SERVICES: dict[str, dict[str, Any]] = read_yaml(COMPOSE)["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("lithify:")}
PUBLISHED = {"gateway", "assembly", "dashboard", "prometheus", "grafana"}
SECRETS = {"LITHIFY_REDIS_PASSWORD": "secret1", "LITHIFY_QDRANT_API_KEY": "secret2"}

every_service = pytest.mark.parametrize("name", SERVICES)


def test_docker_compose_accepts_the_file() -> None:
    compose = program("docker-compose", "LITHIFY_TEST_COMPOSE")
    accepted(compose, "-f", COMPOSE, "--profile", "observability", "config", "-q", **SECRETS)


@every_service
def test_images_are_pinned(name: str) -> None:
    tag = SERVICES[name]["image"].partition(":")[2]
    assert re.search(r"\d+\.\d+", tag), tag


@every_service
def test_containers_are_probed_stop_gently_and_have_few_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["healthcheck"]["test"]
    assert service["stop_grace_period"]
    assert service["restart"] == "unless-stopped"
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]


@every_service
def test_ports_are_published_to_this_machine_only(name: str) -> None:
    ports = SERVICES[name].get("ports", [])
    assert bool(ports) == (name in PUBLISHED)
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_our_containers_cannot_write_outside_of_their_volumes() -> None:
    assert all(service["read_only"] and service["tmpfs"] == ["/tmp"] for service in OURS.values())  # noqa: S108 - a mount


def test_our_containers_wait_for_healthy_servers() -> None:
    healthy = {"redis": {"condition": "service_healthy"}, "qdrant": {"condition": "service_healthy"}}
    assert all(service["depends_on"] == healthy for service in OURS.values())


def test_only_settings_that_exist_are_set() -> None:
    known = {f"LITHIFY_{name.upper()}" for name in Settings.model_fields}
    assert {name for service in OURS.values() for name in service["environment"]} <= known


def test_every_part_of_the_system_runs() -> None:
    def parts(verb: str, kinds: Iterable[str]) -> set[tuple[str, str]]:
        return {(verb, kind) for kind in kinds}

    running = {tuple(service["command"][:2]) for service in OURS.values()}
    # With an archive, its worker also runs the queue of forgetting.
    jobs = {("jobs", queue) for queue in QUEUES if queue != "forgetting"}
    assert running == parts("serve", PROCESSES) | parts("worker", OWN_PROCESSES) | jobs


def test_no_secret_has_a_default() -> None:
    text = COMPOSE.read_text("utf-8")
    for name in SECRETS:
        assert f"${{{name}:?" in text
        assert f"${{{name}:-" not in text
