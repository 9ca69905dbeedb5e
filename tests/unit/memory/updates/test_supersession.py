"""Which of two statements is out of date."""

import pytest

from lithify.memory.updates import Statement, find_superseded, read_claims

DAY = 86_400_000


def say(id_: str, text: str, ts: int, session: str = "s") -> Statement:
    return Statement(id_, ts, read_claims(text), session=session)


def test_the_newer_replaces_the_older_whichever_arrives_first() -> None:
    berlin = say("berlin", "I live in Berlin.", DAY)
    porto = say("porto", "I live in Porto now.", 2 * DAY)
    assert find_superseded(porto, [berlin]) == {"berlin": "porto"}
    assert find_superseded(berlin, [porto]) == {"berlin": "porto"}


def test_of_three_each_older_one_is_out_of_date() -> None:
    said = [say(place, f"I live in {place}.", day * DAY) for day, place in enumerate(("Rome", "Oslo", "Porto"))]
    assert find_superseded(said[2], said[:2]) == {"Rome": "Porto", "Oslo": "Porto"}
    assert find_superseded(said[1], [said[0], said[2]]) == {"Rome": "Oslo", "Oslo": "Porto"}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I live in Lisbon.", "I live in Lisbon, in Alfama."),
        ("My budget is 1,500 €.", "My budget is 1500 euros."),
        ("The concert starts at 8pm.", "The concert starts at 20:00."),
        ("The meeting is on Thursday.", "The meeting is on Thursday at 10."),
        ("I live in Portugal.", "I live in Porto."),
    ],
)
def test_saying_it_again_or_closer_updates_nothing(earlier: str, later: str) -> None:
    assert find_superseded(say("b", later, 2), [say("a", earlier, 1)]) == {}


def test_what_everybody_has_several_of_belongs_to_its_conversation() -> None:
    monday = say("monday", "The meeting is on Monday.", 1, session="plumber")
    friday = say("friday", "The meeting is on Friday.", 2, session="school")
    moved = say("moved", "The meeting was moved to Friday.", 2, session="school")
    assert find_superseded(friday, [monday]) == {}
    assert find_superseded(moved, [monday]) == {"monday": "moved"}


def test_a_statement_never_replaces_itself() -> None:
    one = say("one", "I live in Rome.", 1)
    assert find_superseded(one, [one]) == {}
