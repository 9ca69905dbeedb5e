"""Batches keep every item in its place and stay within their bounds."""

from hypothesis import given
from hypothesis import strategies as st

from lithify.batching import batched, batched_by_weight


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 10))
def test_batches_keep_order_and_only_the_last_is_shorter(items: list[int], size: int) -> None:
    cut = list(batched(items, size))
    assert [item for batch in cut for item in batch] == items
    assert all(len(batch) == size for batch in cut[:-1])
    assert all(cut)


def test_an_iterator_is_read_no_further_than_the_batch_asked_for() -> None:
    items = iter(range(10))
    assert next(batched(items, 3)) == [0, 1, 2]
    assert next(items) == 3


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(1, 40), st.integers(1, 5))
def test_weighed_batches_exceed_the_weight_only_with_a_single_item(
    weights: list[int], max_weight: int, size: int
) -> None:
    cut = list(batched_by_weight(weights, int, max_weight, size))
    assert [weight for batch in cut for weight in batch] == weights
    assert all(len(batch) <= size for batch in cut)
    assert all(sum(batch) <= max_weight or len(batch) == 1 for batch in cut)
    assert all(cut)


def test_weighed_batches_are_not_smaller_than_need_be() -> None:
    assert [len(batch) for batch in batched_by_weight([10] * 5, int, 20)] == [2, 2, 1]
    assert [len(batch) for batch in batched_by_weight([1] * 5, int, 20, size=3)] == [3, 2]
