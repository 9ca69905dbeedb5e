"""A rebuild against a Qdrant server in use: whatever is accepted meanwhile is in the collection afterwards."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lithify.node.rebuild import drop_kept, run_rebuild
from lithify.settings import load_settings
from lithify.store import ServerStore
from lithify.streams import Consumer, Producer
from tests.contract.qdrant_server import QdrantServer
from tests.integration.rebuild_parts import BATCH, contents, event_ids, memorable, quiet, turns, workers
from tests.integration.stream_parts import eventually
from tests.store_fixtures import missing_server

pytestmark = pytest.mark.server


@pytest.fixture
def qdrant_url(tmp_path: Path) -> Iterator[str]:
    """A server of our own: the test puts collections in the place of others."""
    binary = os.environ.get("LITHIFY_TEST_QDRANT_BIN")
    if not binary:
        missing_server("needs a server of its own: set LITHIFY_TEST_QDRANT_BIN (see deploy/tools/fetch-qdrant)")
    server = QdrantServer(Path(binary or ""), tmp_path)
    server.start()
    yield server.url
    server.stop()


async def keep_accepting(producer: Producer, consumers: list[Consumer], stop: asyncio.Event) -> int:
    """Turns, one after the other as they are stored, until told to stop; returns how many."""
    accepted = 0
    while not stop.is_set():
        [event] = turns(1, accepted)
        await producer.accept([(replace(event, seq=None), "digest")])
        accepted += 1
        await eventually(partial(has_handled, consumers[0], accepted))
    return accepted


def has_handled(consumer: Consumer, count: int) -> bool:
    return consumer.tally.handled >= count


async def test_nothing_accepted_during_the_rebuild_is_missing_after_it(
    redis_url: str, qdrant_url: str, tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    settings = load_settings(
        data_dir=tmp_path / "data",
        redis_url=redis_url,
        qdrant_url=qdrant_url,
        embedding_profile="hash",
        partitions=2,
        embed_batch_turns=BATCH,
        embed_slots=1,
    )
    stop = asyncio.Event()
    async with workers(settings, archive) as (producer, consumers):
        load = asyncio.create_task(keep_accepting(producer, consumers, stop))
        await eventually(lambda: consumers[0].tally.handled >= 50)
        report = await run_rebuild(settings, archive, carry=True, progress=quiet)
        done = consumers[0].tally.handled
        await eventually(lambda: consumers[0].tally.handled >= done + 20)
        stop.set()
        accepted = turns(await load)
        await eventually(lambda: all(consumer.tally.handled == len(accepted) for consumer in consumers))

    store = ServerStore(qdrant_url)
    assert event_ids(await contents(store)) == memorable(accepted)
    assert report.kept is not None
    # Turns went on being stored in the former collection until the switch, and none after it.
    assert memorable(accepted[:50]) <= event_ids(await contents(store, report.kept)) < memorable(accepted)
    assert await drop_kept(settings, archive) == [report.kept]
    assert event_ids(await contents(store)) == memorable(accepted)
    await store.close()
