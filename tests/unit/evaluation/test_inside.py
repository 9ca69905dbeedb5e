"""What the evaluation asks inside the process is what search and assembly answer, and asked no more than once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from lithify.assembly.deadlines import Deadline
from lithify.assembly.recall.found import FoundMemories
from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.recall.search import search
from lithify.assembly.schema import SearchRequest
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.errors import Unavailable
from lithify.evaluation.ablation import fuse_legs, measure_variants, rank_by
from lithify.evaluation.ablation_variants import make_variants
from lithify.evaluation.answers import Journal
from lithify.evaluation.datasets import Conversation, Dataset, EvidenceQuestion
from lithify.evaluation.inside import IngestedMemory, SharedRetrieval, refuse_partial, scope_of
from lithify.evaluation.question_vectors import QuestionVectorFile
from lithify.evaluation.selector import BUDGETS, measure_selector
from lithify.events.scope import DEFAULT_TENANT
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.passages import ALONE
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.memory.ranking.relevance import Signals
from lithify.memory.vectors.cascade import Cascade
from lithify.store import VectorStore
from tests.contract.assembly_parts import Watched
from tests.contract.search_parts import NOW, Shelf

BASE = RECALL.normalise()
TALK = (
    "We ordered the kitchen tiles on March 3rd.",
    "Kitchen tiles are a science: ordering and laying tiles in kitchens.",
    "Laying kitchen tiles is easy, says my neighbour.",
    "We were laying the tiles on March 29th until 8:15 pm.",
    "The weather was fine all week.",
)
QUESTION = EvidenceQuestion(
    id="q1",
    conversation="ada",
    text="How many days passed between ordering the tiles and laying the tiles?",
    category="pairs",
    evidence=frozenset({"s1", "s4"}),
    sessions=frozenset({"s"}),
    now=NOW,
)
DATASET = Dataset("made", "0" * 64, (Conversation("ada", ()),), (QUESTION,), skipped=0, dangling=0)


@pytest.fixture
def backend() -> str:
    return "edge"


@pytest.fixture
async def memory(memories: VectorStore, hash_embedder: HashEmbedder) -> IngestedMemory:
    shelf = Shelf(memories, hash_embedder)
    await shelf.talk(*TALK, tenant=DEFAULT_TENANT)
    watched = cast("VectorStore", Watched(memories))
    cascade = Cascade((8, 16, 32), (0.9, 0.9), deadline_ms=float("inf"))
    return IngestedMemory(Retriever(watched, hash_embedder, shelf.analyser, shelf.executor), cascade)


@pytest.fixture(autouse=True)
def closed(memory: IngestedMemory) -> Iterator[None]:
    yield
    memory.retriever.executor.shutdown()


@pytest.mark.parametrize("profile", [BASE, SEED], ids=["recall", "seed"])
async def test_a_sitting_ranks_as_search_does(memory: IngestedMemory, profile: Profile) -> None:
    request = SearchRequest(query=QUESTION.text, user="ada", limit=20, now=NOW)
    deadline = Deadline.after(60_000)
    answer = await search(memory.retriever, scope_of(QUESTION), request, profile, now_ms=NOW, deadline=deadline)
    names = await SharedRetrieval(QUESTION).search(memory.retriever, profile)
    assert names == tuple(hit.event_id for hit in answer.hits)
    assert len(names) == len(TALK)


async def test_variants_that_only_rank_anew_share_one_retrieval(memory: IngestedMemory) -> None:
    calls = cast("Watched", memory.retriever.store).calls
    # With the turns around, without them, and by the bare cosine of profile seed.
    for profile in (BASE, replace(BASE, window=ALONE), SEED):
        await SharedRetrieval(QUESTION).search(memory.retriever, profile)
    apart = len(calls)
    sitting = SharedRetrieval(QUESTION)
    for variant in make_variants(BASE):
        if not variant.tiered:
            assert (await rank_by(variant, memory, sitting)).turns
    assert len(calls) == 2 * apart


async def test_a_cascade_is_asked_apart_from_whole_vectors(memory: IngestedMemory) -> None:
    sitting = SharedRetrieval(QUESTION)
    plain = await sitting.search(memory.retriever, BASE)
    assert set(await sitting.search(memory.by_tiers, BASE)) == set(plain)
    assert "count" in [name for name, _ in cast("Watched", memory.retriever.store).calls]


async def test_every_variant_has_a_row_and_is_asked_once(memory: IngestedMemory, tmp_path: Path) -> None:
    asked = list(make_variants(BASE))
    with Journal(tmp_path / "answers.jsonl") as journal:
        rows = await measure_variants(memory, DATASET, asked, journal, lambda *_: None)
    assert [row.name for row in rows] == [variant.name for variant in asked]
    assert {row.scores["fraction"]["10"] for row in rows} == {1.0}
    calls = len(cast("Watched", memory.retriever.store).calls)
    with Journal(tmp_path / "answers.jsonl") as journal:
        assert await measure_variants(memory, DATASET, asked, journal, lambda *_: None) == rows
        assert len(cast("Watched", memory.retriever.store).calls) == calls
        await measure_variants(memory, DATASET, asked[:1], journal, lambda *_: None)
    assert len(cast("Watched", memory.retriever.store).calls) > calls


async def test_the_selector_is_compared_for_questions_that_pass_its_guard_only(memory: IngestedMemory) -> None:
    plain = replace(QUESTION, id="q2", text="Which tiles?", evidence=frozenset({"s1"}))
    found = await measure_selector(memory.retriever, replace(DATASET, questions=(QUESTION, plain)), BASE)
    assert [(row.category, row.questions, row.of, row.budget) for row in found] == [
        ("pairs", 1, 2, budget) for budget in sorted(BUDGETS)
    ]
    largest = found[-1]
    assert (largest.off.all, largest.on.all) == (1.0, 1.0)


def test_fusion_counts_places_and_not_scores() -> None:
    rows = [("a", 0.9, 0.9), ("b", 0.2, 1.0), ("c", 0.1, 0.0)]
    candidates = [
        Candidate(name, "x", Scope.HISTORY, Kind.TURN, Signals(dense=dense, lexical=lexical), source_turn=name)
        for name, dense, lexical in rows
    ]
    assert fuse_legs(candidates) == ("b", "a", "c")


def test_an_answer_in_part_gives_no_figures() -> None:
    with pytest.raises(Unavailable, match="the store is away"):
        refuse_partial(FoundMemories(degraded=["the store is away"]))


class Counting(HashEmbedder):
    asked = 0

    def embed_query(self, text: str):  # type: ignore[no-untyped-def]  # as its parent
        self.asked += 1
        return super().embed_query(text)


def test_a_question_is_embedded_once_and_known_to_the_next_run(tmp_path: Path) -> None:
    embedder = Counting(32, (8, 16, 32))
    with QuestionVectorFile(embedder, tmp_path) as known:
        first = known.embed_query("where?")
        assert known.embed_query("where?") is first
    with QuestionVectorFile(embedder, tmp_path) as again:
        assert again.embed_query("where?").tolist() == first.tolist()
    assert embedder.asked == 1


def test_damaged_vectors_are_made_anew(tmp_path: Path) -> None:
    embedder = Counting(32, (8, 16, 32))
    with QuestionVectorFile(embedder, tmp_path) as known:
        known.embed_query("where?")
    [file] = tmp_path.iterdir()
    file.write_bytes(b"PK\x03\x04torn")
    assert QuestionVectorFile(embedder, tmp_path).embed_query("where?").shape == (32,)
    assert embedder.asked == 2
