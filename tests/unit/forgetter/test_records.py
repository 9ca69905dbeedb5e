"""Which summaries go with a forgotten turn."""

from lithify.forgetter.records import find_covering, own_summary_id
from lithify.store import Record


def summary(name: str, *sources: str, parents: tuple[str, ...] = (), support: tuple[str, ...] = ()) -> Record:
    lineage = {"parent_summary_ids": list(parents), "support_summary_ids": list(support)}
    return Record(name, {"session": "s", "source_ids": list(sources), "lineage": lineage})


FIRST = summary("first", "e1", "e2")
SECOND = summary("second", "e3", support=(own_summary_id(FIRST.payload),))
THIRD = summary("third", "e4", parents=(own_summary_id(SECOND.payload),))
OTHER = summary("other", "e5")
ALL = [OTHER, THIRD, SECOND, FIRST]


def names(found: list[Record]) -> set[str]:
    return {record.id for record in found}


def test_a_summary_goes_with_any_of_its_turns() -> None:
    assert names(find_covering([FIRST, OTHER], {"e2"})) == {"first"}
    assert find_covering([FIRST, OTHER], {"e"}) == []


def test_summaries_that_were_written_with_it_at_hand_go_along() -> None:
    assert names(find_covering(ALL, {"e1"})) == {"first", "second", "third"}
    assert names(find_covering(ALL, {"e3"})) == {"second", "third"}


def test_a_summary_may_be_named_itself() -> None:
    assert names(find_covering(ALL, (), {"third"})) == {"third"}
