"""One node a module: its tests use users of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.node_process import NodeProcess


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path_factory.mktemp("answers") / "data", models_dir)
    node.start()
    yield node
    node.close()
