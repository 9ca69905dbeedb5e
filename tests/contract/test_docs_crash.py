"""A writer of documents that dies at any of its writes leaves what the next sync heals, on all engines."""

from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
import pytest_asyncio

from lithify.docs.sources import DocSource
from lithify.store import LEXICAL, VectorStore
from tests.contract.docs_parts import ACME, REPO, TIDES, Desk, Fragile, open_desk
from tests.unit.embedder.backfill_parts import Died, plain

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

WRITES = ("upsert", "delete", "set_payload", "set_payloads", "set_vectors")
LONG = "Lock the gate. " * 300
BEFORE = {"tides.md": TIDES, "gates.md": f"# Gates\n\n{LONG}\n\n# Locks\n\nShut.\n", "gone.md": "# Gone\n\nSoon.\n"}
AFTER = {"tides.md": TIDES.replace("P-17", "P-18"), "gates.md": "# Gates\n\nOpen.\n", "new.md": "# New\n\nQuay.\n"}

Action = Callable[[Desk], Awaitable[object]]


class Mortal:
    """A store of a process that dies before, or after, its nth write."""

    def __init__(self, store: VectorStore, deadly: int, *, after: bool) -> None:
        self._store, self._deadly, self._after = store, deadly, after
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        return self._counted(call) if name in WRITES else call

    def _counted(self, call: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def counted(*args: Any) -> None:
            self.writes += 1
            if self.writes == self._deadly and not self._after:
                raise Died
            await call(*args)
            if self.writes == self._deadly:
                raise Died

        return counted


@pytest_asyncio.fixture
async def desk(bare_store: VectorStore) -> AsyncIterator[Desk]:
    with ThreadPoolExecutor(2) as executor:
        yield await open_desk(bare_store, Fragile(32, (8, 16, 32)), executor)


async def sync(desk: Desk, files: dict[str, str] = AFTER) -> None:
    """As a sync does it: only what the digests say, then what is gone."""
    known = await desk.holdings.digests(ACME, REPO)
    sources = [DocSource(path, text, source_kind="web") for path, text in files.items()]
    await desk.holdings.put_all(ACME, REPO, [one for one in sources if known.get(one.path) != one.digest])
    if gone := [path for path in known if path not in files]:
        await desk.holdings.remove_all(ACME, REPO, gone)


async def promote(desk: Desk) -> None:
    await desk.holdings.promote(ACME, REPO, "gates.md", "trusted", by="ada", why="checked")


async def contents(desk: Desk) -> dict[str, Any]:
    """All that a reader can see, without what differs from one run to the next."""
    names = ("ruling_id", "generation", "ruling", "writing")
    found = (await desk.records(LEXICAL)).values()
    shown = [
        plain(record)[0] | {"words": plain(record)[2]} | dict.fromkeys(names)
        for record in found
        if record.payload["kind"] != "ruling"
    ]
    return {one.get("record_ref") or one.get("doc_id") or one["kind"]: one for one in shown}


async def deaths(desk: Desk, action: Action, *, after: bool) -> AsyncIterator[str]:
    """Lets the action die at its first write, then at the second, until it lives; the generation before it began."""
    store = desk.store
    for deadly in range(1, 20):
        await open_desk(store, desk.embedder, desk.executor)
        await sync(desk, BEFORE)
        generation = (await desk.holdings.corpus(ACME)).generation
        mortal = Mortal(store, deadly, after=after)
        desk.store = cast("VectorStore", mortal)
        try:
            await action(desk)
            return
        except Died:
            yield generation
        finally:
            desk.store = store


@pytest.mark.parametrize("after", [False, True])
async def test_a_sync_that_dies_at_any_write_is_healed_by_the_next(desk: Desk, *, after: bool) -> None:
    await sync(desk, BEFORE)
    await sync(desk)
    expected = await contents(desk)
    died = 0
    async for _ in deaths(desk, sync, after=after):
        await sync(desk)
        assert await contents(desk) == expected
        died += 1
    assert died >= 5


@pytest.mark.parametrize("after", [False, True])
async def test_no_two_states_of_the_corpus_share_a_generation(desk: Desk, *, after: bool) -> None:
    """spec 10.15: a receipt of before a crash must not seem to be of the state after it."""
    await sync(desk, BEFORE)
    finished = await contents(desk)
    moved = []
    async for generation in deaths(desk, sync, after=after):
        moved.append(await contents(desk) != finished)
        assert (await desk.holdings.corpus(ACME)).generation != generation or not moved[-1]
        await sync(desk)
        assert (await desk.holdings.corpus(ACME)).generation != generation
    assert any(moved)


@pytest.mark.parametrize("after", [False, True])
async def test_a_promotion_that_dies_is_never_without_its_audit_record(desk: Desk, *, after: bool) -> None:
    """spec 10.14"""
    died = 0
    async for _ in deaths(desk, promote, after=after):
        died += 1
        ruled = await desk.holdings.rulings(ACME)
        trusted = {located.chunk.trust for located in await desk.holdings.chunks(ACME, REPO, "gates.md")}
        assert ruled or trusted == {"untrusted"}
        await sync(desk, BEFORE)
        document = await desk.holdings.document(ACME, REPO, "gates.md")
        assert document is not None
        healed = {located.chunk.trust for located in await desk.holdings.chunks(ACME, REPO, "gates.md")}
        assert healed == {document.trust}
        assert await desk.holdings.digests(ACME, REPO) == {
            path: DocSource(path, text, source_kind="web").digest for path, text in BEFORE.items()
        }
    assert died >= 3


async def test_a_ruling_on_a_document_that_a_crash_left_does_not_finish_it(desk: Desk) -> None:
    store = desk.store
    desk.store = cast("VectorStore", Mortal(store, 1, after=True))
    with pytest.raises(Died):
        await desk.put("gates.md", BEFORE["gates.md"], source_kind="web")
    desk.store = store
    await promote(desk)
    assert await desk.holdings.digests(ACME, REPO) == {"gates.md": ""}
    await sync(desk, {"gates.md": BEFORE["gates.md"]})
    assert {located.chunk.trust for located in await desk.holdings.chunks(ACME, REPO, "gates.md")} == {"trusted"}
