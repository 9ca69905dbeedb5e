"""Every kind of condition selects exactly its records; pages and counts are complete."""

from collections.abc import Mapping

import pytest

from lithify.errors import Invalid
from lithify.events import EVERY_TENANT, TenantScope
from lithify.store import VectorStore, Where
from tests.contract.samples import ACME, dense, id_of, keys, lexical, record

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

RECORDS = [
    record("a", session="s1", kind="turn", role="user", active=True, ts=100, seq=1, missing_tiers=[]),
    record("b", session="s1", kind="turn", role="assistant", active=False, ts=200, seq=2, missing_tiers=["l3"]),
    record("c", session="s2", kind="memory", role="user", active=True, ts=300, seq=3, missing_tiers=["l2", "l3"]),
    record("d", session="s2", kind="summary", active=True, ts=1_700_000_000_000, note=None),
]

SELECTIONS: Mapping[str, tuple[Where, set[str]]] = {
    "everything": (Where(), {"a", "b", "c", "d"}),
    "text": (Where().equals("kind", "turn"), {"a", "b"}),
    "number": (Where().equals("seq", 2), {"b"}),
    "true": (Where().equals("active", True), {"a", "c", "d"}),
    "false": (Where().equals("active", False), {"b"}),
    "element of a list": (Where().equals("missing_tiers", "l3"), {"b", "c"}),
    "session": (Where().equals("session", "s1"), {"a", "b"}),
    "any of texts": (Where().any_of("kind", ["memory", "summary", "none such"]), {"c", "d"}),
    "any of numbers": (Where().any_of("seq", [1, 3]), {"a", "c"}),
    "any of nothing": (Where().any_of("kind", []), set()),
    "none of texts": (Where().none_of("kind", ["memory", "summary", "none such"]), {"a", "b"}),
    "none of numbers": (Where().none_of("seq", [1, 3]), {"b", "d"}),
    "none of a list": (Where().none_of("missing_tiers", ["l2"]), {"a", "b", "d"}),
    "none of nothing": (Where().none_of("kind", []), {"a", "b", "c", "d"}),
    "none of very many": (Where().none_of("event_id", ["a", *map(str, range(4096))]), {"b", "c", "d"}),
    "from": (Where().between("ts", 200), {"b", "c", "d"}),
    "until": (Where().between("ts", None, 200), {"a", "b"}),
    "between": (Where().between("ts", 101, 300), {"b", "c"}),
    "exact millisecond": (Where().between("ts", 1_700_000_000_000, 1_700_000_000_000), {"d"}),
    "differs": (Where().differs("role", "user"), {"b", "d"}),
    "is not true": (Where().differs("active", True), {"b"}),
    "ids": (Where().ids([id_of("a"), id_of("d"), id_of("none such")]), {"a", "d"}),
    "no ids": (Where().ids([]), set()),
    "without ids": (Where().without_ids([id_of("a"), id_of("d")]), {"b", "c"}),
    "without no ids": (Where().without_ids([]), {"a", "b", "c", "d"}),
    "missing": (Where().missing("role"), {"d"}),
    "missing as null": (Where().missing("note"), {"a", "b", "c", "d"}),
    "missing as empty list": (Where().missing("missing_tiers"), {"a", "d"}),
    "present": (Where().present("missing_tiers"), {"b", "c"}),
    "all together": (Where().equals("active", True).differs("kind", "turn").between("ts", 300), {"c", "d"}),
    "joined": (Where().equals("kind", "turn") & Where().differs("role", "user"), {"b"}),
    "unindexed field": (Where().equals("agent", "nobody"), set()),
}


@pytest.mark.parametrize("case", SELECTIONS)
async def test_a_condition_selects_exactly_its_records(store: VectorStore, name: str, case: str) -> None:
    where, expected = SELECTIONS[case]
    await store.upsert(ACME, name, RECORDS)
    assert await keys(store, name, where) == expected
    for hits in await store.query_batch(ACME, name, [dense(where=where), lexical((1,), where)]):
        assert {hit.payload["event_id"] for hit in hits} == expected


async def test_pages_are_complete_and_without_repetition(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record(f"n{n}", parity=n % 2) for n in range(50)])
    seen, after = [], None
    while True:
        page = await store.scroll(ACME, name, Where().equals("parity", 1), limit=7, after=after)
        seen += [found.id for found in page.records]
        if page.next is None:
            break
        after = page.next
    assert seen == sorted(id_of(f"n{n}") for n in range(1, 50, 2))


async def test_pages_stay_sound_while_records_come_and_go(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record(f"n{n}") for n in range(30)])
    first = await store.scroll(ACME, name, Where(), limit=10)
    assert first.next is not None
    await store.delete(ACME, name, Where().ids([first.next]))
    await store.upsert(ACME, name, [record(f"late{n}") for n in range(30)])
    rest = await store.scroll(ACME, name, Where(), limit=100, after=first.next)

    seen = [found.id for found in (*first.records, *rest.records)]
    assert rest.next is None
    assert len(seen) == len(set(seen))
    assert {id_of(f"n{n}") for n in range(30)} - {first.next} <= set(seen)


async def test_a_page_that_ends_exactly_is_the_last(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a"), record("b")])
    page = await store.scroll(ACME, name, Where(), limit=2)
    assert len(page.records) == 2
    assert page.next is None


async def test_fetch_keeps_the_order_and_leaves_out_what_is_unknown(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a"), record("b"), record("c")])
    asked = [id_of("c"), "not a uuid", id_of("nobody"), id_of("a").upper(), id_of("c")]
    found = await store.fetch(ACME, name, asked)
    assert [r.payload["event_id"] for r in found] == ["c", "a"]
    assert await store.fetch(ACME, name, []) == []


async def test_every_tenant_sees_all(store: VectorStore, name: str) -> None:
    await store.upsert(EVERY_TENANT, name, [record("a", session="s"), record("b", tenant="rival", session="s")])
    assert await store.count(EVERY_TENANT, name, Where().equals("session", "s")) == 2
    assert await store.count(TenantScope("acme"), name, Where().equals("session", "s")) == 1


@pytest.mark.parametrize(
    ("limit", "after", "names"),
    [(0, None, ()), (5, "not a uuid", ()), (5, None, ("l9",))],
    ids=["limit", "after", "l9"],
)
async def test_a_senseless_page_is_refused(
    store: VectorStore, name: str, limit: int, after: str | None, names: tuple[str, ...]
) -> None:
    with pytest.raises(Invalid):
        await store.scroll(ACME, name, Where(), limit=limit, after=after, with_vectors=names)
