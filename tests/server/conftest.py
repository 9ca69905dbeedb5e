"""The Qdrant server these tests run."""

import os
from pathlib import Path

import pytest

from tests.store_fixtures import missing_server


@pytest.fixture(scope="session")
def qdrant_binary() -> Path:
    binary = os.environ.get("LITHIFY_TEST_QDRANT_BIN")
    if not binary:
        missing_server("needs a server of its own: set LITHIFY_TEST_QDRANT_BIN (see deploy/tools/fetch-qdrant)")
    return Path(binary or "")
