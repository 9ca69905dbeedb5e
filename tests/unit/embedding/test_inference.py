"""Batches fill the token budget with texts of similar length."""

from hypothesis import given
from hypothesis import strategies as st

from lithify.embedding.inference import plan_batches

LENGTHS = st.lists(st.integers(1, 300), max_size=60)
BUDGETS = st.integers(1, 600)


@given(LENGTHS, BUDGETS)
def test_every_text_is_in_exactly_one_batch(lengths: list[int], budget: int) -> None:
    assert sorted(i for batch in plan_batches(lengths, budget) for i in batch) == list(range(len(lengths)))


@given(LENGTHS, BUDGETS)
def test_a_padded_batch_exceeds_the_budget_only_if_a_single_text_does(lengths: list[int], budget: int) -> None:
    for batch in plan_batches(lengths, budget):
        assert len(batch) * max(lengths[i] for i in batch) <= budget or len(batch) == 1


@given(LENGTHS, BUDGETS)
def test_lengths_grow_from_batch_to_batch(lengths: list[int], budget: int) -> None:
    order = [lengths[i] for batch in plan_batches(lengths, budget) for i in batch]
    assert order == sorted(order)


def test_a_batch_is_filled_before_the_next_begins() -> None:
    assert plan_batches([10, 2, 2, 10, 2], budget=20) == [[1, 2, 4], [0, 3]]
    assert plan_batches([5, 5, 5, 5, 5], budget=10) == [[0, 1], [2, 3], [4]]
