"""The shipped benchmark with the real default model, on Edge and on a Qdrant server."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from lithify.cli.docs_bench import measured
from lithify.docs.benchmark import ALL, Report
from lithify.docs.rows import COLLECTION
from lithify.docs.terms import Mode
from lithify.embedding import Embedder
from lithify.store import EdgeStore, ServerStore, VectorStore
from tests.unit.docs.docs_parts import executor_of


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.server)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> VectorStore:
    """A store of its own: the other tests' collection has the vectors of another model."""
    if request.param == "edge":
        return EdgeStore(tmp_path / "vectors")
    return ServerStore(request.getfixturevalue("server_url"))


async def run(store: VectorStore, redis: Redis, embedder: Embedder | None) -> Report:
    try:
        await store.drop(COLLECTION)
        return await measured(store, redis, executor_of(), embedder)
    finally:
        await store.drop(COLLECTION)
        await store.close()


async def test_the_fused_search_reaches_its_floors(engine: VectorStore, redis: Redis, minilm: Embedder) -> None:
    scores = (await run(engine, redis, minilm)).scores
    fused, words = scores[Mode.HYBRID], scores[Mode.LEXICAL]
    assert fused[ALL].hit_5 >= 0.97
    assert fused[ALL].hit_1 >= 0.85
    assert fused["identifier"].hit_5 >= words["identifier"].hit_5
    assert fused["identifier"].hit_1 >= words["identifier"].hit_1
    assert fused[ALL].hit_5 > scores[Mode.DENSE][ALL].hit_5


async def test_without_a_model_the_words_are_measured_alone(engine: VectorStore, redis: Redis) -> None:
    report = await run(engine, redis, None)
    assert list(report.outcomes) == [Mode.LEXICAL]
    assert report.scores[Mode.LEXICAL][ALL].hit_5 >= 0.97
    assert report.scores[Mode.LEXICAL]["negative"].negatives > 0
