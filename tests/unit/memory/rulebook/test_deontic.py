"""The deontic detector keeps its word list, its rules and its quality (spec 06 §4)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.rulebook.deontic import FORBIDDEN, IMPERATIVES, OBLIGATION, PERMITTED, modality
from tests.unit.memory.deontic_corpus import FREE_RULES, KNOWN_FALSE_POSITIVES, LORE, PLAIN_RULES


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("You must reply in French.", 2),
        ("You must not share passwords.", 4),
        ("You may open a second ticket.", 8),
        ("You should never guess.", 6),
        ("You can not do that.", 4),
        ("You can do that.", 0),
        ("The knight must cross the river.", 0),
        ("You must imagine a storm.", 0),
    ],
)
def test_modal_near_you_decides(text: str, mask: int) -> None:
    """spec 06.4"""
    assert modality(text) == mask


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("Use tabs for indentation.", 2),
        ("Do not delete backups.", 4),
        ("Never retreat from the plan.", 4),
        ("Never again did the bells ring.", 0),
        ("No trailing spaces.", 4),
        ("Please be brief.", 2),
        ("Don't forget the keys.", 2),
    ],
)
def test_imperative_opening_decides(text: str, mask: int) -> None:
    """spec 06.5"""
    assert modality(text) == mask


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("If the build breaks, run the linter.", 2),
        ("If the build breaks, call Sam.", 0),
        ("Lint: ruff check .", 2),
        ("Every release must include notes.", 2),
        ("Code should be run nightly.", 2),
        ("Code should be formatted daily.", 0),
        ("The system must log errors.", 2),
        ("The design goal is: keep memory small.", 0),
        ("Default requirement: include tests.", 2),
    ],
)
def test_condition_label_and_subject_openings_decide(text: str, mask: int) -> None:
    """spec 06.6"""
    assert modality(text) == mask


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("The report, use it wisely.", 0),
        ("The report,use it wisely.", 2),
        ("to get started just install it then run setup", 2),
        ("Du musst antworten.", 0),
        ("We must ship today.", 0),
    ],
)
def test_position_and_language_decide(text: str, mask: int) -> None:
    """spec 06.7"""
    assert modality(text) == mask


def test_you_does_not_claim_the_modal_of_the_next_sentence() -> None:
    """spec 06.8"""
    assert modality("Tell me about you. Must we go?") == 0
    assert modality("Tell me about you must we go") == OBLIGATION


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("As an agent you really truly must wait.", OBLIGATION),
        ("As an agent you really truly always must wait.", 0),
        ("You shall wait.", OBLIGATION),
        ("Here you shall not pass.", FORBIDDEN),
        ("Today you may not leave.", FORBIDDEN),
        ("Of course you cannot leave.", FORBIDDEN),
        ("Then you must to picture it.", 0),
        ("Then you must not picture it.", FORBIDDEN),
        ("Then you may suppose so.", 0),
        ("must you", 0),
        ("YOU MAY GO", PERMITTED),
    ],
)
def test_second_person_window_reaches_three_words(text: str, mask: int) -> None:
    assert modality(text) == mask


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("You are a lighthouse.", OBLIGATION),
        ("Hello; you speak softly.", OBLIGATION),
        ("You sing softly.", 0),
        ("They say you are old.", 0),
    ],
)
def test_identity_needs_you_at_a_sentence_start(text: str, mask: int) -> None:
    assert modality(text) == mask


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("Always check twice.", OBLIGATION),
        ("Strictly follow it.", OBLIGATION),
        ("Always late.", 0),
        ("Do not worry.", 0),
        ("No.", 0),
        ("Bid shading on this exchange is strictly forbidden.", 0),
        ("Bid shading here is strictly forbidden.", FORBIDDEN),
        ("Bid high.", 0),
        ("Default requirement: every branch has an owner.", OBLIGATION),
        ("Default requirement: owners.", 0),
        ("Default requirement every branch", 0),
        ("The design purpose is: keep it small.", 0),
        ("The design goal is. Keep it small.", OBLIGATION),
        ("The goal is: keep it small.", OBLIGATION),
        ("If it rains, make sure to check the roof.", OBLIGATION),
        ("If it rains, make sure to call.", 0),
        ("If it rains, do not skip the roof.", FORBIDDEN),
        ("If it rains, we wait; check the roof.", OBLIGATION),
        ("If a b c d e f g h i j k l m, check it.", OBLIGATION),
        ("If a b c d e f g h i j k l m n, check it.", 0),
        ("Even if it rains, check it.", 0),
        ("Production notes: none.", OBLIGATION),
        ("Development moved on to the west: slowly.", 0),
        ("ANTI-VM: on.", OBLIGATION),
        ("EBPF MONITORING: on.", OBLIGATION),
        ("Concurrency Model: actors.", 0),
        ("CONCURRENCY MODEL is actors.", 0),
        ("ON LOW DISK -> page someone.", OBLIGATION),
        ("ON VERY LOW DISK SPACE -> page someone.", 0),
        ("ON low DISK -> page someone.", 0),
        ("On LOW DISK -> page someone.", 0),
        ("ON LOW DISK", 0),
        ("ON THE THIRD SUNDAY", 0),
        ("Every one of our shared releases must pass.", 0),
        ("Every one of our releases must pass.", OBLIGATION),
        ("Every release passed.", 0),
        ("All work in this repo shall pass.", OBLIGATION),
        ("Logic here is required.", OBLIGATION),
        ("Tests we once wrote must pass.", OBLIGATION),
        ("Tests we wrote long ago must pass.", 0),
        ("The system failed.", 0),
        ("1. Use tabs.", OBLIGATION),
        ("(Use tabs.)", 0),
        (" \tUse tabs.", OBLIGATION),
        ("first line\nuse tabs", OBLIGATION),
    ],
)
def test_sentence_openings(text: str, mask: int) -> None:
    assert modality(text) == mask


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("For this, if you need help read on", OBLIGATION),
        ("Sometimes the tests are red, don't skip them", OBLIGATION | FORBIDDEN),
        ("Sometimes if you hit a wall call me", 0),
        ("We want to get going! so then we build", OBLIGATION),
        ("We want to get going. Later we build", 0),
        ("They wanted speed but keep failing", OBLIGATION),
        ("They wanted speed but we keep failing", 0),
    ],
)
def test_setup_context_lasts_until_a_hard_start(text: str, mask: int) -> None:
    assert modality(text) == mask


def test_the_lexicon_has_sixty_two_imperatives_and_each_opens_a_rule() -> None:
    assert len(IMPERATIVES) == 62
    assert {modality(f"{verb} it") for verb in IMPERATIVES} == {OBLIGATION}


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_mask_holds_only_the_three_bits(text: str) -> None:
    assert modality(text) & ~(OBLIGATION | FORBIDDEN | PERMITTED) == 0


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(min_codepoint=0x80)))
def test_text_without_ascii_letters_is_never_promoted(text: str) -> None:
    assert modality(text) == 0


def test_known_false_positives_still_fire() -> None:
    assert [modality(text) for text in KNOWN_FALSE_POSITIVES] == [FORBIDDEN] * len(KNOWN_FALSE_POSITIVES)


def test_lore_is_rarely_promoted() -> None:
    """P_fp with the known false positives counted in."""
    lore = LORE + KNOWN_FALSE_POSITIVES
    promoted = [text for text in lore if modality(text)]
    assert len(promoted) / len(lore) <= 0.10, promoted


@pytest.mark.parametrize(("rules", "bound"), [(PLAIN_RULES, 0.10), (FREE_RULES, 0.60)])
def test_rules_are_rarely_missed(rules: tuple[str, ...], bound: float) -> None:
    """P_fn, strict where rules are written as rules, lenient for the free manner of identity files."""
    missed = [text for text in rules if not modality(text)]
    assert len(missed) / len(rules) <= bound, missed


def test_hostile_text_is_read_in_one_pass() -> None:
    masks = {atom: modality(atom * (200_000 // len(atom))) for atom in (". if a,", "you ", "\u00a0", "a")}
    assert set(masks.values()) == {0}
