"""The cascade on a real store: where it exits, what it returns, and when it does not trust a prefix (spec 03 §4)."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
import pytest

from lithify.errors import Unavailable
from lithify.memory.vectors.cascade import Cascade
from lithify.memory.vectors.tiers import tier_vectors
from lithify.store import Query, Record, VectorStore, Where
from lithify.store.cascade import OVERSAMPLING, CascadeAnswer, complete_tiers, search_cascade
from tests.contract.samples import ACME, RIVAL, TIERS, id_of

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

SMALL = Cascade(TIERS, (0.65, 0.75))
FULL_ONLY = Cascade((4,), ())
X, Y, Z, W = (tuple(row) for row in np.eye(4).tolist())

Point = Sequence[float]


def point(key: str, vector: Point, missing: Sequence[str] = (), **payload: Any) -> Record:
    tiers = dict(zip(("l1", "l2", "l3"), tier_vectors(np.array(vector), TIERS), strict=True))
    marked = {"missing_tiers": list(missing)} if missing else {}
    return Record(
        id_of(key),
        {"tenant": "acme", "user": "ada", "event_id": key, **marked, **payload},
        {tier: values for tier, values in tiers.items() if tier not in missing},
    )


async def fill(store: VectorStore, name: str, *points: Record) -> None:
    await store.upsert(ACME, name, points)


async def ask(
    store: VectorStore, name: str, vector: Point, limit: int = 1, cascade: Cascade = SMALL, where: Where | None = None
) -> CascadeAnswer:
    wanted = where or Where()
    usable = await complete_tiers(store, ACME, name, wanted, cascade)
    return await search_cascade(store, ACME, name, wanted, np.array(vector), limit, cascade, usable)


def found(answer: CascadeAnswer) -> list[str]:
    return [hit.payload["event_id"] for hit in answer.hits]


def searched(answer: CascadeAnswer) -> list[str]:
    return [row.tier for row in answer.trace]


async def test_an_identical_vector_is_found_in_the_first_tier(store: VectorStore, name: str) -> None:
    """spec 03.3 (exit)"""
    await fill(store, name, point("a", X), point("b", Y))
    answer = await ask(store, name, X)
    assert (found(answer), searched(answer)) == (["a"], ["l1"])
    [row] = answer.trace
    assert (row.dims, row.exited) == (2, True)
    assert row.best == pytest.approx(1.0)


async def test_an_orthogonal_vector_goes_through_all_tiers(store: VectorStore, name: str) -> None:
    """spec 03.3 (no exit)"""
    await fill(store, name, point("a", X))
    answer = await ask(store, name, W)
    assert searched(answer) == ["l1", "l2", "l3"]
    assert [row.exited for row in answer.trace] == [False, False, True]


async def test_records_with_the_full_vector_only_are_found_there(store: VectorStore, name: str) -> None:
    """spec 03.3 (only the full tier)"""
    await fill(store, name, point("a", X, missing=("l1", "l2")))
    answer = await ask(store, name, X)
    assert (found(answer), searched(answer)) == (["a"], ["l3"])


@pytest.mark.parametrize("tier", ["l1", "l2"])
async def test_the_threshold_itself_exits_and_the_next_number_above_does_not(
    store: VectorStore, name: str, tier: str
) -> None:
    """spec 03.4, with the engine's own number: a float32 cannot come as close to 0.65 as the spec's example"""
    await fill(store, name, point("a", (3, 4, 2, 1)))
    probe = (await ask(store, name, (4, 3, 1, 2), cascade=Cascade(TIERS, (1.0, 1.0)))).trace
    best = {row.tier: row.best for row in probe}[tier]
    for threshold, expected in ((best, tier), (float(np.nextafter(best, 2)), "l3")):
        thresholds = (threshold, 1.0) if tier == "l1" else (1.0, threshold)
        answer = await ask(store, name, (4, 3, 1, 2), cascade=Cascade(TIERS, thresholds))
        assert searched(answer)[-1] == expected


async def test_a_partial_tier_never_hides_the_best_match(store: VectorStore, name: str) -> None:
    """spec 03.5"""
    near = (0.9, 0.1, 0, 0)
    await fill(store, name, point("near", near), point("best", X, missing=("l1",)))
    answer = await ask(store, name, X, limit=1)
    assert (found(answer), searched(answer)) == (["best"], ["l3"])


async def test_markers_outside_the_search_do_not_matter(store: VectorStore, name: str) -> None:
    await fill(store, name, point("a", X, session="s1"), point("b", Y, missing=("l1",), session="s2"))
    assert searched(await ask(store, name, X, where=Where().equals("session", "s1"))) == ["l1"]
    assert await complete_tiers(store, RIVAL, name, Where(), SMALL) == {"l1", "l2"}


async def test_scores_after_an_early_exit_are_those_of_the_full_tier(store: VectorStore, name: str) -> None:
    """spec 03.10"""
    random = np.random.default_rng(7)
    vectors = random.normal(size=(12, 4))
    await fill(store, name, *(point(str(n), vector) for n, vector in enumerate(vectors)))
    asked = vectors[3] + 0.1 * random.normal(size=4)
    early = await ask(store, name, asked, limit=5)
    full = await ask(store, name, asked, limit=5, cascade=FULL_ONLY)
    assert (searched(early), searched(full)) == (["l1"], ["l3"])
    assert found(early) == found(full)
    assert [hit.score for hit in early.hits] == pytest.approx([hit.score for hit in full.hits], abs=1e-6)
    assert [hit.payload for hit in early.hits] == [hit.payload for hit in full.hits]


async def test_a_prefix_that_ranks_wrongly_is_put_right(store: VectorStore, name: str) -> None:
    """In the first two components the decoys are nearer; in all four they are not."""
    decoys = [point(f"d{n}", (1, 0, 3, 0)) for n in range(OVERSAMPLING - 1)]
    await fill(store, name, point("best", (1, 0.2, 0, 0)), *decoys)
    answer = await ask(store, name, X, limit=1)
    assert (found(answer), searched(answer)) == (["best"], ["l1"])


async def test_exclusions_come_before_the_cut(store: VectorStore, name: str) -> None:
    await fill(store, name, point("a", X), point("b", (0.99, 0.05, 0, 0)))
    answer = await ask(store, name, X, limit=1, where=Where().without_ids([id_of("a")]))
    assert (found(answer), searched(answer)) == (["b"], ["l1"])


async def test_nothing_stored_is_no_error(store: VectorStore, name: str) -> None:
    answer = await ask(store, name, X)
    assert (answer.hits, searched(answer)) == ([], ["l1", "l2", "l3"])


async def test_a_model_without_prefixes_is_searched_in_full(store: VectorStore, name: str) -> None:
    await fill(store, name, point("a", X))
    assert searched(await ask(store, name, X, cascade=FULL_ONLY)) == ["l3"]


async def test_a_failing_lower_tier_counts_as_empty_and_a_failing_full_one_is_told(
    store: VectorStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(store, name, point("a", X))
    query_batch, broken = store.query_batch, {"l1"}

    async def faulty(scope: Any, collection: str, queries: Sequence[Query], /) -> Any:
        if queries[0].using in broken:
            raise Unavailable("gone")
        return await query_batch(scope, collection, queries)

    monkeypatch.setattr(store, "query_batch", faulty)
    answer = await ask(store, name, X)
    assert [(row.tier, round(row.best, 6)) for row in answer.trace] == [("l1", 0.0), ("l2", 1.0)]
    broken |= {"l2", "l3"}
    with pytest.raises(Unavailable):
        await ask(store, name, X)


def ticking(step_s: float) -> Iterator[float]:
    return (n * step_s for n in count())


@pytest.mark.parametrize(("step_ms", "tiers"), [(10.0, ["l1", "l2", "l3"]), (20.0, ["l1", "l3"]), (60.0, ["l3"])])
async def test_past_the_deadline_only_the_full_tier_is_asked(
    store: VectorStore, name: str, step_ms: float, tiers: list[str]
) -> None:
    """Each look at the clock finds it moved by a step, three looks a tier."""
    await fill(store, name, point("a", X))
    clock = ticking(step_ms / 1000)
    answer = await search_cascade(
        store, ACME, name, Where(), np.array(W), 1, SMALL, {"l1", "l2"}, now=lambda: next(clock)
    )
    assert searched(answer) == tiers
    assert all(row.latency_ms == pytest.approx(step_ms) for row in answer.trace)


async def test_no_tenant_sees_another_through_the_cascade(store: VectorStore, name: str) -> None:
    await fill(store, name, point("a", X))
    usable = await complete_tiers(store, RIVAL, name, Where(), SMALL)
    answer = await search_cascade(store, RIVAL, name, Where(), np.array(X), 5, SMALL, usable)
    assert answer.hits == []
