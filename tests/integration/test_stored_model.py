"""A node whose settings name no model goes on with the one that its memories were made with."""

import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from lithify.cli.doctor.machine import check_model, check_vectors
from lithify.embedding import Embedder
from lithify.embedding.building.profiles import ARCTIC, MINILM
from lithify.embedding.configured import default_profile
from lithify.errors import Misconfigured
from lithify.node.parts import collection_spec, keep_stored_model, open_parts
from lithify.settings import Settings, load_settings
from lithify.store import EdgeStore


@pytest.fixture
async def upgraded(tmp_path: Path, models_dir: Path, minilm: Embedder) -> Settings:
    """A data folder that was filled with MiniLM when it was the default."""
    store = EdgeStore(tmp_path / "vectors")
    await store.ensure(collection_spec(minilm))
    await store.close()
    return load_settings(data_dir=tmp_path, models_dir=models_dir)


def test_a_fresh_node_takes_arctic() -> None:
    assert default_profile() == ARCTIC


async def test_a_fresh_data_folder_gets_the_default(tmp_path: Path, models_dir: Path) -> None:
    settings = load_settings(data_dir=tmp_path, models_dir=models_dir)
    assert await keep_stored_model(settings) == settings


async def test_a_node_opens_its_memories_with_the_model_they_were_made_with(upgraded: Settings) -> None:
    async with AsyncExitStack() as stack:
        with capture_logs() as logs:
            parts = await open_parts(upgraded, stack)
        assert parts.model.embedder.manifest.name == MINILM
        assert parts.keeps_model
        assert parts.settings.embedding_profile == MINILM
    [told] = [entry for entry in logs if entry["event"] == "model_kept"]
    assert (told["profile"], told["default"]) == (MINILM, ARCTIC)


async def test_a_model_that_is_named_is_never_exchanged(upgraded: Settings) -> None:
    named = load_settings(data_dir=upgraded.data_dir, models_dir=upgraded.models_dir, embedding_profile=ARCTIC)
    assert (await keep_stored_model(named)).embedding_profile == ARCTIC
    async with AsyncExitStack() as stack:
        with pytest.raises(Misconfigured):
            await open_parts(named, stack)


async def test_a_model_that_is_not_installed_is_named_with_what_to_run(upgraded: Settings, tmp_path: Path) -> None:
    elsewhere = tmp_path / "models"
    shutil.copytree(upgraded.models_dir / ARCTIC, elsewhere / ARCTIC)
    settings = upgraded.model_copy(update={"models_dir": elsewhere})
    bare = Settings.model_construct(_fields_set={"data_dir", "models_dir"}, **settings.model_dump())
    with pytest.raises(Misconfigured, match=f"made with {MINILM}.*models build --profile {MINILM}.*lithify reembed"):
        await keep_stored_model(bare)


async def test_the_doctor_finds_the_kept_model_in_order_and_says_so(upgraded: Settings) -> None:
    [model] = check_model(upgraded)
    assert model.ok
    assert MINILM in model.detail
    assert "lithify reembed" in model.detail
    store, vectors = check_vectors(upgraded)
    assert (store.ok, vectors.ok) == (True, True)
