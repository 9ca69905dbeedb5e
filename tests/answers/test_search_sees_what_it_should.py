"""A search that names its session still finds what was said elsewhere, remembered and shared (D2-8, S1)."""

from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

QUESTION = "Which code opens the gate of the boat yard?"


@pytest.fixture(scope="module")
def memory(node: NodeProcess) -> NodeProcess:
    said = "The gate of the boat yard opens with the code 4711, and please shut it again."
    for session in ("now", "before"):
        turn = {"user": "ines", "session": session, "role": "user", "text": said, "event_id": f"said-{session}"}
        assert node.post("/v1/turns?wait=searchable", turn).json()["searchable"]
    node.wait_drained()
    explicit = {"text": "The spare code of the boat yard's gate is 0815.", "scope": "user", "user": "ines"}
    shared = {"text": "Whoever forgot a code of the boat yard asks Rui.", "scope": "global"}
    assert [node.post("/v1/memories", one).status_code for one in (explicit, shared)] == [201, 201]
    return node


def ask(node: NodeProcess, **fields: Any) -> list[dict[str, Any]]:
    answer = node.post("/v1/search", {"query": QUESTION, "user": "ines"} | fields)
    assert answer.status_code == 200, answer.text
    hits: list[dict[str, Any]] = answer.json()["hits"]
    return hits


def test_an_agent_that_passes_its_session_still_finds_global_and_explicit_memories(memory: NodeProcess) -> None:
    texts = [hit["text"] for hit in ask(memory, session="now")]
    assert any("0815" in text for text in texts)
    assert any("Rui" in text for text in texts)


def test_its_own_session_comes_first_of_two_that_say_the_same(memory: NodeProcess) -> None:
    for session, other in (("now", "before"), ("before", "now")):
        said = [hit["session"] for hit in ask(memory, session=session) if hit["session"]]
        assert said == [session, other]


def test_only_its_session_is_searched_where_that_is_asked_for(memory: NodeProcess) -> None:
    assert {hit["session"] for hit in ask(memory, session="now", only_session=True)} == {"now"}


def test_the_choices_of_a_search_are_fields_of_its_request(memory: NodeProcess) -> None:
    varied = ask(memory, fusion="weighted", vector_weight=0.5, multiplier=8, mmr=True, decay=True, half_life_days=7)
    assert {"fused", "decay", "diversity"} <= varied[0]["components"].keys()
    plain, unlike = ([hit["text"] for hit in ask(memory, mmr=wish)[:2]] for wish in (False, True))
    assert len(set(plain)) == 1
    assert len(set(unlike)) == 2


@pytest.mark.parametrize("fields", [{"only_session": True}, {"vector_weight": 0.5}, {"threshold": 0.5}])
def test_a_choice_without_effect_is_refused_in_words(memory: NodeProcess, fields: dict[str, Any]) -> None:
    refusal = memory.post("/v1/search", {"query": QUESTION, "user": "ines"} | fields)
    assert refusal.status_code == 422
    assert next(iter(fields)) in refusal.text
