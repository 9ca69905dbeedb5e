"""Questions about the owner of a memory."""

import pytest

from lithify.memory.ranking.owner import ask_as_owner


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Where does Ada live?", "Where do I live?"),
        ("What is Ada's job?", "What is my job?"),
        ("What is Ada allergic to?", "What am I allergic to?"),
        ("When did Ada move?", "When did I move?"),
        ("What do you know about Ada?", "What do you know about me?"),
        ("Has Ada been to Rome?", "have I been to Rome?"),
        ("Who visited Ada?", "Who visited me?"),
    ],
)
def test_who_is_named_by_his_id_is_asked_for_in_the_first_person(asked: str, expected: str) -> None:
    assert ask_as_owner(asked, "ada") == expected
    assert ask_as_owner(asked, "ada.lovelace@example.org") == expected


@pytest.mark.parametrize(
    ("asked", "user"),
    [
        ("Where does Bo live?", "ada"),
        ("Where does Ada live?", "4711"),
        ("Where does Ada live?", None),
        ("What will I mark?", "will"),
        ("Wo wohnt Ada jetzt?", "ada"),
        ("Wie heißt der Hund von Ada?", "ada"),
        ("Where does Bo live?", "bo"),
    ],
)
def test_other_questions_stay_as_they_are(asked: str, user: str | None) -> None:
    assert ask_as_owner(asked, user) == asked
