"""A question about time gets the turns that say when, however many others speak of its topic (D2-7)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

QUESTION = "How many days passed between mailing the passport and getting the visa?"
MAILED = "Posted the envelope with my papers on 9 April, a Tuesday."
ARRIVED = "The courier finally rang the bell on 2024-05-20, at 8:15 in the morning."
OPENINGS = ("Is there a rule for", "My sister asked about", "I keep worrying over", "Somebody told me about", "What of")
TOPICS = ("mailing the passport", "getting the visa", "passport and visa", "the visa after the passport")
ENDINGS = ("again?", "at the embassy?", "these forms?")
CHATTER = [f"{opening} {topic} {ending}" for opening in OPENINGS for topic in TOPICS for ending in ENDINGS]

SMALL_TALK = ("Thank you.", "Good.", "Well then.", "Yes.", "Fine.")  # so that no topic has a date for its neighbour


@pytest.fixture(scope="module", params=["seed", "recall"])
def node(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, models_dir: Path
) -> Iterator[NodeProcess]:
    folder = tmp_path_factory.mktemp(f"dates-{request.param}") / "data"
    node = NodeProcess(folder, models_dir, LITHIFY_RETRIEVAL_PROFILE=request.param)
    node.start()
    said = [MAILED, ARRIVED, *SMALL_TALK, *CHATTER, *SMALL_TALK]
    turns = [
        {"user": "mia", "session": "s1", "role": "user", "text": text, "event_id": f"mia-{place}"}
        for place, text in enumerate(said)
    ]
    assert node.post("/v1/turns:batch", {"turns": turns}).status_code == 202
    node.wait_drained()
    yield node
    node.close()


def ask(node: NodeProcess, query: str = QUESTION, **fields: Any) -> dict[str, Any]:
    body = {"user": "mia", "session": "s1", "query": query, "token_budget": 1200} | fields
    answer: dict[str, Any] = node.post("/v1/assemble", body).json()
    return answer


def explain(node: NodeProcess, answer: dict[str, Any]) -> dict[str, Any]:
    trace: dict[str, Any] = node.http.get(f"/v1/traces/{answer['trace_id']}").json()
    return trace


def test_the_turns_that_say_when_are_in_the_prompt(node: NodeProcess) -> None:
    answer = ask(node)
    assert MAILED in answer["text"]
    assert ARRIVED in answer["text"]


def test_they_come_from_all_memories_and_not_from_what_was_found(node: NodeProcess) -> None:
    trace = explain(node, ask(node))
    found = {row["event_id"]: row for row in trace["considered"]}
    assert {"mia-0", "mia-1"} <= found.keys()
    if trace["profile"]["name"] == "seed":
        recovered = {key.removeprefix("memories::") for key in trace["temporal"]["recovered"]}
        assert {row["event_id"] for row in trace["considered"] if row["id"] in recovered} >= {"mia-0", "mia-1"}


def test_other_questions_do_not_look_for_dates(node: NodeProcess) -> None:
    found = {row["event_id"] for row in explain(node, ask(node, "passport and visa?"))["considered"]}
    assert found.isdisjoint({"mia-0", "mia-1"})


def test_what_the_host_shows_is_not_recovered(node: NodeProcess) -> None:
    shown = [{"role": "user", "content": MAILED, "id": "mia-0"}]
    answer = ask(node, messages=shown)
    assert MAILED not in answer["text"]
    assert ARRIVED in answer["text"]


def test_a_memory_that_knows_nothing_of_the_question_shows_no_dates(node: NodeProcess) -> None:
    if node.status()["profile"]["name"] == "seed":
        pytest.skip("the sources know no chance to help")
    answer = ask(node, "How many weeks after the harbour concert did the cellar of the brewery flood?", session="s2")
    assert "recalled_memories" not in answer["text"]
