"""Which turns are read around the hits of a search."""

from lithify.assembly.recall.surroundings import positions_around
from lithify.memory.ranking.passages import ALONE, Window
from lithify.store import Hit
from lithify.store.memory_record import position_of

AROUND = Window(before=(0.5,), after=(0.5,))


def turn(seq: int, session: str = "s") -> Hit:
    return Hit(f"{session}-{seq}", 1.0, {"kind": "turn", "user": "ada", "session": session, "seq": seq})


def places(*seqs: int, session: str = "s") -> list[str]:
    return [position_of("ada", session, seq) for seq in seqs]


def test_every_hit_is_read_with_the_turns_beside_it() -> None:
    assert positions_around([turn(7), turn(3)], AROUND) == places(2, 3, 4, 6, 7, 8)


def test_only_the_best_bring_their_neighbours() -> None:
    assert positions_around([turn(7), turn(3), turn(20)], AROUND, passages=1) == places(3, 6, 7, 8, 20)
    assert positions_around([turn(7), turn(3)], AROUND, passages=0) == places(3, 7)


def test_a_shared_neighbour_is_read_once_and_sessions_are_kept_apart() -> None:
    assert positions_around([turn(1), turn(3)], AROUND) == places(0, 1, 2, 3, 4)
    both = positions_around([turn(1), turn(1, "other")], ALONE)
    assert sorted(both) == sorted(places(1) + places(1, session="other"))
