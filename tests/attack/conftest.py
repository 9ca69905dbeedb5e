"""The service under attack: a node of its own a module, or the one that `LITHIFY_ATTACK_URL` names.

Tests that look at files, Redis or processes take `node` and are skipped for a foreign service; those that only send
requests take `target` and run against both. `LITHIFY_ATTACK_KEY` is an admin key of a foreign service.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.integration.node_process import NodeProcess

FOREIGN_URL = os.environ.get("LITHIFY_ATTACK_URL", "")
FOREIGN_KEY = os.environ.get("LITHIFY_ATTACK_KEY", "")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    if FOREIGN_URL:
        pytest.skip("looks at the machine of the node, which a foreign service does not show")
    node = NodeProcess(tmp_path_factory.mktemp("attack") / "data", models_dir)
    node.start()
    yield node
    node.close()


@pytest.fixture(scope="module")
def target(request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """A client of the service, with an admin key where the service asks for one."""
    if not FOREIGN_URL:
        node: NodeProcess = request.getfixturevalue("node")
        yield node.http
        return
    headers = {"Authorization": f"Bearer {FOREIGN_KEY}"} if FOREIGN_KEY else {}
    with httpx.Client(base_url=FOREIGN_URL, headers=headers, timeout=30) as client:
        yield client


@pytest.fixture
def user() -> str:
    """A user that no other test has."""
    return f"attack-{uuid4().hex[:12]}"
