"""One cluster becomes one draft: choice of summariser, prior context, gate and ladder."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from lithify.memory.compaction.cluster_geometry import Vectors
from lithify.memory.compaction.draft import (
    Draft,
    IsCancelled,
    Rung,
    WrittenText,
    climb,
    draft_cluster,
    ladder,
    mean_gating,
    never,
    prior_context,
    shrinks,
    wants_abstractive,
)
from lithify.memory.compaction.preservation import preservation
from lithify.memory.compaction.summary import Lineage, SummaryRecord
from lithify.memory.turn import Turn
from tests.unit.compactor.session_store import SESSION, bag_of_words

FAITHFUL = "The red boat left the harbour"


@dataclass
class FakeWriter:
    """Returns or raises what it was told to, one item per call."""

    answers: list[WrittenText | Exception]
    ready: bool = True
    context: int = 512
    method: str = "t5"
    calls: list[tuple[tuple[str, ...], int]] = field(default_factory=list)

    def fits(self, texts: Sequence[str]) -> bool:
        return sum(map(len, texts)) <= self.context * 4

    def write(self, texts: Sequence[str], max_tokens: int, is_cancelled: IsCancelled = never) -> WrittenText:
        assert not is_cancelled()
        self.calls.append((tuple(texts), max_tokens))
        answer = self.answers[len(self.calls) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


def boats(*scores: float | None) -> list[Turn]:
    text = "The red boat left the harbour before dawn while everybody in the village was still asleep."
    return [Turn(f"t{i}", 100.0 + i, "user", text, gating_score=score) for i, score in enumerate(scores)]


def earlier(name: str, tokens: int, covers_until: float, written: float = 900.0) -> SummaryRecord:
    lineage = Lineage((f"src-{name}",), 0.0, covers_until, written, "extractive", 0.5)
    text = name.ljust(tokens * 4, ".")
    return SummaryRecord(name, SESSION, "", written, text, "extractive", tokens, 0.5, 0.5, 0, 0, 0.5, None, lineage)


@pytest.mark.parametrize(
    ("scores", "method"),
    [
        ((0.5, 0.7), "t5"),
        ((0.6, 0.6, 0.6), "t5"),
        ((0.5999, 0.5999), "extractive"),
        ((None, None), "extractive"),
        ((0.7, None, None), "t5"),
    ],
)
def test_gating_decides_the_summariser(scores: tuple[float | None, ...], method: str) -> None:
    """spec 05.7 (X08)"""
    climbed = draft_cluster(boats(*scores), (), bag_of_words, FakeWriter([WrittenText(FAITHFUL, 0.9)]))
    assert climbed.draft is not None
    assert climbed.draft.method == method


def test_mean_gating_ignores_turns_without_a_score() -> None:
    """spec 05.7"""
    assert mean_gating([0.2, None, 0.6, float("nan")]) == pytest.approx(0.4)
    assert mean_gating([None]) is None
    assert mean_gating([5.0]) == 1.0
    assert not wants_abstractive([])


@pytest.mark.parametrize("writer", [None, FakeWriter([], ready=False), FakeWriter([], context=9)])
def test_missing_unready_or_too_small_backend_means_extractive(writer: FakeWriter | None) -> None:
    """spec 05.7 (X30)"""
    climbed = draft_cluster(boats(0.9, 0.9), (), bag_of_words, writer)
    assert climbed.draft is not None
    assert (climbed.draft.method, climbed.errors) == ("extractive", ())


def test_unfaithful_text_gives_way_to_an_extract_and_leaves_its_confidence() -> None:
    """spec 05.5"""
    writer = FakeWriter([WrittenText("Quarterly tax forms", 0.93)])
    draft = draft_cluster(boats(0.9, 0.9), [earlier("old", 10, 50.0)], bag_of_words, writer).draft
    assert draft is not None
    assert (draft.method, draft.conf_decoder) == ("extractive", 0.93)
    assert draft.text == boats(0.9)[0].text
    assert draft.confidence == pytest.approx(draft.measured.conf_embed)
    assert draft.prior.summary_ids == ()  # extracts are never conditioned


@pytest.mark.parametrize(("align", "method"), [(0.6501, "t5"), (0.6499, "extractive")])
def test_alignment_with_the_turns_decides_whether_written_text_is_accepted(align: float, method: str) -> None:
    """spec 05.5"""

    def embed(texts: Sequence[str]) -> Vectors:
        return [[align, math.sqrt(1 - align**2)] if text == "written" else [1.0, 0.0] for text in texts]

    draft = draft_cluster(boats(0.9, 0.9), (), embed, FakeWriter([WrittenText("written", 0.9)])).draft
    assert draft is not None
    assert (draft.method, draft.conf_decoder) == (method, 0.9)


def test_accepted_text_blends_confidences_and_names_its_support() -> None:
    """spec 05.6"""
    writer = FakeWriter([WrittenText(FAITHFUL, 0.9)])
    draft = draft_cluster(boats(0.9, 0.9), [earlier("old", 10, 50.0)], bag_of_words, writer).draft
    assert draft is not None
    assert draft.confidence == pytest.approx(0.8 * draft.measured.conf_embed + 0.2 * 0.9)
    assert (draft.prior.summary_ids, draft.prior.tokens) == (("old",), 10)
    [(texts, max_tokens)] = writer.calls
    assert texts == (earlier("old", 10, 50.0).text, *(turn.text for turn in boats(0.9, 0.9)))
    assert max_tokens == 64


def test_prior_context_takes_the_newest_that_fit_in_order() -> None:
    """spec 05.15"""
    summaries = [earlier("a", 60, 10.0), earlier("c", 30, 30.0), earlier("b", 50, 20.0)]
    prior = prior_context(summaries, first_ts=100.0)
    assert (prior.summary_ids, prior.tokens) == (("b", "c"), 80)
    assert prior.text == f"{summaries[2].text}\n\n{summaries[1].text}"


def test_prior_context_skips_what_does_not_fit_and_goes_on() -> None:
    """spec 05.15"""
    summaries = [earlier("old", 20, 10.0), earlier("big", 90, 20.0), earlier("new", 30, 30.0)]
    assert prior_context(summaries, first_ts=100.0).summary_ids == ("old", "new")


def test_prior_context_asks_what_a_summary_covers_not_when_it_was_written() -> None:
    """spec 05.15 (X66)"""
    summaries = [earlier("late-written", 5, 99.0, written=1e9), earlier("same-instant", 5, 100.0)]
    assert prior_context(summaries, first_ts=100.0).summary_ids == ("late-written",)
    assert prior_context((), 100.0).prepend_to(["x"]) == ("x",)


def draft_of(text: str) -> Draft:
    return Draft(text, "t5", preservation(1, 1), 1.0)


def test_ladder_shortens_then_falls_back() -> None:
    """spec 05.8"""
    assert ladder(abstractive=False) == (Rung(False, 64, 0.4), Rung(False, 32, 0.25))
    assert ladder(abstractive=True) == (Rung(True, 64, 0.4), Rung(True, 32, 0.25), Rung(False, 16, 0.25))


def test_fallback_is_stored_when_the_chosen_one_does_not_shrink() -> None:
    """spec 05.8"""
    turns = [replace(turn, text=f"{FAITHFUL} before dawn") for turn in boats(0.9, 0.9, 0.9, 0.9)]
    long_text = WrittenText(" ".join([FAITHFUL] * 9), 0.9)
    writer = FakeWriter([long_text, long_text])
    draft = draft_cluster(turns, (), bag_of_words, writer).draft
    assert [max_tokens for _, max_tokens in writer.calls] == [64, 32]
    assert draft is not None
    assert (draft.method, draft.text) == ("extractive", f"{FAITHFUL} before dawn")


def test_cluster_that_nothing_shrinks_is_declined() -> None:
    """spec 05.8"""
    assert climb(ladder(abstractive=True), lambda _: draft_of("x" * 40), ["y" * 40]).draft is None


def test_equal_cost_is_not_progress() -> None:
    """spec 05.9 (X25)"""
    assert not shrinks("x" * 8, ["a" * 4, "b" * 4])
    assert shrinks("x" * 8, ["a" * 4, "b" * 5])
    assert not shrinks("東京東京東京東京", ["word word word"])
    assert not shrinks("  ", ["a" * 400])


def test_failing_attempt_is_passed_over_and_reported() -> None:
    """spec 05.8 (X27)"""
    boom = RuntimeError("decoder broke")
    writer = FakeWriter([boom, WrittenText("  ", 0.9)])
    climbed = draft_cluster(boats(0.9, 0.9), (), bag_of_words, writer)
    assert climbed.draft is not None
    assert climbed.draft.method == "extractive"
    assert climbed.errors[0] is boom
    assert "returned no text" in str(climbed.errors[1])


def test_cancellation_is_not_an_attempt() -> None:
    def cancelled(_: Rung) -> Draft:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        climb(ladder(abstractive=False), cancelled, ["text"])
