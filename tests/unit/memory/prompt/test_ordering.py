"""What was chosen by relevance is shown by time, passage by passage."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.prompt.ordering import Occasion, order_by_time

GAP = 2


def said(key: str, ts: float | None, session: str | None = "s", seq: float | None = None, **more: str) -> Occasion:
    return Occasion(key, ts, session, seq, **more)


def test_memories_stand_in_the_order_of_their_time() -> None:
    found = [said("new", 30, "b", 1), said("old", 10, "a", 1), said("middle", 20, None)]
    assert order_by_time(found, GAP) == ["old", "middle", "new"]


def test_neighbours_of_one_conversation_stand_together() -> None:
    found = [said("a1", 10, "a", 1), said("b1", 11, "b", 1), said("a3", 12, "a", 3), said("a9", 13, "a", 9)]
    assert order_by_time(found, GAP) == ["a1", "a3", "b1", "a9"]


def test_positions_order_a_passage_whatever_its_clocks_say() -> None:
    found = [said("second", 10, seq=2), said("first", 11, seq=1)]
    assert order_by_time(found, GAP) == ["first", "second"]


def test_the_newer_stands_before_what_it_superseded() -> None:
    found = [
        said("berlin", 10, "a", 1, superseded_by="porto"),
        said("other", 15, "b", 1),
        said("porto", 20, "c", 1, superseded_by="t-lyon"),
        said("lyon", 30, "d", 1, turn="t-lyon"),
    ]
    assert order_by_time(found, GAP) == ["other", "lyon", "porto", "berlin"]


def test_a_superseded_memory_without_its_successor_stands_at_its_time() -> None:
    found = [said("late", 30), said("berlin", 10, superseded_by="gone")]
    assert order_by_time(found, GAP) == ["berlin", "late"]


def test_what_claims_to_supersede_itself_or_in_a_circle_is_shown_once() -> None:
    found = [said("a", 10, superseded_by="b"), said("b", 20, superseded_by="a"), said("c", 5, superseded_by="c")]
    assert order_by_time(found, GAP) == ["c", "a", "b"]


def occasions() -> st.SearchStrategy[list[Occasion]]:
    number = st.none() | st.integers(0, 9).map(float)
    name = st.sampled_from([None, "a", "b"])
    other = st.none() | st.integers(0, 12).map("k{}".format)
    occasion = st.builds(
        Occasion,
        st.integers(0, 12).map("k{}".format),
        number,
        name,
        number,
        st.none() | st.just("t"),
        superseded_by=other,
    )
    return st.lists(occasion, unique_by=lambda found: found.key)


@settings(max_examples=300, deadline=None)
@given(found=occasions(), random=st.randoms(use_true_random=False))
def test_everything_is_shown_once_in_whatever_order_it_was_found(found: list[Occasion], random: Random) -> None:
    ordered = order_by_time(found, GAP)
    assert sorted(ordered) == sorted(occasion.key for occasion in found)
    mixed = [occasion for occasion in found if occasion.turn is None]
    before = order_by_time(mixed, GAP)
    random.shuffle(mixed)
    assert order_by_time(mixed, GAP) == before
