"""The newer of two hits that may state the same thing goes first, if they stand alone and the present is asked for."""

from dataclasses import replace

import numpy as np
import pytest

from lithify.memory.ranking.candidate import Candidate, Imprint, Kind, Scope
from lithify.memory.ranking.cues import words
from lithify.memory.ranking.profile import NO_RENEWAL, RenewalWeights
from lithify.memory.ranking.relevance import Signals
from lithify.memory.ranking.renewal import put_newer_first
from lithify.memory.ranking.scoring import HybridScored

DAY = 86_400_000.0
WEIGHTS = RenewalWeights()
QUESTION = "Where do I live?"


def hit(
    text: str, *, day: float, score: float = 0.5, session: str = "", vector: tuple[float, ...] = (1.0, 0.0)
) -> HybridScored:
    said = frozenset(map(hash, words(text)))
    candidate = Candidate(
        id=text,
        text=text,
        scope=Scope.HISTORY,
        kind=Kind.TURN,
        role="user",
        ts=day * DAY,
        session=session or f"s{day}",
        signals=Signals(helpful=score),
        imprint=Imprint(np.array(vector), said, frozenset()),
    )
    return HybridScored(candidate, relevance=score, recency=0.0, scope=0.0, quality=1.0, score=score)


def texts(rows: list[HybridScored]) -> list[str]:
    return [row.candidate.text for row in rows]


OLD = hit("I live in Berlin", day=0, score=0.9)
NEW = hit("I live in Porto now", day=600, score=0.6)
OTHER = hit("Rust is fun", day=700, score=0.5, vector=(0.0, 1.0))


def test_the_newer_goes_first_and_scores_stay_in_place() -> None:
    rows = put_newer_first([OLD, OTHER, NEW], QUESTION, WEIGHTS)
    assert texts(rows) == ["I live in Porto now", "I live in Berlin", "Rust is fun"]
    assert [row.score for row in rows] == [0.9, 0.5, 0.6]
    assert [row.candidate.renewed_by for row in rows] == [None, NEW.candidate.id, None]


def test_what_stands_behind_already_is_named_too() -> None:
    rows = put_newer_first([NEW, OLD], QUESTION, WEIGHTS)
    assert texts(rows) == texts([NEW, OLD])
    assert rows[1].candidate.renewed_by == NEW.candidate.id


@pytest.mark.parametrize("question", ["Where did I live?", "What was my former address?"])
def test_questions_about_the_past_keep_the_order(question: str) -> None:
    assert put_newer_first([OLD, NEW], question, WEIGHTS) == [OLD, NEW]


def test_a_much_weaker_hit_passes_nothing() -> None:
    weak = NEW._replace(candidate=replace(NEW.candidate, signals=Signals(helpful=0.2)))
    assert texts(put_newer_first([OLD, weak], QUESTION, WEIGHTS)) == texts([OLD, weak])


def test_one_conversation_does_not_renew_itself() -> None:
    soon = hit("I live in Porto now", day=0.01, session="s0")
    first = hit("I live in Berlin", day=0, session="s0", score=0.9)
    assert texts(put_newer_first([first, soon], QUESTION, WEIGHTS)) == texts([first, soon])
    later = hit("I live in Porto now", day=9, session="s0")
    assert texts(put_newer_first([first, later], QUESTION, WEIGHTS)) == texts([later, first])


def test_saying_the_same_again_renews_nothing() -> None:
    again = hit("I live in Berlin!", day=9)
    assert texts(put_newer_first([OLD, again], QUESTION, WEIGHTS)) == texts([OLD, again])


def test_questions_and_other_people_renew_nothing() -> None:
    asking = hit("Should I live in Porto now?", day=9)
    assert texts(put_newer_first([OLD, asking], QUESTION, WEIGHTS)) == texts([OLD, asking])
    ada = hit("Ada: I live in Berlin", day=0, score=0.9)
    ben = hit("Ben: I live in Porto now", day=9)
    assert texts(put_newer_first([ada, ben], QUESTION, WEIGHTS)) == texts([ada, ben])


def test_a_topic_of_many_hits_keeps_its_order_unless_the_latest_is_asked_for() -> None:
    first = hit("Holiday by the sea", day=0, score=0.9)
    topic = [hit(f"Holiday in place{n} with sea", day=n + 1, score=0.8 - n / 100) for n in range(8)]
    assert texts(put_newer_first([first, *topic], "Which holiday is best?", WEIGHTS)) == texts([first, *topic])
    assert (
        texts(put_newer_first([first, *topic], "Which is the latest holiday?", WEIGHTS))[0] == topic[-1].candidate.text
    )


def test_two_that_are_nearest_to_each_other_are_told_from_the_topic_around_them() -> None:
    topic = [hit(f"My market stand has item{n} and thing{n}", day=n, score=0.8 - n / 100) for n in range(8)]
    old = hit("The harbour market is on 12 June", day=1.5, score=0.9)
    new = hit("Correction: the harbour market is on 19 June", day=20, score=0.6)
    rows = texts(put_newer_first([old, *topic, new], "When is the harbour market?", WEIGHTS))
    assert rows.index(new.candidate.text) < rows.index(old.candidate.text)
    said = [hit(f"Ada: {row.candidate.text}", day=(row.candidate.ts or 0) / DAY, score=row.score) for row in (old, new)]
    assert texts(put_newer_first([said[0], *topic, said[1]], "When is the harbour market?", WEIGHTS))[0].endswith(
        "12 June"
    )


def test_a_word_of_change_alone_takes_nothing_out_of_its_time() -> None:
    other = hit("Rust is fun", day=0, score=0.9, vector=(0.0, 1.0))
    rows = put_newer_first([other, NEW], QUESTION, WEIGHTS._replace(least=0.1))
    assert texts(rows) == texts([NEW, other])
    assert rows[1].candidate.renewed_by is None


def test_a_pasted_page_states_nothing_anew() -> None:
    page = hit("I live in Porto now. " + "There is more to read. " * 60, day=600)
    assert texts(put_newer_first([OLD, page], QUESTION, WEIGHTS)) == texts([OLD, page])


def test_what_cannot_be_compared_stays() -> None:
    bare = OLD._replace(candidate=replace(OLD.candidate, imprint=None))
    assert put_newer_first([bare, NEW], QUESTION, WEIGHTS) == [bare, NEW]
    assert put_newer_first([OLD, NEW], QUESTION, NO_RENEWAL) == [OLD, NEW]
    assert put_newer_first([], QUESTION, WEIGHTS) == []
