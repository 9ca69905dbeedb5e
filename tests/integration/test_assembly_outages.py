"""Dependencies die while contexts are being assembled: answers keep coming, say so, and recover by themselves."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lithify.embedding.configured import default_profile
from tests.contract.qdrant_server import QdrantServer
from tests.integration.assembly_load import AssemblyLoad, is_degraded, is_well, tell
from tests.integration.node_process import NodeProcess

PROFILE = default_profile()


@pytest.fixture
def node(tmp_path: Path, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path / "data", models_dir, LITHIFY_CHECK_INVARIANTS="true")
    node.start()
    tell(node)
    yield node
    node.close()


def test_redis_dies_under_load(node: NodeProcess) -> None:
    with AssemblyLoad(node) as load:
        load.wait_for(is_well)
        os.kill(int((node.data_dir / "redis" / "server.lock").read_text()), signal.SIGKILL)
        load.wait_for(is_degraded)
        load.wait_for(is_well)


@pytest.mark.server
def test_qdrant_dies_under_load(tmp_path: Path, models_dir: Path, own_server: QdrantServer) -> None:
    node = NodeProcess(tmp_path / "data", models_dir, LITHIFY_QDRANT_URL=own_server.url)
    node.start()
    try:
        tell(node)
        with AssemblyLoad(node) as load:
            load.wait_for(is_well)
            own_server.kill()
            load.wait_for(is_degraded)
            own_server.start()
            load.wait_for(is_well)
    finally:
        node.close()


def test_the_model_file_breaks_under_load(tmp_path: Path, models_dir: Path) -> None:
    """What is loaded keeps answering; the file is needed again at the next start only."""
    shutil.copytree(models_dir / PROFILE, tmp_path / "models" / PROFILE)
    node = NodeProcess(tmp_path / "data", tmp_path / "models")
    node.start()
    files = [file for file in (tmp_path / "models" / PROFILE).iterdir() if file.suffix == ".onnx"]
    try:
        tell(node)
        with AssemblyLoad(node) as load:
            load.wait_for(is_well)
            for file in files:
                file.write_bytes(b"broken")
            for _ in range(10):
                load.wait_for(is_well)
    finally:
        node.close()
    assert files
