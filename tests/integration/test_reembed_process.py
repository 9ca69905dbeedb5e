"""`lithify reembed` as a process on the embedded store: killed at every step, it goes on and ends right."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson

from lithify.embedding import load_embedder
from lithify.node.parts import collection_spec
from lithify.node.reembed import drop_former
from lithify.settings import load_settings
from lithify.store import EdgeStore
from lithify.store.memory_record import COLLECTION
from lithify.streams.crash import EXIT_CODE
from tests.integration.reembed_parts import Contents, Move, NamedEmbedder

# `lithify` without its other commands, which are not what is tested here.
PROGRAM = "import typer; from lithify.cli.rebuild import reembed; typer.run(reembed)"


def reembed(data_dir: Path, *arguments: str, crash_at: str | None = None) -> "subprocess.CompletedProcess[str]":
    settings = {
        "LITHIFY_DATA_DIR": str(data_dir),
        "LITHIFY_EMBEDDING_PROFILE": "hash",
        "LITHIFY_EMBED_BATCH_TURNS": "16",
        **({"LITHIFY_CRASH_AT": crash_at} if crash_at else {}),
    }
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=120, check=False)


async def filled(data_dir: Path) -> Contents:
    """Memories of a former model in the data folder of a node that is not running; returns how they are to become."""
    store = EdgeStore(data_dir / "vectors")
    with ThreadPoolExecutor(1) as executor:
        move = Move(store, executor, NamedEmbedder("former"), NamedEmbedder("unused"))
        await move.fill()
    await store.close()
    return move.made_by(load_embedder(data_dir, "hash", threads=1))


async def looked_at(data_dir: Path) -> tuple[Contents, list[str]]:
    store = EdgeStore(data_dir / "vectors")
    with ThreadPoolExecutor(1) as executor:
        contents = await Move(store, executor, NamedEmbedder("any"), NamedEmbedder("any")).contents()
    names = [spec.name for spec in await store.collections()]
    await store.close()
    return contents, names


async def test_a_killed_process_goes_on_and_the_node_can_start_afterwards(tmp_path: Path) -> None:
    expected = await filled(tmp_path)
    for point in ("reembed_batch", "reembed_before_switch", "reembed_after_switch"):
        assert reembed(tmp_path, crash_at=point).returncode == EXIT_CODE
        if point != "reembed_after_switch":
            assert await drop_former(load_settings(data_dir=tmp_path)) == [], "what is half made is not old"
    done = reembed(tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = orjson.loads(done.stdout)
    assert (report["embedded"], report["late"]) == (0, 0), "the killed runs had done it all"
    contents, names = await looked_at(tmp_path)
    assert contents == expected
    assert names == [COLLECTION, report["kept"]]

    store = EdgeStore(tmp_path / "vectors")
    await store.ensure(collection_spec(load_embedder(tmp_path, "hash", threads=1)))
    await store.close()
    assert await drop_former(load_settings(data_dir=tmp_path)) == [report["kept"]]
    assert (await looked_at(tmp_path))[1] == [COLLECTION]


async def test_a_running_node_is_named_instead_of_being_disturbed(tmp_path: Path) -> None:
    store = EdgeStore(tmp_path / "vectors")
    refused = reembed(tmp_path)
    await store.close()
    assert refused.returncode != 0
    assert "in use by process" in refused.stderr
