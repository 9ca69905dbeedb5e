"""Every question is asked of memories of all sizes, its own and others'; what was drawn is drawn again."""

from collections import Counter
from pathlib import Path

import pytest

from lithify.assembly.recall.found import FoundMemories
from lithify.errors import Unavailable
from lithify.evaluation.calibration_examples import PARTS, AskedPart, make_judged, plan_parts
from lithify.evaluation.datasets import Dataset, load_dataset
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.helpfulness import MemoryEvidence
from lithify.memory.ranking.relevance import Signals
from lithify.store.memory_record import MemoryRecord

BENCHMARK = Path(__file__).parent.parent.parent / "benchmark" / "data"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset("own", BENCHMARK)


def test_every_question_is_asked_of_its_own_memory_and_another_in_every_size(dataset: Dataset) -> None:
    parts = list(plan_parts(dataset))
    kinds = Counter((part.question.conversation == part.about, len(part.turns or ())) for part in parts)
    asked = len(dataset.questions)
    assert len(parts) == 2 * len(PARTS) * asked
    assert kinds[True, 6] == kinds[False, 6] == kinds[True, 16] == asked
    assert list(plan_parts(dataset)) == parts


def test_a_part_of_the_own_memory_holds_evidence_and_stands_together(dataset: Dataset) -> None:
    order = {turn.event_id: place for place, turn in enumerate(dataset.turns)}
    for part in plan_parts(dataset):
        if part.turns is None:
            continue
        places = [order[turn] for turn in part.turns]
        assert places == list(range(places[0], places[0] + len(places)))
        if part.question.conversation == part.about:
            assert part.question.evidence & set(part.turns)


def test_turns_are_learnt_from_and_their_copies_are_not(dataset: Dataset) -> None:
    question = dataset.questions[0]
    [evidence, *_] = question.evidence
    signals = Signals(cosine=0.5, coverage=0.25)
    found = FoundMemories(
        [
            Candidate("1", "x", Scope.HISTORY, Kind.TURN, signals, source_turn=evidence),
            Candidate("2", "x", Scope.USER, Kind.MEMORY, signals, source_turn=evidence),
            Candidate("3", "x", Scope.HISTORY, Kind.TURN, signals, source_turn="another"),
        ],
        {key: remember(key, tokens) for key, tokens in (("1", 30), ("2", 30), ("3", 90_000))},
        evidence=MemoryEvidence(0.5, 0.25, 40),
    )
    judged = make_judged("own", AskedPart(question, question.conversation, None), found)
    assert judged.is_own
    assert judged.is_evidence.tolist() == [True, False]
    assert judged.tokens.tolist() == [30.0, 500.0]
    assert (judged.cosines.tolist(), judged.coverage.tolist()) == ([0.5, 0.5], [0.25, 0.25])


def test_an_answer_that_nobody_judged_is_refused(dataset: Dataset) -> None:
    question = dataset.questions[0]
    with pytest.raises(Unavailable, match="nothing of the memory"):
        make_judged("own", AskedPart(question, question.conversation, None), FoundMemories())


def remember(text: str, tokens: int) -> MemoryRecord:
    return MemoryRecord(
        tenant="default", user="ada", kind="turn", scope="session", text=text, ts=1, token_estimate=tokens
    )
