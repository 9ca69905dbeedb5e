"""The summariser's view hides what would only waste its tokens."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.compaction.cluster_geometry import Vectors
from lithify.memory.compaction.plan import Trigger, plan_compaction
from lithify.memory.compaction.sanitiser import CODE_OMITTED, DATA_OMITTED, NOTHING_LEFT, sanitise
from lithify.memory.turn import Turn
from tests.unit.compactor.session_store import DictStore, bag_of_words, chat, compact, drafter

BASE64 = "QUJD" * 30


def fenced(inner: str, fence: str = "```") -> str:
    return f"{fence}\n{inner}\n{fence}"


def test_pasted_code_and_data_become_placeholders() -> None:
    """spec 05.14"""
    text = f"Look:\n{fenced('y' * 292)}\nand\n{BASE64}\nso"
    assert len(fenced("y" * 292)) == 300
    assert sanitise(text) == f"Look:\n{CODE_OMITTED}\nand\n{DATA_OMITTED}\nso"


def test_summariser_sees_placeholders_while_the_store_keeps_the_turns() -> None:
    """spec 05.14"""
    noisy = [Turn(f"n{i}", float(i), "user", f"Look {i}\n{fenced('y' * 292)}\n{BASE64}") for i in range(6)]
    store = DictStore.holding([*noisy, *chat(4)])
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> Vectors:
        seen.extend(texts)
        return bag_of_words(texts)

    plan = plan_compaction(store.view(), lambda _: 60.0, trigger=Trigger.FORCED)
    assert compact(plan, drafter(embed), store.apply, 9e6).turns_removed == 6
    [summary] = store.summaries.values()
    assert CODE_OMITTED in summary.text
    assert BASE64 not in summary.text
    assert f"Look 0\n{CODE_OMITTED}\n{DATA_OMITTED}" in seen
    assert [store.raw[turn.id] for turn in noisy] == noisy


def test_fence_is_hidden_from_240_characters_or_8_inner_lines() -> None:
    assert sanitise(fenced("y z " * 58)) == CODE_OMITTED
    assert sanitise(fenced("y z " * 57 + "y z")) == fenced("y z " * 57 + "y z")
    assert sanitise(fenced("\n".join("abcdefgh"), "~~~~")) == CODE_OMITTED
    assert sanitise(fenced("\n".join("abcdefg"))) == fenced("\n".join("abcdefg"))


def test_unclosed_fence_runs_to_the_end() -> None:
    assert sanitise("before\n```py\n" + "\n".join("abcdefgh")) == f"before\n{CODE_OMITTED}"
    assert sanitise("before\n```py\n" + "\n".join("abcdefg")) == "before\n```py\n" + "\n".join("abcdefg")


def test_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    assert sanitise("````\n```\n" + "z\n" * 200 + "```\n````\nafter") == f"{CODE_OMITTED}\nafter"


def test_inline_code_opens_no_fence() -> None:
    text = "```ls``` lists files\n" + "word\n" * 9
    assert sanitise(text) == text.strip()


def test_data_lines_are_hidden_from_64_characters() -> None:
    assert sanitise("a\n" + "Data:".ljust(64, "x")) == f"a\n{DATA_OMITTED}"
    assert sanitise("data:".ljust(63, "x")) == "data:".ljust(63, "x")


def test_blob_lines_need_both_a_long_line_and_a_long_run() -> None:
    assert sanitise("hash " + "af" * 32 + " " + "w " * 14) == DATA_OMITTED
    assert sanitise("a" * 95) == "a" * 95
    assert sanitise("word " * 40) == ("word " * 40).strip()


def test_blank_runs_collapse_and_nothing_is_never_empty() -> None:
    assert sanitise("a\n\n \n\nb\n\n") == "a\n\nb"
    assert sanitise(" \n\t\n") == NOTHING_LEFT
    assert sanitise("") == NOTHING_LEFT


LINES = st.sampled_from(["word", "", "  ", "```", "~~~", "````", "```py", BASE64, "data:" + "x" * 70, "q" * 120])


@settings(max_examples=200)
@given(st.lists(LINES | st.text(max_size=20), max_size=20).map("\n".join))
def test_sanitising_twice_changes_nothing_more(text: str) -> None:
    once = sanitise(text)
    assert once.strip()
    assert sanitise(once) == once
