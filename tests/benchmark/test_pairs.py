"""Questions that need two dated turns at once: what the temporal selector of assembly is there for."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import pytest_asyncio

from lithify.assembly.recall.retrieval import Retriever
from lithify.embedding import Embedder
from lithify.embedding.relevance_file import find_calibration
from lithify.evaluation.datasets import Conversation, Dataset, DatasetTurn, load_dataset
from lithify.evaluation.selector import measure_selector
from lithify.events import EVERY_TENANT
from lithify.events.scope import DEFAULT_TENANT
from lithify.indexing import embed_tiers, lexical_vector
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.ranking.profile import RECALL
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.tokens import estimate_tokens
from lithify.store import CollectionSpec, EdgeStore, Record, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord, position_of

FOLDER = Path(__file__).parent / "pairs"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset("locomo", FOLDER)


@pytest_asyncio.fixture
async def retriever(dataset: Dataset, default_model: Embedder, tmp_path: Path) -> AsyncIterator[Retriever]:
    """The turns past the pipeline, stored as it would store them."""
    store, analyser = EdgeStore(tmp_path), LexicalAnalyser()
    low, middle, full = default_model.manifest.tiers or ()
    await store.ensure(CollectionSpec(COLLECTION, (low, middle, full), default_model.fingerprint))
    said = [(conversation, turn) for conversation in dataset.conversations for turn in conversation.turns]
    vectors = embed_tiers([turn.text for _, turn in said], default_model)
    records = [
        Record(
            point_id(DEFAULT_TENANT, "turn", turn.event_id, default_model.manifest.family),
            memory_of(conversation, turn).payload(),
            tiers,
            lexical_vector(turn.text, analyser),
        )
        for (conversation, turn), tiers in zip(said, vectors, strict=True)
    ]
    await store.upsert(EVERY_TENANT, COLLECTION, records)
    with ThreadPoolExecutor(1) as executor:
        yield Retriever(store, default_model, analyser, executor, calibration=find_calibration(default_model, tmp_path))
    await store.close()


def memory_of(conversation: Conversation, turn: DatasetTurn) -> MemoryRecord:
    return MemoryRecord(
        tenant=DEFAULT_TENANT,
        user=conversation.id,
        kind="turn",
        scope="session",
        session=turn.session,
        role=turn.role,
        text=turn.text,
        ts=turn.ts,
        seq=turn.seq,
        event_id=turn.event_id,
        anchors=anchor_density(turn.text),
        token_estimate=estimate_tokens(turn.text),
        position=position_of(conversation.id, turn.session, turn.seq),
    )


async def test_the_selector_brings_both_dates_of_a_pair_into_a_small_context(
    retriever: Retriever, dataset: Dataset
) -> None:
    smallest, *_ = await measure_selector(retriever, dataset, RECALL.normalise())
    assert smallest.questions >= 12
    assert smallest.on.all > smallest.off.all
    assert smallest.on.fraction > smallest.off.fraction
