"""What a session may see, and how link targets are told apart."""

from lithify.assembly.recall.links import is_point_id
from lithify.assembly.recall.pools import is_visible, session_pools
from lithify.store import point_id
from lithify.store.memory_record import MemoryRecord
from tests.unit.assembly.prompt.context_parts import PROFILES


def test_profiles_differ_in_what_a_session_may_see() -> None:
    recall, seed = PROFILES
    assert [pool.lasting for pool in session_pools(recall, "s")] == [False]
    assert [pool.lasting for pool in session_pools(seed, "s")] == [False, True]
    turn = MemoryRecord("t", "u", "turn", "session", "x", 0, session="other")
    assert is_visible(turn, "s", recall)
    assert not is_visible(turn, "s", seed)
    assert is_visible(turn, "other", seed)


def test_authored_record_ids_are_told_from_point_ids() -> None:
    assert is_point_id(point_id("t", "authored", "a.md#000001", "f"))
    assert not is_point_id("a.md#000001")
