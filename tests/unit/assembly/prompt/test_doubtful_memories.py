"""Whoever asks about himself gets the benefit of the doubt, for a few lines of his own."""

import pytest

from lithify.assembly.prompt.selection import is_brief_statement
from lithify.memory.ranking.candidate import Candidate, Kind, Scope


@pytest.mark.parametrize(
    ("role", "text", "expected"),
    [
        ("user", "I moved to Lisbon in May and love the trams.", True),
        (None, "Ada cannot eat gluten.", True),
        ("user", "我五月搬到了里斯本，很喜欢那里的电车。", True),
        ("assistant", "You moved to Lisbon in May.", False),
        ("tool", "city: Lisbon", False),
        ("user", "Here is the whole log of the build. " * 20, False),
        ("user", "电车" * 190, False),
    ],
)
def test_only_short_statements_of_people_are_worth_a_doubt(role: str | None, text: str, *, expected: bool) -> None:
    candidate = Candidate("1", text, Scope.HISTORY, Kind.TURN, role=role)
    assert is_brief_statement(candidate) is expected
