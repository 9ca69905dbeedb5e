"""What a write returned for is still there after a restart, however the process ended."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from lithify.errors import Misconfigured, Unavailable
from lithify.store import CollectionSpec, EdgeStore, ServerStore, Where
from lithify.store.edge_folder import EdgeFolder
from lithify.store.schema import INDEXES
from tests.contract.qdrant_server import QdrantServer
from tests.contract.samples import ACME, TIERS, dense, id_of, keys, record

SPEC = CollectionSpec("memories", TIERS, "model-a")

# Writes one record after the other and names each on stdout once its write has returned, until it is killed.
WRITER = """
import asyncio, sys
from pathlib import Path
from lithify.store import EdgeStore, Where
from tests.contract.samples import ACME, record
from tests.contract.test_store_persistence import SPEC

async def write() -> None:
    store = EdgeStore(Path(sys.argv[1]))
    await store.ensure(SPEC)
    for n in range(1_000_000):
        await store.upsert(ACME, SPEC.name, [record(f"n{n}", active=True)])
        await store.set_payload(ACME, SPEC.name, Where().equals("event_id", f"n{n}"), {"active": False})
        print(f"n{n}", flush=True)

asyncio.run(write())
"""

# Holds the folder until its standard input ends.
HOLDER = """
import sys
from pathlib import Path
from lithify.store import EdgeStore
EdgeStore(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def run_script(script: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def written_until_killed(folder: Path, count: int) -> set[str]:
    """The records whose writes had returned when SIGKILL struck, between any two steps of the next."""
    with run_script(WRITER, folder) as writer:
        assert writer.stdout is not None
        returned = [writer.stdout.readline().strip() for _ in range(count)]
        os.kill(writer.pid, signal.SIGKILL)
        returned += writer.stdout.read().split()
    assert writer.returncode == -signal.SIGKILL
    return set(returned)


async def test_edge_keeps_every_returned_write_over_kill_9(tmp_path: Path) -> None:
    returned = await asyncio.to_thread(written_until_killed, tmp_path, 30)
    store = EdgeStore(tmp_path)
    found = await keys(store, SPEC.name, Where())
    settled = await keys(store, SPEC.name, Where().equals("active", False))
    [hits] = await store.query_batch(ACME, SPEC.name, [dense(where=Where().equals("event_id", "n29"))])
    await store.close()
    assert returned <= settled
    # The killed process may have been in the middle of one more.
    assert len(found - returned) <= 1
    assert [hit.id for hit in hits] == [id_of("n29")]


async def test_edge_keeps_deletions_over_kill_9(tmp_path: Path) -> None:
    await asyncio.to_thread(written_until_killed, tmp_path, 3)
    store = EdgeStore(tmp_path)
    await store.delete(ACME, SPEC.name, Where())
    # Not closed: the folder is copied as a crash would leave it.
    crashed = await asyncio.to_thread(copied_without_lock, tmp_path)
    survivor = EdgeStore(crashed)
    left = await survivor.count(ACME, SPEC.name, Where())
    await survivor.close()
    await store.close()
    assert left == 0


def copied_without_lock(folder: Path) -> Path:
    copy = folder / "copy"
    subprocess.run(["cp", "-r", folder / f"{SPEC.name}~1", folder / "collections.json", made(copy)], check=True)
    return copy


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def test_edge_finds_everything_after_a_clean_restart(tmp_path: Path) -> None:
    first = EdgeStore(tmp_path)
    await first.ensure(SPEC)
    await first.upsert(ACME, SPEC.name, [record("a"), record("b")])
    await first.close()
    await first.close()

    second = EdgeStore(tmp_path)
    assert await second.collections() == [SPEC]
    assert await keys(second, SPEC.name, Where()) == {"a", "b"}
    with pytest.raises(Misconfigured, match="configure the former model"):
        await second.ensure(CollectionSpec(SPEC.name, TIERS, "model-b"))
    await second.close()


async def test_edge_leftovers_of_a_crash_while_creating_are_cleared(tmp_path: Path) -> None:
    await EdgeStore(tmp_path).close()
    (tmp_path / f"{SPEC.name}~1" / "segments").mkdir(parents=True)
    store = EdgeStore(tmp_path)
    await store.ensure(SPEC)
    assert await store.count(ACME, SPEC.name, Where()) == 0
    await store.close()


async def test_edge_touches_nothing_when_its_catalogue_is_lost(tmp_path: Path) -> None:
    first = EdgeStore(tmp_path)
    await first.ensure(SPEC)
    await first.upsert(ACME, SPEC.name, [record("a")])
    await first.close()
    catalogue = tmp_path / "collections.json"
    saved = catalogue.read_bytes()
    catalogue.unlink()
    with pytest.raises(Misconfigured, match=r"lost its collections\.json"):
        EdgeStore(tmp_path)

    catalogue.write_bytes(saved)
    second = EdgeStore(tmp_path)
    assert await keys(second, SPEC.name, Where()) == {"a"}
    await second.close()


async def test_edge_says_which_folder_is_lost(tmp_path: Path) -> None:
    first = EdgeStore(tmp_path)
    await first.ensure(SPEC)
    await first.close()
    (tmp_path / f"{SPEC.name}~1").rename(tmp_path / "elsewhere")
    second = EdgeStore(tmp_path)
    health = await second.health()
    await second.close()
    assert not health.ready
    assert f"{SPEC.name}~1" in (health.reason or "")


async def test_a_second_process_on_the_folder_is_refused(tmp_path: Path) -> None:
    with run_script(HOLDER, tmp_path) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Misconfigured, match=f"in use by process {holder.pid}"):
            EdgeStore(tmp_path)
        holder.stdin.close()
    await EdgeStore(tmp_path).close()


async def test_edge_optimises_without_losing_a_record(tmp_path: Path) -> None:
    store = EdgeStore(tmp_path)
    await store.ensure(SPEC)
    await store.upsert(ACME, SPEC.name, [record(f"n{n}", half=n % 2) for n in range(2000)])
    await store.delete(ACME, SPEC.name, Where().equals("half", 1))
    assert await store.optimise(SPEC.name)
    assert await store.count(ACME, SPEC.name, Where()) == 1000
    await store.upsert(ACME, SPEC.name, [record("late")])
    assert await store.count(ACME, SPEC.name, Where()) == 1001
    await store.close()


@pytest.mark.server
async def test_the_server_keeps_every_completed_write_over_kill_9(own_server: QdrantServer) -> None:
    store = ServerStore(own_server.url)
    await store.ensure(SPEC)
    await store.upsert(ACME, SPEC.name, [record(f"n{n}") for n in range(10)])
    own_server.kill()
    assert not (await store.health()).ready
    with pytest.raises(Unavailable, match="cannot be reached"):
        await store.upsert(ACME, SPEC.name, [record("lost")])

    own_server.start()
    assert await keys(store, SPEC.name, Where()) == {f"n{n}" for n in range(10)}
    await store.upsert(ACME, SPEC.name, [record("later")])
    assert await store.count(ACME, SPEC.name, Where()) == 11
    await store.close()


def without_pieces(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Lets the module know the indexes of the release before there were pieces."""
    earlier = {name: kind for name, kind in INDEXES.items() if name not in ("parent", "divided")}
    monkeypatch.setattr(f"lithify.store.{module}.INDEXES", earlier)


async def test_edge_adds_the_indexes_an_older_collection_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        without_pieces(earlier, "edge_collection")
        store = EdgeStore(tmp_path)
        await store.ensure(SPEC)
        await store.close()
    opened = EdgeFolder(tmp_path)
    opened.ensure(SPEC)
    assert set(INDEXES) <= set(opened.open(SPEC.name).engine.info().payload_schema)
    opened.close()


@pytest.mark.server
async def test_a_server_adds_the_indexes_an_older_collection_lacks(
    own_server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = AsyncQdrantClient(own_server.url, check_compatibility=False)
    store = ServerStore(own_server.url, client=client)
    with monkeypatch.context() as earlier:
        without_pieces(earlier, "server_collections")
        await store.ensure(SPEC)
    before = (await client.get_collection(SPEC.name)).payload_schema
    await store.ensure(SPEC)
    after = (await client.get_collection(SPEC.name)).payload_schema
    assert set(after) - set(before) == {"parent", "divided"}
    await store.close()
