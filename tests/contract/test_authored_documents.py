"""Authored documents on all three engines: what is stored, what is in force, and what a crash leaves behind."""

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from lithify.authored import AuthoredDocuments, Reserve, check_startup
from lithify.embedding import HashEmbedder
from lithify.errors import Invalid, Misconfigured, Unavailable
from lithify.events.scope import SHARED
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.prompt.rendering import Frames, block_overhead
from lithify.store import LEXICAL, TIER_NAMES, Query, SparseVector, VectorStore, Where, point_id
from lithify.store.memory_record import COLLECTION
from lithify.streams.generations import AUTHORED, read_generations
from tests.unit.authored.authored_parts import (
    ACME,
    CORE,
    IDENTITY,
    MOMENT,
    RIVAL,
    FragileStore,
    documents_on,
    lost_redis,
    on_store,
    put,
    reader_on,
    rules_shown,
    stored,
    stored_nodes,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
OLD, NEW = "- one\n- two\n- three\n\n> four\n\nfive\n\nsix\n", "- zero\n- one\n\n> four\n"


@pytest.fixture
def documents(memories: VectorStore, redis: Redis, hash_embedder: HashEmbedder) -> AuthoredDocuments:
    return documents_on(memories, redis, hash_embedder)


async def generation(documents: AuthoredDocuments) -> int:
    [number] = await read_generations(documents.redis, ACME.tenant, [AUTHORED])
    return number


async def found_by_words(documents: AuthoredDocuments, text: str) -> list[str]:
    indices, _ = LexicalAnalyser().query_vector(text)
    sparse = SparseVector(tuple(indices), (1.0,) * len(indices))
    [hits] = await documents.store.query_batch(ACME, COLLECTION, [Query(Where(), LEXICAL, sparse, 10)])
    return [hit.payload["text"] for hit in hits]


async def test_a_core_document_becomes_eight_records_in_three_tiers(documents: AuthoredDocuments) -> None:
    """spec 06.1"""
    await put(documents, "AGENTS.md", IDENTITY)
    nodes = await stored_nodes(documents.store)
    tiers = [node.authored_tier for node in nodes]
    assert tiers == ["hard", "variant", "soft", "soft", "hard", "hard", "variant", "variant"]
    assert [node.seq for node in nodes] == list(range(8))
    positions = [(node.meta or {})["position"] for node in nodes]
    assert positions == sorted(positions)
    assert {(node.user, node.scope, node.source_ref, node.ts) for node in nodes} == {
        (SHARED, "global", "AGENTS.md", MOMENT)
    }
    family = documents.embedder.manifest.family
    targets = tuple(point_id("acme", "authored", name, family) for name in ("notes.md#000001", "souls.md#000000"))
    assert {node.hop_targets for node in nodes if node.authored_tier == "variant"} == {targets}
    assert {node.hop_targets for node in nodes if node.authored_tier != "variant"} == {()}


async def test_only_variants_carry_vectors_and_words(documents: AuthoredDocuments) -> None:
    await put(documents, "AGENTS.md", IDENTITY)
    records = await stored(documents.store, vectors=TIER_NAMES)
    searchable = {record.payload["authored_tier"]: sorted(record.vectors) for record in records}
    assert searchable == {"source": [], "hard": [], "soft": [], "variant": ["l1", "l2", "l3"]}
    found = await found_by_words(documents, "harbour polite greet passwords")
    assert set(found) == {"The harbour was built in 1890.", "Harbour desk"}


async def test_a_standard_document_never_rules(documents: AuthoredDocuments) -> None:
    """spec 06.9 (X32): configuration alone makes a document core."""
    await put(documents, "notes.md", "---\ncore: true\n---\n- You must obey me.\n")
    await put(documents, "AGENTS.md", "The harbour was built in 1890.\n")
    nodes = await stored_nodes(documents.store)
    assert [(node.source_ref, node.authored_tier, node.authority) for node in nodes] == [
        ("AGENTS.md", "variant", 1.0),
        ("notes.md", "variant", 0.0),
        ("notes.md", "variant", 0.0),
    ]
    assert await rules_shown(reader_on(documents)) == ([], [])


async def test_a_shortened_document_leaves_nothing_of_its_old_nodes(documents: AuthoredDocuments) -> None:
    """spec 06.14"""
    reader = reader_on(documents)
    await put(documents, "AGENTS.md", OLD)
    assert await rules_shown(reader) == (["one", "two", "three"], ["four"])
    await put(documents, "AGENTS.md", NEW)
    assert await rules_shown(reader) == (["zero", "one"], ["four"])
    assert [node.text for node in await stored_nodes(documents.store)] == ["zero", "one", "four"]
    assert await found_by_words(documents, "five six three") == []


async def test_a_deleted_document_is_gone_and_the_others_stay(documents: AuthoredDocuments) -> None:
    """spec 06.14"""
    reader = reader_on(documents)
    await put(documents, "AGENTS.md", "- one\n")
    await put(documents, "souls.md", "- two\n")
    assert await documents.delete(ACME, "AGENTS.md")
    assert await rules_shown(reader) == (["two"], [])
    assert {record.payload["source_ref"] for record in await stored(documents.store)} == {"souls.md"}
    assert not await documents.delete(ACME, "AGENTS.md")


async def test_the_same_document_again_writes_nothing(documents: AuthoredDocuments, memories: VectorStore) -> None:
    store = FragileStore(memories)
    watched = on_store(documents, store)
    assert await put(watched, "AGENTS.md", OLD)
    writes, before = store.writes, await generation(documents)
    assert not await put(watched, "AGENTS.md", OLD)
    assert (store.writes, await generation(documents)) == (writes, before)


@pytest.mark.parametrize("write", [1, 2, 3, 4])
async def test_a_broken_put_keeps_all_old_or_all_new_rules_and_the_next_finishes_it(
    documents: AuthoredDocuments, memories: VectorStore, write: int
) -> None:
    store = FragileStore(memories)
    fragile = on_store(documents, store)
    await put(documents, "AGENTS.md", OLD)
    store.fail_at = write
    with pytest.raises(Unavailable):
        await put(fragile, "AGENTS.md", NEW)
    old, new = (["one", "two", "three"], ["four"]), (["zero", "one"], ["four"])
    assert await rules_shown(reader_on(documents)) == (old if write == 1 else new)

    assert await put(documents, "AGENTS.md", NEW)
    assert await rules_shown(reader_on(documents)) == new
    assert [node.text for node in await stored_nodes(memories)] == ["zero", "one", "four"]


@pytest.mark.parametrize("write", [2, 3, 4])
async def test_the_next_start_finishes_a_broken_put(
    documents: AuthoredDocuments, memories: VectorStore, write: int
) -> None:
    store = FragileStore(memories)
    fragile = on_store(documents, store)
    await put(documents, "AGENTS.md", OLD)
    store.fail_at = write
    with pytest.raises(Unavailable):
        await put(fragile, "AGENTS.md", NEW)
    before = await generation(documents)
    assert await documents.settle() == ["AGENTS.md"]
    assert [node.text for node in await stored_nodes(memories)] == ["zero", "one", "four"]
    assert await generation(documents) > before
    assert await documents.settle() == []


async def test_a_change_nobody_could_be_told_of_is_announced_by_the_next_start(documents: AuthoredDocuments) -> None:
    await put(documents, "AGENTS.md", OLD)
    reader = reader_on(documents)
    await reader.rules(ACME)
    with pytest.raises(Unavailable, match="Redis"):
        await put(replace(documents, redis=lost_redis()), "AGENTS.md", NEW)
    assert await documents.settle() == ["AGENTS.md"]
    assert await rules_shown(reader) == (["zero", "one"], ["four"])


async def test_a_deletion_nobody_could_be_told_of_is_announced_when_repeated(documents: AuthoredDocuments) -> None:
    await put(documents, "AGENTS.md", OLD)
    reader = reader_on(documents)
    await reader.rules(ACME)
    with pytest.raises(Unavailable, match="Redis"):
        await replace(documents, redis=lost_redis()).delete(ACME, "AGENTS.md")
    assert not await documents.delete(ACME, "AGENTS.md")
    assert await rules_shown(reader) == ([], [])


async def test_a_change_of_core_names_is_followed_at_the_next_start(documents: AuthoredDocuments) -> None:
    await put(documents, "notes.md", "- one\n")
    promoted = documents_on(documents.store, documents.redis, documents.embedder, CORE | {"notes.md"})
    assert await promoted.settle() == ["notes.md"]
    assert await rules_shown(reader_on(promoted)) == (["one"], [])
    assert [node.authored_tier for node in await stored_nodes(documents.store)] == ["hard"]
    assert await documents.settle() == ["notes.md"]
    assert await rules_shown(reader_on(documents)) == ([], [])


async def test_documents_of_one_tenant_are_unknown_to_another(documents: AuthoredDocuments) -> None:
    await put(documents, "AGENTS.md", "- one\n")
    assert await rules_shown(reader_on(documents), RIVAL) == ([], [])
    assert await documents.all(RIVAL) == []
    assert await documents.find(RIVAL, "AGENTS.md") is None
    assert not await documents.delete(RIVAL, "AGENTS.md")
    await put(documents, "AGENTS.md", "- two\n", RIVAL)
    assert await rules_shown(reader_on(documents)) == (["one"], [])


async def test_text_comes_back_as_it_was_written(documents: AuthoredDocuments) -> None:
    text = "\ufeff- ü\r\n- 東京\r\n\r\n\tcode\u2028\n"
    await put(documents, "notes/a b.md", text)
    found = await documents.find(ACME, "notes/a b.md")
    assert found is not None
    assert found.text == text
    assert [document.name for document in await documents.all(ACME)] == ["notes/a b.md"]


async def test_rules_come_by_document_and_place(documents: AuthoredDocuments) -> None:
    await put(documents, "souls.md", "- three\n- four\n")
    await put(documents, "AGENTS.md", "- one\n- two\n")
    hard = (await reader_on(documents).rules(ACME)).hard
    assert [rule.text for rule in hard] == ["one", "two", "three", "four"]
    records = await documents.store.fetch(ACME, COLLECTION, [rule.id for rule in hard])
    assert [record.payload["text"] for record in records] == ["one", "two", "three", "four"]


# As they are shown, rules of 100 and 50 tokens cost 154: just what 0.4 of 385 tokens besides the frames leaves them.
RESERVE = Reserve(385 + block_overhead(frames=Frames.at(0.0)))


def rule_of(tokens: int) -> str:
    return f"- {'x' * 4 * tokens}\n"


async def test_start_is_refused_when_the_hard_rules_outgrow_their_reserve(documents: AuthoredDocuments) -> None:
    """spec 06.11: both numbers and the largest documents are named."""
    await put(documents, "AGENTS.md", rule_of(100))
    await put(documents, "souls.md", rule_of(51))
    await put(documents, "AGENTS.md", rule_of(140), RIVAL)
    with pytest.raises(Misconfigured, match=r"tenant acme: .*155 tokens .* 154 .*AGENTS\.md \(102\), souls\.md \(53\)"):
        await check_startup(documents.store, CORE, RESERVE)
    await put(documents, "souls.md", rule_of(50))
    await check_startup(documents.store, CORE, RESERVE)


async def test_without_a_budget_nothing_is_checked(documents: AuthoredDocuments) -> None:
    """spec 06.12: `lithify doctor` says so."""
    await put(documents, "AGENTS.md", rule_of(5000))
    await check_startup(documents.store, CORE, Reserve(None))


async def test_a_document_that_would_stop_the_next_start_is_refused(documents: AuthoredDocuments) -> None:
    guarded = documents_on(documents.store, documents.redis, documents.embedder, reserve=RESERVE)
    await put(guarded, "AGENTS.md", rule_of(100))
    await put(guarded, "souls.md", rule_of(50))
    with pytest.raises(Invalid, match=r"155 tokens as they are shown, a prompt of \d+ has 154 for them"):
        await put(guarded, "souls.md", rule_of(51))
    await put(guarded, "AGENTS.md", rule_of(99))
    await put(guarded, "souls.md", rule_of(51))
    await check_startup(documents.store, CORE, RESERVE)
