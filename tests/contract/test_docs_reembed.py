"""Documents follow the memories to another model, and the node can start with it (on Edge and on a server)."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import pytest_asyncio

from lithify.cli.rebuild import describe_reembedding
from lithify.docs.space import COLLECTION, Space
from lithify.embedding import Manifest
from lithify.errors import Misconfigured
from lithify.events import EVERY_TENANT
from lithify.memory.vectors.tiers import MISSING_TIERS
from lithify.node.parts import Model, collection_spec
from lithify.node.reembed import MIDDLE, Reembed, ReembedReport, reembed_everything
from lithify.store import LEXICAL, TIER_NAMES, VectorStore, Where
from lithify.store.memory_record import COLLECTION as MEMORIES
from tests.contract.docs_parts import ACME, ANALYSER, REPO, RIVAL, TIDES, Desk, Fragile, open_desk, refs
from tests.integration.reembed_parts import BATCH, silent
from tests.unit.embedder.backfill_parts import plain

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class Other(Fragile):
    """Of a family of its own, so that every record gets another id."""

    def __init__(self) -> None:
        super().__init__(24, (4, 12, 24))
        self._manifest = Manifest(name="other", model="other", dimensions=24, tiers=(4, 12, 24), max_tokens=512)


OLD = Fragile(32, (8, 16, 32))
NEW = Other()


async def clear(store: VectorStore) -> None:
    for spec in await store.collections():
        if spec.name in (COLLECTION, MEMORIES) or MIDDLE in spec.name:
            await store.drop(spec.name)


@pytest_asyncio.fixture
async def desk(bare_store: VectorStore) -> AsyncIterator[Desk]:
    """Documents of two tenants, one of them promoted, with vectors of the old model; and no memories."""
    await clear(bare_store)
    with ThreadPoolExecutor(2) as executor:
        await bare_store.ensure(collection_spec(OLD))
        desk = await open_desk(bare_store, OLD, executor)
        await filled(desk)
        yield desk
    await clear(bare_store)


async def filled(desk: Desk) -> None:
    await desk.put("tides.md", TIDES)
    await desk.holdings.put(RIVAL, REPO, "gates.md", "# Gates\n\nShut at night.\n")
    await desk.holdings.set_version(ACME, REPO, "9fceb02")
    await desk.embed()


def reembed(desk: Desk) -> Reembed:
    return Reembed(desk.store, Model(NEW, ANALYSER, desk.executor), BATCH, 0.0, silent)


async def contents(desk: Desk) -> dict[str, object]:
    found = (await desk.records(*TIER_NAMES, LEXICAL)).values()
    compared = [replace(one, payload={**one.payload, MISSING_TIERS: []}) for one in found]
    return {one.id: plain(one) for one in compared if one.payload["kind"] != "corpus"}


async def test_moved_documents_are_those_the_new_model_would_have_made(desk: Desk) -> None:
    with pytest.raises(Misconfigured, match="lithify reembed"):
        await desk.store.ensure(Space.of(NEW).spec)
    count = len(await desk.records())
    report = await reembed_everything(reembed(desk))
    await desk.store.ensure(Space.of(NEW).spec)
    assert report.documents is not None
    assert (report.documents.records, report.documents.embedded, report.documents.failed) == (count, 4, 0)
    assert report.documents.kept is not None
    assert report.documents.kept.startswith(COLLECTION)
    assert report.documents.kept in describe_reembedding(report, "new")
    assert f"{count} records of documents: 4 embedded" in describe_reembedding(report, "new")

    desk.embedder = NEW
    moved_over = await contents(desk)
    assert f"doc:{REPO}:tides.md#pumps" in refs(await desk.find("pump", mode="dense"))
    assert not (await desk.put("tides.md", TIDES)).has_changes
    await desk.store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    await filled(desk)
    assert await contents(desk) == moved_over


async def test_a_run_killed_between_memories_and_documents_goes_on_with_the_documents(desk: Desk) -> None:
    first = await reembed(desk).run()
    assert first.documents is None
    with pytest.raises(Misconfigured, match="collection docs holds vectors"):
        await desk.store.ensure(Space.of(NEW).spec)
    assert (await reembed_everything(reembed(desk))).documents is not None
    await desk.store.ensure(Space.of(NEW).spec)
    again = (await reembed_everything(reembed(desk))).documents
    assert again is not None
    assert again.embedded == 0


async def test_where_there_are_no_documents_only_memories_move(desk: Desk) -> None:
    await desk.store.drop(COLLECTION)
    assert (await reembed_everything(reembed(desk))).documents is None
    assert "already" in describe_reembedding(ReembedReport(documents=ReembedReport()), "new")
