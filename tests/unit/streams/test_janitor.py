"""The trimming floor: nothing a group still needs lies below it."""

from hypothesis import given
from hypothesis import strategies as st

from lithify.streams.janitor import plan_trim
from lithify.streams.progress import GroupProgress, StreamId

stream_ids = st.builds(StreamId, st.integers(0, 50), st.integers(0, 3))


def test_without_groups_nothing_is_trimmed() -> None:
    assert plan_trim({}, required=()) is None


def test_a_required_group_that_does_not_exist_yet_stops_trimming() -> None:
    assert plan_trim({"embed": GroupProgress(StreamId(9, 0))}, required=("embed", "archive")) is None


def test_the_slowest_group_decides() -> None:
    groups = {"embed": GroupProgress(StreamId(9, 0)), "archive": GroupProgress(StreamId(4, 0))}
    assert plan_trim(groups, required=("embed",)) == StreamId(4, 0)


def test_a_pending_entry_counts_more_than_the_position() -> None:
    groups = {"embed": GroupProgress(StreamId(9, 0), pending=1, lowest_pending=StreamId(2, 1))}
    assert plan_trim(groups, required=()) == StreamId(2, 1)


@given(st.dictionaries(st.text(max_size=2), st.builds(GroupProgress, stream_ids, st.just(1), st.none() | stream_ids)))
def test_the_floor_is_never_above_what_any_group_needs(groups: dict[str, GroupProgress]) -> None:
    floor = plan_trim(groups, required=())
    for progress in groups.values():
        assert floor is not None
        assert floor <= (progress.lowest_pending or progress.last_delivered)


def test_ids_are_ordered_as_numbers_not_as_text() -> None:
    assert StreamId.parse("9-10") > StreamId.parse(b"9-9")
    assert StreamId.parse("10") > StreamId.parse("9-1")
    assert str(StreamId.parse(b"12-3")) == "12-3"
