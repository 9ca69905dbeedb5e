"""`lithify rebuild` on the embedded parts of a stopped node: from the streams to the archive to a new collection."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from lithify.errors import Misconfigured
from lithify.node.rebuild import drop_kept, run_rebuild
from lithify.settings import Settings, load_settings
from lithify.store.memory_record import COLLECTION
from tests.integration.rebuild_parts import (
    BATCH,
    Contents,
    closed_store,
    contents,
    event_ids,
    memorable,
    quiet,
    turns,
    workers,
)
from tests.integration.stream_parts import eventually

# Their positions are counted on acceptance.
EVENTS = [replace(event, seq=None) for event in turns(100)]

COMMAND = "import typer; from lithify.cli.rebuild import rebuild; typer.run(rebuild)"

PAUSING = """
import asyncio, sys
from pathlib import Path
from lithify.node.rebuild import run_rebuild
from lithify.settings import load_settings

def told(stage, done, total):
    if stage == "embedding" and done < total:
        print("paused", flush=True)
        sys.stdin.readline()

data_dir, batch = sys.argv[1:]
settings = load_settings(data_dir=data_dir, embedding_profile="hash", partitions=2, embed_batch_turns=int(batch))
asyncio.run(run_rebuild(settings, Path(data_dir) / "archive", carry=True, progress=told))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(
        data_dir=tmp_path / "data", embedding_profile="hash", partitions=2, embed_batch_turns=BATCH, embed_slots=1
    )


@pytest.fixture
def archive(settings: Settings) -> Path:
    return settings.data_dir / "archive"


@asynccontextmanager
async def node(settings: Settings, archive: Path | None) -> AsyncIterator[None]:
    """A node that has accepted and handled EVENTS; without an archive worker if there is no archive."""
    async with workers(settings, archive) as (producer, consumers):
        await producer.accept([(event, "digest") for event in EVENTS])
        await eventually(lambda: all(consumer.tally.handled == len(EVENTS) for consumer in consumers))
        yield


async def contents_of(settings: Settings, collection: str = COLLECTION) -> Contents:
    async with closed_store(settings.data_dir) as store:
        return await contents(store, collection)


async def test_a_lost_store_comes_back_by_the_command(settings: Settings, archive: Path) -> None:
    async with node(settings, archive):
        pass
    original = await contents_of(settings)
    assert event_ids(original) == memorable(EVENTS)
    shutil.rmtree(settings.data_dir / "vectors")

    environment = os.environ | {"LITHIFY_EMBEDDING_PROFILE": "hash", "LITHIFY_PARTITIONS": "2"}
    command = [sys.executable, "-c", COMMAND, "--data-dir", str(settings.data_dir), "--json"]
    result = subprocess.run(command, env=environment, capture_output=True, check=False)  # noqa: ASYNC221 - no other task
    assert result.returncode == 0, result.stderr
    printed = orjson.loads(result.stdout)
    assert (printed["archived"], printed["verified"], printed["damage"]) == (100, len(memorable(EVENTS)), [])
    assert printed["kept"] is None, "there is no use in keeping an empty collection"
    assert await contents_of(settings) == original


async def test_events_that_wait_for_the_archive_are_archived_first(settings: Settings, archive: Path) -> None:
    async with node(settings, archive=None):
        pass
    original = await contents_of(settings)
    shutil.rmtree(settings.data_dir / "vectors")
    report = await run_rebuild(settings, archive, carry=True, progress=quiet)
    assert report.archived == len(EVENTS)
    assert await contents_of(settings) == original


async def test_kill_9_while_embedding_costs_only_what_was_not_stored(settings: Settings, archive: Path) -> None:
    async with node(settings, archive):
        pass
    original = await contents_of(settings)
    command = [sys.executable, "-c", PAUSING, str(settings.data_dir), str(BATCH)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: ASYNC220 - no other task
        assert process.stdout is not None
        assert process.stdout.readline() == b"paused\n"
        process.kill()
    assert await drop_kept(settings, archive) == [], "what is being built is not old"
    assert await contents_of(settings) == original

    report = await run_rebuild(settings, archive, carry=True, progress=quiet)
    assert 0 < report.verified - report.embedded <= BATCH
    assert await contents_of(settings) == original
    assert report.kept is not None
    assert await contents_of(settings, report.kept) == original
    assert await drop_kept(settings, archive) == [report.kept]
    assert await contents_of(settings) == original


async def test_a_running_node_is_not_rebuilt_under_its_feet(settings: Settings, archive: Path) -> None:
    async with node(settings, archive):
        with pytest.raises(Misconfigured, match=r"in use by process \d+: stop it"):
            await run_rebuild(settings, archive, carry=True, progress=quiet)


async def test_without_an_archive_there_is_nothing_to_rebuild_from(settings: Settings, archive: Path) -> None:
    switched_off = settings.model_copy(update={"archive": False})
    with pytest.raises(Misconfigured, match="LITHIFY_ARCHIVE is false"):
        await run_rebuild(switched_off, archive, carry=True, progress=quiet)
    assert not settings.data_dir.exists()
