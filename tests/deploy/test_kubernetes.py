"""The manifests are what kustomize makes of them: valid, with few rights, probed, and running what there is."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import kubernetes_validate
import pytest
import yaml

from lithify.node.jobs import QUEUES
from lithify.settings import Settings
from lithify.streams import keys
from lithify.telemetry.metrics import LEVELS
from tests.deploy.checking import DEPLOY, accepted, program, read_yaml

FOLDER = DEPLOY / "kubernetes"
KUBERNETES = "1.31"
OVERLAYS = ("dev", "prod")

Manifest = dict[str, Any]

every_overlay = pytest.mark.parametrize("overlay", OVERLAYS)


@cache
def rendered(overlay: str) -> list[Manifest]:
    kustomize = program("kustomize", "LITHIFY_TEST_KUSTOMIZE")
    return list(yaml.safe_load_all(accepted(kustomize, "build", FOLDER / "overlays" / overlay)))


def of_kind(overlay: str, *kinds: str) -> list[Manifest]:
    return [manifest for manifest in rendered(overlay) if manifest["kind"] in kinds]


def workloads(overlay: str) -> list[Manifest]:
    return of_kind(overlay, "Deployment", "StatefulSet")


def containers(overlay: str) -> Iterator[Manifest]:
    for workload in workloads(overlay):
        yield from workload["spec"]["template"]["spec"]["containers"]


@every_overlay
def test_manifests_are_valid(overlay: str) -> None:
    """Strictly: a field that Kubernetes does not know is an error. What KEDA defines is not among its schemas."""
    builtin = [manifest for manifest in rendered(overlay) if not manifest["apiVersion"].startswith("keda.sh/")]
    for manifest in builtin:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    assert len(builtin) >= 18


def test_a_wrong_manifest_would_be_noticed() -> None:
    [deployment] = [found for found in workloads("dev") if found["metadata"]["name"] == "gate"]
    wrong = deployment | {"spec": deployment["spec"] | {"replicas": "two"}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, KUBERNETES, strict=True)


@every_overlay
def test_containers_have_few_rights(overlay: str) -> None:
    for workload in workloads(overlay):
        pod = workload["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["automountServiceAccountToken"] is False
    for container in containers(overlay):
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"]
        assert rights["allowPrivilegeEscalation"] is False
        assert rights["capabilities"] == {"drop": ["ALL"]}


@every_overlay
def test_containers_are_probed_on_ports_they_have(overlay: str) -> None:
    for container in containers(overlay):
        ports = {port["name"] for port in container["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["port"] in ports
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert container["image"] == "lithify:0.1.0"


@every_overlay
def test_every_part_of_the_system_runs(overlay: str) -> None:
    jobs = {("jobs", queue) for queue in QUEUES if queue != "forgetting"}
    services = {("serve", name) for name in ("gateway", "assembly", "dashboard")}
    workers = {("worker", name) for name in ("embed", "gate", "archive")}
    assert {tuple(container["args"][:2]) for container in containers(overlay)} == services | workers | jobs


@every_overlay
def test_services_budgets_and_policies_select_pods_there_are(overlay: str) -> None:
    labels = [workload["spec"]["template"]["metadata"]["labels"] for workload in workloads(overlay)]
    selectors = [service["spec"]["selector"] for service in of_kind(overlay, "Service")]
    selectors += [budget["spec"]["selector"]["matchLabels"] for budget in of_kind(overlay, "PodDisruptionBudget")]
    for selector in selectors:
        assert any(selector.items() <= found.items() for found in labels), selector
    assert all(found["app.kubernetes.io/part-of"] == "lithify" for found in labels)
    assert len(of_kind(overlay, "NetworkPolicy")) == 2


@every_overlay
def test_only_settings_that_exist_are_set(overlay: str) -> None:
    known = {f"LITHIFY_{name.upper()}" for name in Settings.model_fields}
    [config] = of_kind(overlay, "ConfigMap")
    assert config["data"].keys() <= known
    for secret in of_kind(overlay, "Secret"):
        assert secret["data"].keys() <= known


def test_secrets_of_production_are_not_in_the_repository() -> None:
    assert of_kind("dev", "Secret")
    assert not of_kind("prod", "Secret")


def test_the_autoscaler_looks_at_every_lane_of_every_partition_and_at_the_age() -> None:
    [scaled] = of_kind("prod", "ScaledObject")
    triggers = scaled["spec"]["triggers"]
    streams = [trigger["metadata"]["stream"] for trigger in triggers if trigger["type"] == "redis-streams"]
    assert streams == keys.turn_streams(Settings().partitions)
    assert all("lagCount" in trigger["metadata"] for trigger in triggers if trigger["type"] == "redis-streams")
    [query] = [trigger["metadata"]["query"] for trigger in triggers if trigger["type"] == "prometheus"]
    assert any(level.name in query for level in LEVELS)
    [embed] = [found for found in workloads("prod") if found["metadata"]["name"] == "embed"]
    assert "replicas" not in embed["spec"]
    assert scaled["spec"]["scaleTargetRef"]["name"] == "embed"


def test_every_file_is_used() -> None:
    for kustomization in FOLDER.rglob("kustomization.yaml"):
        told = read_yaml(kustomization)
        used = {*told.get("resources", []), *(patch.get("path") for patch in told.get("patches", []))}
        assert {path.name for path in kustomization.parent.glob("*.yaml")} - used == {"kustomization.yaml"}
