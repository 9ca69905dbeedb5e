"""Receipts are stored small, say what they had to leave out, and can be read by every release after."""

import random
from typing import Any

import orjson
import pytest

from lithify.traces import pack_trace, unpack_trace
from lithify.traces.codec import MAX_BYTES, MAX_TEXT, shrink_receipt

CANDIDATES = 100
SIGNALS = 25


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


def test_a_packed_receipt_takes_a_fraction_of_its_json() -> None:
    """As an assemble makes them: a few signals differ between candidates, most are the same for all."""
    draw = random.Random(1)  # noqa: S311 - made numbers
    signals = [f"signal_{n}" for n in range(SIGNALS)]
    rows = [
        {name: draw.random() if n < 5 else 0.0 for n, name in enumerate(signals)} | {"id": f"{draw.getrandbits(128):x}"}
        for _ in range(CANDIDATES)
    ]
    receipt = {"considered": rows}
    assert len(pack_trace(receipt)) * 6 < len(orjson.dumps(receipt))


def test_numbers_keep_seven_digits_and_an_exact_receipt_all() -> None:
    receipt = {"now": 1795019411228, "rows": [{"score": 0.8865594031118134, "none": None, "yes": True}]}
    assert unpack_trace(pack_trace(receipt)) == {
        "now": 1795019411228,
        "rows": [{"score": 0.8865594, "none": None, "yes": True}],
    }
    assert unpack_trace(pack_trace(receipt, exact=True)) == receipt


def test_receipts_of_earlier_releases_are_plain_json_and_can_be_read() -> None:
    assert unpack_trace(orjson.dumps(big_trace(3))) == big_trace(3)


@pytest.mark.parametrize("torn", [pack_trace(big_trace(50))[:40], b"", b"{"])
def test_a_torn_receipt_is_told_from_one(torn: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - that it is one is the promise
        unpack_trace(torn)
