"""Receipts stay small, say what they had to leave out, and expire."""

from typing import Any

import orjson
import pytest
from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline
from lithify.assembly.traces import MAX_BYTES, MAX_TEXT, TraceBook, shrink_receipt
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.http import NotFound
from lithify.streams import keys, open_producer

SCOPE = TenantScope("t")


def big_trace(rows: int, query: str = "q") -> dict[str, Any]:
    return {
        "query": query,
        "considered": [{"id": f"record-{n}", "score": 1 / (n + 1)} for n in range(rows)],
        "tail": [{"id": "t", "cost": 1}],
    }


def test_a_small_receipt_is_kept_as_it_is() -> None:
    trace = big_trace(10)
    assert orjson.loads(shrink_receipt(trace)) == trace


def test_a_large_receipt_loses_its_worst_candidates_and_says_how_many() -> None:
    kept = orjson.loads(shrink_receipt(big_trace(20_000)))
    rows = kept["considered"]
    assert len(shrink_receipt(big_trace(20_000))) <= MAX_BYTES
    assert rows[0]["id"] == "record-0"
    assert 0 < len(rows) == 20_000 - kept["shortened"]["considered"]
    assert kept["tail"] == [{"id": "t", "cost": 1}]


@pytest.mark.parametrize("letter", ["x", "東", '"'])
def test_a_huge_question_is_cut_and_marked(letter: str) -> None:
    kept = orjson.loads(shrink_receipt(big_trace(10, letter * 262_144)))
    assert kept["query"] == letter * MAX_TEXT
    assert kept["shortened"]["query"] == 262_144 - MAX_TEXT


def test_lists_inside_a_part_lose_their_end_too() -> None:
    hits = [{"ref": f"chunk-{n}"} for n in range(40_000)]
    kept = orjson.loads(shrink_receipt({"query": "q", "vector": {"hits": hits}}))
    assert 0 < len(kept["vector"]["hits"]) == 40_000 - kept["shortened"]["vector.hits"]


async def test_a_receipt_can_be_read_by_its_tenant_until_it_expires(redis: Redis) -> None:
    book = TraceBook(redis, ttl_s=30)
    trace_id, complaints = await book.keep(SCOPE, big_trace(1), Deadline.after(1_000))
    assert complaints == []
    assert await book.read(SCOPE, trace_id) == big_trace(1)
    with pytest.raises(NotFound, match=trace_id):
        await book.read(TenantScope("other"), trace_id)
    assert 0 < await redis.ttl(keys.trace("t", trace_id)) <= 30


async def test_a_receipt_that_cannot_be_kept_is_an_outage_and_a_complaint() -> None:
    async with open_producer("redis://127.0.0.1:1") as nobody:
        book = TraceBook(nobody, ttl_s=30)
        with pytest.raises(Unavailable):
            await book.write(SCOPE, "x", {})
        _, [complaint] = await book.keep(SCOPE, {}, Deadline.after(1_000))
    assert complaint.startswith("the receipt could not be kept")
