"""The host's messages: what they ask about, what they show already, and that they come back untouched."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.assembly.prompt.messages import find_shown, find_topic, insert_memory, normalise_text
from lithify.assembly.schema import AssembleRequest
from lithify.memory.turn import Turn

CALL = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "content": "a long answer"}]}
SCALARS = st.sampled_from(
    [None, True, 7, 2**63, -0.0, 1e300, "", " a\n", "\u00e9", "e\u0301", "user", "system", "text"]
)
FIELDS = st.sampled_from(["role", "content", "id", "tool_calls", "type", "text", "name", "cache_control", "x"])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=4), max_leaves=20
)
MESSAGES = st.lists(st.dictionaries(FIELDS, JSON), max_size=8)


def request(messages: list[Any], query: str | None = None) -> AssembleRequest:
    body = {"user": "u", "session": "s", "token_budget": 1, "query": query, "messages": messages}
    return AssembleRequest.model_validate(body)


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text} | more


def turns(*texts: str, role: str = "user") -> list[Turn]:
    return [Turn(f"t{place}", place, role, text, seq=place) for place, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("messages", "topic"),
    [
        ([], ""),
        ([said("user", "a"), said("assistant", "b")], "a"),
        ([said("user", "a"), CALL, RESULT], "a"),
        ([said("user", "a"), said("user", " "), CALL, said("tool", "c")], "a"),
        ([said("system", "a"), said("assistant", "b")], "b"),
        ([{"role": "user", "content": [{"type": "text", "text": " a "}, {"type": "image"}]}], "a"),
        ([said("human", "a"), said("ai", "b")], "a"),
        ([CALL], "f({})"),
    ],
)
def test_a_prompt_is_about_the_users_last_words(messages: list[dict[str, Any]], topic: str) -> None:
    assert find_topic(messages) == topic
    assert request(messages).topic == topic
    assert request(messages, query="q").topic == "q"
    assert request(messages, query="").topic == ""


def test_a_question_has_the_size_of_a_turn_at_most() -> None:
    assert len(find_topic([said("user", "x " * 400_000)])) == 262_144


@settings(deadline=None)
@given(MESSAGES, st.sampled_from(["", "memory"]))
def test_any_message_comes_back_untouched(messages: list[dict[str, Any]], memory: str) -> None:
    before = json.dumps(messages)
    taken = list(request(messages).messages)
    find_topic(taken)
    find_shown(taken, turns("a", ""))
    sent = insert_memory(taken, memory)
    if memory:
        sent.remove(said("system", memory))
    assert json.dumps(sent) == before


@pytest.mark.parametrize(
    ("roles", "place"),
    [((), 0), (("user",), 0), (("system", "user"), 1), (("developer", "system"), 2), (("user", "system"), 0)],
)
def test_memory_stands_behind_the_hosts_leading_system_messages(roles: tuple[str, ...], place: int) -> None:
    messages = [said(role, "x") for role in roles]
    sent = insert_memory(messages, "memory")
    assert sent.pop(place) == said("system", "memory")
    assert sent == messages


def test_no_memory_adds_no_message() -> None:
    assert insert_memory([said("user", "x")], "") == [said("user", "x")]


def test_words_are_compared_without_their_white_space_and_unicode_form() -> None:
    assert normalise_text(" Cafe\u0301 \u2028\tau  lait\n") == "Caf\u00e9 au lait"
    assert find_shown([said("user", "Cafe\u0301  au lait")], turns("Caf\u00e9 au\nlait")).ids == {"t0"}
    assert find_shown([said("user", "cafe au lait")], turns("Caf\u00e9 au lait")).ids == frozenset()


def test_a_message_stands_for_the_newest_turn_of_its_speaker() -> None:
    stored = [*turns("yes", "yes"), Turn("t9", 9, "assistant", "yes")]
    assert find_shown([said("user", "yes")], stored).ids == {"t1"}
    assert find_shown([said("user", "yes")] * 5, stored).ids == {"t0", "t1"}
    assert find_shown([said("tool", "yes")], stored).ids == frozenset()


def test_an_id_is_believed_and_its_turn_is_not_matched_again() -> None:
    shown = find_shown([said("user", "cut", id="t1"), said("user", "yes")], turns("yes", "yes"))
    assert shown.ids == {"t0", "t1"}
    assert find_shown([said("user", "yes", id="t0")], turns("yes", "yes")).ids == {"t0"}
    # A turn of long ago is no longer among those at hand.
    assert find_shown([said("user", "old", id="t-old")], turns("yes")).ids == {"t-old"}


def test_an_id_of_another_kind_leaves_the_words_to_tell() -> None:
    assert find_shown([said("user", "yes", id="msg_1")], turns("yes")).ids == {"msg_1", "t0"}
    for odd in (7, "", "x" * 300, None, ["t0"]):
        assert find_shown([said("user", "yes", id=odd)], turns("yes")).ids == {"t0"}


def test_calls_and_results_are_matched_as_they_are_stored() -> None:
    stored = [Turn("c", 1, "tool", "f({})"), Turn("r", 2, "tool", "a long answer")]
    assert find_shown([CALL, RESULT], stored).ids == {"c", "r"}


def test_a_message_of_several_texts_stands_for_each_of_them() -> None:
    parts = [{"type": "text", "text": "context"}, {"type": "text", "text": "the question"}]
    shown = find_shown([{"role": "user", "content": parts}], turns("the question", "context\nthe question", "other"))
    assert shown.ids == {"t0", "t1"}


def test_a_memory_is_covered_by_its_turn_or_its_words() -> None:
    shown = find_shown([said("user", "I live in  Porto.", id="t0")], turns("I live in Porto."))
    assert shown.covers("t0", "whatever")
    assert shown.covers(None, "I live in Porto.")
    assert not shown.covers("t1", "I live in Berlin.")
    assert not shown.covers(None, "")
    assert not find_shown([], turns("x")).covers("t0", "x")


def test_a_summary_is_covered_by_all_of_its_turns() -> None:
    shown = find_shown([said("user", "one"), said("user", "two", id="t9")], turns("one"))
    assert shown.covers_all(["t0", "t9"])
    assert not shown.covers_all(["t0", "t9", "t5"])
    assert not shown.covers_all([])


def test_a_large_history_is_read_as_far_as_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    normalised: list[str] = []

    def count(text: str) -> str:
        normalised.append(text)
        return normalise_text(text)

    monkeypatch.setattr("lithify.assembly.prompt.messages.normalise_text", count)
    history = [said("user", f"w{n} " + "word " * 400) for n in range(4096)]
    shown = find_shown(history, turns(*(f"w{n} " + "word " * 400 for n in range(64))))
    assert len(shown.ids) == 64
    assert sum(shown.covers(None, f"w{n} " + "word " * 400) for n in range(300)) == 300
    assert len(normalised) < 1200
