"""Copies of one turn take one place, in each leg and in the union of both."""

from lithify.assembly.recall.legs import Legs, fold_copies, keep_others, limits_for, read_legs
from lithify.store import Hit, Record, SparseVector


def hit(record: str, turn: str | None, score: float = 0.5) -> Hit:
    return Hit(record, score, {"kind": "turn"} | ({"event_id": turn} if turn else {}))


def test_copies_of_a_turn_take_one_place() -> None:
    found = [hit("a", "t1"), hit("b", "t1"), hit("c", "t2"), hit("d", "t3"), hit("e", "t2")]
    assert [one.id for one in fold_copies(found, 2)] == ["a", "b", "c", "e"]


def test_what_came_from_no_turn_takes_a_place_of_its_own() -> None:
    found = [hit("a", None), hit("b", None), hit("c", "t")]
    assert [one.id for one in fold_copies(found, 2)] == ["a", "b"]


def test_a_record_and_a_turn_may_be_named_alike() -> None:
    assert len(fold_copies([hit("same", None), hit("other", "same")], 1)) == 1


def test_more_is_asked_for_than_places_and_most_if_turns_are_long() -> None:
    few, many, most = limits_for(24)
    assert 24 < few < many == 3 * 24 < most


def test_the_best_piece_of_a_long_turn_stands_for_all_of_them() -> None:
    cut = [Hit(f"p{n}", 0.9 - n / 10, {"kind": "piece", "event_id": "t1", "parent": "turn-1"}) for n in range(3)]
    kept = fold_copies([*cut, hit("turn-2", "t2", 0.1)], 2)
    assert [one.id for one in kept] == ["p0", "turn-2"]
    whole = Record("turn-1", {"kind": "turn", "event_id": "t1", "text": "all of it"})
    folded = read_legs(kept, [], None).fold_pieces({"p0": whole})
    assert folded.dense == {"turn-1": 0.9, "turn-2": 0.1}
    assert folded.hits["turn-1"].payload["text"] == "all of it"
    assert list(read_legs(kept, [], None).fold_pieces({}).hits) == ["turn-2"]


def test_the_union_counts_turns_and_keeps_their_copies_together() -> None:
    by_meaning = [hit("turn-1", "t1", 0.9), hit("copy-1", "t1", 0.9), hit("turn-2", "t2", 0.5)]
    by_words = [hit("turn-3", "t3", 8.0), hit("copy-1", "t1", 4.0)]
    legs = read_legs(by_meaning, by_words, None)
    assert [one.id for one in legs.shortlist(2)] == ["turn-1", "copy-1", "turn-3"]


def test_nothing_found_is_a_short_list() -> None:
    assert Legs().shortlist(8) == []


def test_words_that_everybody_knows_are_not_looked_for_unless_they_are_all() -> None:
    words = ([1, 2, 3], [1.0, 0.5, 1.0])
    assert keep_others(words, frozenset({2})) == SparseVector((1, 3), (1.0, 1.0))
    assert keep_others(words, frozenset({1, 2, 3})) == SparseVector((1, 2, 3), (1.0, 0.5, 1.0))
