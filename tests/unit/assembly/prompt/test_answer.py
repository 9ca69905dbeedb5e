"""Token counters, message forms and shares of sources: small decisions, each with its rule."""

from pathlib import Path

import pytest

from lithify.assembly.prompt.answer import dump_messages, insert_memory
from lithify.assembly.prompt.context import spread_sources
from lithify.assembly.prompt.token_counter import ESTIMATOR, load_counter
from lithify.assembly.schema import AssembleRequest, Message
from lithify.errors import Misconfigured
from lithify.memory.ranking.hops import Projected
from tests.unit.assembly.prompt.context_parts import candidate


def request(*messages: Message, query: str | None = None) -> AssembleRequest:
    return AssembleRequest(user="u", session="s", token_budget=1, query=query, messages=messages)


def test_without_a_tokenizer_the_estimator_counts() -> None:
    assert load_counter(None) is ESTIMATOR


def test_a_tokenizer_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="absent"):
        load_counter(tmp_path / "absent.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(Misconfigured, match="cannot be read"):
        load_counter(broken)


def test_the_default_models_tokenizer_can_count(models_dir: Path) -> None:
    counter = load_counter(models_dir / "all-minilm-l6-v2" / "tokenizer.json")
    assert (counter.exact, counter.count("the harbour concert")) == (True, 3)


@pytest.mark.parametrize(
    ("roles", "place"),
    [((), 0), (("user",), 0), (("system", "user"), 1), (("system", "system"), 2), (("user", "system"), 0)],
)
def test_memory_stands_behind_the_hosts_leading_system_messages(roles: tuple[str, ...], place: int) -> None:
    messages = [Message(role=role, content="x") for role in roles]
    sent = insert_memory(messages, "memory")
    assert sent.pop(place) == {"role": "system", "content": "memory"}
    assert sent == dump_messages(messages)


def test_no_memory_adds_no_message() -> None:
    messages = [Message(role="user", content="x")]
    assert insert_memory(messages, "") == dump_messages(messages)


def test_the_question_is_the_query_or_the_last_words() -> None:
    parts = Message(role="user", content=[{"type": "text", "text": " a "}, {"type": "image"}, "b", {"type": "text"}])
    assert request(parts).topic == "a"
    assert request(parts, query="q").topic == "q"
    assert request(parts, query="").topic == ""
    assert request().topic == ""


def test_only_named_messages_hide_turns() -> None:
    assert request(Message(role="user", content="x", id="e1"), Message(role="user", content="y")).shown_turns == {"e1"}


def test_a_source_may_use_places_the_others_leave_free() -> None:
    ranked = [Projected(candidate(key), 1.0, 1.0) for key in ("a1", "a2", "a3", "b1", "a4")]
    sources = {item.candidate.id: item.candidate.id[0] for item in ranked}
    assert [item.candidate.id for item in spread_sources(ranked, sources, 4)] == ["a1", "a2", "a3", "b1"]
    assert [item.candidate.id for item in spread_sources(ranked, sources, 2)] == ["a1", "b1"]
    assert [item.candidate.id for item in spread_sources(ranked, {}, 2)] == ["a1", "a2"]
