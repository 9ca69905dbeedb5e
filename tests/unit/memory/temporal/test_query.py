"""Questions about time: indicator, slots, guard and anchors."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lithify.memory.languages import find_readings
from lithify.memory.ranking.profile import RECALL, SEED, IndicatorWeights
from lithify.memory.temporal.query import (
    MAX_SLOTS,
    XI_THRESHOLD,
    Guard,
    Label,
    Reason,
    covered_slots,
    decide_guard,
    event_slots,
    offers_two_sides,
    read_guarded_query,
    read_temporal_query,
    require_time_question,
    temporal_indicator,
    temporal_labels,
    trust_indicator,
)

VISA = "How many days did I wait to get the visa after mailing the passport?"


COURSE = "Which course did I finish first, the pottery class or the welding class?"


BISCUIT = "When did I adopt Biscuit?"


AUDIT = "How long since the audit?"


CAFE = "Suggest a quiet cafe near the museum"


FAIR = (
    "How many days were there between the harbour concert at the old pier and the spring fair in the botanical garden?"
)


words = st.lists(
    st.sampled_from(["how", "long", "many", "days", "when", "did", "first", "or", "after", "Harbour", "tea", "?", "\n"])
    | st.text(max_size=8)
).map(" ".join)


@pytest.mark.parametrize(
    ("query", "xi"), [(VISA, 1.0), (COURSE, 0.5333333), (BISCUIT, 0.4666667), (AUDIT, 1.0), (CAFE, 0.0)]
)
def test_indicator_of_the_worked_questions(query: str, xi: float) -> None:
    """spec 09.1"""
    assert read_temporal_query(query).xi == pytest.approx(xi, abs=1e-6)


def test_a_question_without_temporal_words_is_inactive() -> None:
    """spec 09.1"""
    assert read_temporal_query(CAFE).guard.reason is Reason.INACTIVE


def test_a_label_counts_once_and_needs_whole_words() -> None:
    assert temporal_labels("BEFORE lunch, before dinner") == (Label.BEFORE_OR_AFTER,)
    assert temporal_labels("the beforehand sinceritys of Firstborn") == ()


def test_even_the_weakest_label_passes_the_threshold_so_the_guard_decides() -> None:
    weakest = min(temporal_indicator((label,)) for label in Label)
    assert weakest == pytest.approx(0.7 / 1.5)
    assert weakest >= XI_THRESHOLD


@settings(max_examples=200, deadline=None)
@given(words, words)
def test_the_indicator_is_bounded_and_grows_with_the_text(query: str, more: str) -> None:
    xi = read_temporal_query(query).xi
    assert 0.0 <= xi <= read_temporal_query(f"{query}\n{more}").xi <= 1.0


@pytest.mark.parametrize(
    ("query", "slots", "applies"),
    [
        (VISA, ("wait get visa", "mailing passport"), True),
        (COURSE, ("course finish", "pottery class", "welding class"), True),
        (BISCUIT, ("adopt biscuit",), False),
        (AUDIT, ("audit",), False),
    ],
)
def test_slots_and_guard_of_the_worked_questions(query: str, slots: tuple[str, ...], applies: bool) -> None:
    """spec 09.2"""
    reading = read_temporal_query(query)
    assert reading.slots == slots
    assert reading.guard.applies is applies


def test_only_the_question_that_offers_two_sides_is_a_comparison() -> None:
    """spec 09.2"""
    comparisons = [query for query in (VISA, COURSE, BISCUIT, AUDIT, CAFE) if offers_two_sides(query)]
    assert comparisons == [COURSE]


def test_an_or_without_a_named_thing_on_each_side_is_no_comparison() -> None:
    assert not offers_two_sides("Did that come first or the")
    assert not offers_two_sides("Which trip came first?")


def test_a_filler_clause_counts_as_an_event_only_in_the_literal_reading() -> None:
    """spec 09.9"""
    literal = read_temporal_query(FAIR, drop_filler=False)
    assert literal.slots == ("were there", "harbour concert old pier", "spring fair botanical garden")
    assert (literal.guard.applies, literal.guard.reason) == (False, Reason.SLOT_COUNT)

    reading = read_temporal_query(FAIR)
    assert reading.slots == ("harbour concert old pier", "spring fair botanical garden")
    assert (reading.guard.applies, reading.guard.reason) == (True, Reason.TWO_EVENTS)


def test_a_long_clause_gives_its_first_and_last_four_terms() -> None:
    slots = event_slots("Copper kettle whistled loudly beside grandmother's window")
    assert slots == ("copper kettle whistled loudly", "loudly beside grandmother window")


def test_words_around_a_bare_connective_still_give_a_slot() -> None:
    assert event_slots("and then?") == ("then",)
    assert event_slots("How long was it?") == ()
    assert event_slots("") == ()


@settings(max_examples=200, deadline=None)
@given(words)
def test_at_most_four_distinct_slots_of_at_most_four_terms(query: str) -> None:
    slots = event_slots(query)
    assert len(slots) == len(set(slots)) <= MAX_SLOTS
    assert all(1 <= len(slot.split()) <= 4 for slot in slots)


@pytest.mark.parametrize(
    ("labels", "slot_count", "reason"),
    [
        ((Label.HOW_LONG,), 2, Reason.TWO_EVENTS),
        ((Label.HOW_LONG,), 3, Reason.SLOT_COUNT),
        ((Label.FIRST_OR_EARLIER,), 1, Reason.EARLIEST_EVENT),
        ((Label.FIRST_OR_EARLIER, Label.WHEN_DID), 4, Reason.EARLIEST_EVENT),
        ((Label.FIRST_OR_EARLIER,), 0, Reason.SLOT_COUNT),
        ((Label.FIRST_OR_EARLIER, Label.BEFORE_OR_AFTER), 3, Reason.SLOT_COUNT),
        ((Label.WHEN_DID,), 2, Reason.NO_STRONG_LABEL),
        ((), 2, Reason.INACTIVE),
    ],
)
def test_the_guard_names_its_reason(labels: tuple[Label, ...], slot_count: int, reason: Reason) -> None:
    guard = decide_guard(labels, temporal_indicator(labels), slot_count)
    assert guard.reason is reason
    assert guard.applies is (reason in {Reason.TWO_EVENTS, Reason.EARLIEST_EVENT})


def covered(slots: list[str], texts: list[str], cosine: NDArray[np.float64] | None = None) -> list[set[int]]:
    return [set(found) for found in covered_slots(slots, texts, cosine)]


def test_a_slot_is_matched_by_its_words_or_by_its_meaning() -> None:
    slots, texts = ["mailing passport", "visa"], ["I mailed my travel papers", "The visa is here", "Mailing letters"]
    assert covered(slots, texts) == [set(), {1}, {0}]
    cosine = np.array([[0.50, 0.1], [0.49, 0.2], [np.nan, -1.0]])
    assert covered(slots, texts, cosine) == [{0}, {1}, {0}]


def test_half_of_the_words_is_enough_and_less_is_not() -> None:
    slots = ["harbour concert old pier", "wait get visa"]
    assert covered(slots, ["an old harbour", "an old boat", "a visa"]) == [{0}, set(), set()]


def test_no_slots_or_no_texts_match_nothing() -> None:
    assert covered([], ["text"]) == [set()]
    assert covered(["visa"], []) == []


def test_a_cosine_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 2\), got \(2, 1\)"):
        covered_slots(["a", "b"], ["text"], np.zeros((2, 1)))


@pytest.mark.parametrize(
    "query",
    [
        "How many days passed between the visa interview and the flight?",
        "When did Mia go hiking after the road trip?",
        "Which came first, the audit or the move?",
        "Did she call before or after the wedding?",
        "How long was it between the fair and the flood?",
    ],
)
def test_a_question_that_asks_for_a_time_keeps_its_guard(query: str) -> None:
    read = read_temporal_query(query)
    assert require_time_question(read, query) == read


@pytest.mark.parametrize(
    "query", ["What did Mia realise after the charity race?", "What genre is Joan's first novella?"]
)
def test_a_question_that_only_names_an_event_is_no_question_about_time(query: str) -> None:
    read = read_temporal_query(query)
    assert read.guard.applies
    told = require_time_question(read, query)
    assert told.guard == Guard(False, Reason.NO_TIME_ASKED)
    assert (told.slots, told.xi) == (read.slots, read.xi)


@pytest.mark.parametrize("query", ["What did Mia realise after the charity race?", "When did I adopt Biscuit?", FAIR])
def test_the_guard_of_the_sources_asks_for_the_indicator_alone(query: str) -> None:
    read = read_temporal_query(query, drop_filler=False)
    assert trust_indicator(read) == replace(read, guard=Guard(True, Reason.INDICATOR))
    assert trust_indicator(read_temporal_query(CAFE)).guard == Guard(False, Reason.INACTIVE)


def test_labels_and_slots_can_be_weighed_and_limited_otherwise() -> None:
    deaf = IndicatorWeights(first_or_earlier=0.1)
    assert read_temporal_query(COURSE, weights=deaf).guard == Guard(False, Reason.INACTIVE)
    assert read_temporal_query(COURSE, max_slots=1).slots == read_temporal_query(COURSE).slots[:1]


MOVE = "Wie viele Tage lagen zwischen der Prüfung und dem Umzug?"


def test_a_question_in_another_language_is_read_by_its_own_words() -> None:
    read = read_guarded_query(MOVE, RECALL)
    assert set(read.labels) == {Label.HOW_MANY_DAYS, Label.SINCE_OR_BETWEEN}
    assert read.slots == ("prüfung", "umzug")
    assert read.guard == Guard(True, Reason.TWO_EVENTS)
    assert read_guarded_query("Was it before or after the move?", RECALL).labels == (Label.BEFORE_OR_AFTER,)


def test_the_profile_of_the_sources_reads_english_alone() -> None:
    read = read_guarded_query(MOVE, SEED)
    assert read.labels == ()
    assert read.guard == Guard(False, Reason.INACTIVE)
    assert read == trust_indicator(read_temporal_query(MOVE, drop_filler=False))


@pytest.mark.parametrize(
    ("query", "slots"),
    [
        ("¿Qué compré primero, el coche o la bicicleta?", ("compré", "coche", "bicicleta")),
        ("Что я купил сначала, машину или велосипед?", ("купил", "машину", "велосипед")),
        ("考试和搬家之间隔了多少天？", ("考试", "搬家")),
    ],
)
def test_events_are_parted_by_the_small_words_of_a_language(query: str, slots: tuple[str, ...]) -> None:
    assert event_slots(query, language=find_readings(query)[0]) == slots


def test_words_of_an_unspaced_script_match_inside_a_text() -> None:
    assert covered(["自行车", "罗马"], ["我买了一辆自行车。", "我们去罗马。"]) == [{0}, {1}]
