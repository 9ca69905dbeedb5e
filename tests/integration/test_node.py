"""One turn end to end on real parts: sent over HTTP, embedded, found, assembled."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess, free_port, lithify

BODY: dict[str, Any] = {"user": "ada", "session": "s1", "role": "user"}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path_factory.mktemp("node") / "data", models_dir)
    node.start()
    yield node
    node.close()


def turn(event_id: str, text: str, **fields: Any) -> dict[str, Any]:
    return BODY | {"event_id": event_id, "text": text} | fields


def test_a_turn_becomes_searchable_and_appears_in_an_assembled_context(node: NodeProcess) -> None:
    sent = node.post("/v1/turns?wait=searchable", turn("e2e", "I moved to Lisbon in May and love the trams."))
    assert sent.status_code == 202
    assert sent.json()["status"] == "accepted"
    assert sent.json()["searchable"] is True

    hits = node.post("/v1/search", {"query": "Which city does Ada live in?", "user": "ada"}).json()["hits"]
    assert hits[0]["event_id"] == "e2e"
    assert hits[0]["components"]["dense"] > 0

    question = {"user": "ada", "session": "another", "query": "Where does Ada live?", "token_budget": 800}
    answer = node.post("/v1/assemble", question).json()
    assert "Lisbon" in answer["text"]
    assert 0 < answer["tokens"] <= 800
    assert answer["degraded"] == []
    trace = node.http.get(f"/v1/traces/{answer['trace_id']}").json()
    assert any(row["injected"] for row in trace["considered"])


def test_the_tail_shows_a_turn_as_soon_as_it_is_accepted(node: NodeProcess) -> None:
    node.post("/v1/turns", turn("tail-1", "remember the blue door", session="tail"))
    answer = node.post("/v1/assemble", {"user": "ada", "session": "tail", "query": "door", "token_budget": 500}).json()
    assert answer["text"].count("remember the blue door") == 1
    assert answer["blocks"][0]["name"] == "recent_session_tail"


def test_a_repeated_turn_is_a_duplicate_and_a_changed_one_a_conflict(node: NodeProcess) -> None:
    first = node.post("/v1/turns", turn("dup", "one"))
    again = node.post("/v1/turns", turn("dup", "one"))
    other = node.post("/v1/turns", turn("dup", "two"))
    elsewhere = node.post("/v1/turns", turn("dup", "one", session="s9"))
    assert (first.status_code, again.status_code, other.status_code, elsewhere.status_code) == (202, 200, 409, 409)
    assert again.json()["stream_id"] == first.json()["stream_id"]
    assert again.json()["status"] == "duplicate"


def test_a_receipt_tells_the_stages(node: NodeProcess) -> None:
    node.post("/v1/turns?wait=searchable", turn("receipt/1", "a turn with a slash in its id"))
    receipt = node.http.get("/v1/receipts/receipt/1").json()
    assert receipt["event_id"] == "receipt/1"
    assert receipt["accepted_at"] <= receipt["embedded_at"]
    assert node.http.get("/v1/receipts/never-sent").status_code == 404


def test_tool_turns_are_receipted_but_never_recalled(node: NodeProcess) -> None:
    sent = node.post("/v1/turns?wait=searchable", turn("tool-1", "zanzibar tool output", role="tool"))
    assert sent.status_code == 202
    assert sent.json()["searchable"] is False
    assert "role" in node.http.get("/v1/receipts/tool-1").json()["ignored"]
    hits = node.post("/v1/search", {"query": "zanzibar", "mode": "lexical"}).json()["hits"]
    assert "tool-1" not in [hit["event_id"] for hit in hits]


def test_each_turn_of_a_batch_is_judged_by_itself(node: NodeProcess) -> None:
    turns = [turn("b1", "fine"), turn("b2", ""), turn("b1", "fine"), turn("b1", "changed"), "nonsense"]
    answer = node.post("/v1/turns:batch", {"turns": turns})
    assert answer.status_code == 202
    assert [item["status"] for item in answer.json()["results"]] == [
        "accepted",
        "invalid",
        "duplicate",
        "conflict",
        "invalid",
    ]
    assert answer.json()["results"][1]["errors"][0]["field"] == "text"


def test_a_very_long_turn_is_found_by_its_last_words(node: NodeProcess) -> None:
    text = "The committee discussed the budget at length. " * 700 + "Finally they adopted a hedgehog named Biscuit."
    node.post("/v1/turns?wait=searchable", turn("long", text, session="long"))
    query = {"query": "What is the name of the hedgehog?", "session": "long", "only_session": True, "mode": "dense"}
    assert node.post("/v1/search", query).json()["hits"][0]["event_id"] == "long"


def test_the_commands_of_a_newcomer(node: NodeProcess, tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(
        '{"event_id":"c1","user":"bob","session":"c","role":"user","text":"My cat is called Ludwig."}\n'
        "\n"
        '{"event_id":"c2","user":"bob","session":"c","role":"assistant","text":"A fine name for a cat."}\n'
    )
    ingested = lithify("ingest", str(file), "--wait", "--json", **node.environment)
    assert ingested.returncode == 0, ingested.stderr
    assert '"accepted": 2' in ingested.stdout
    found = lithify("search", "name of the cat", "--user", "bob", **node.environment)
    assert "Ludwig" in found.stdout
    prompt = lithify("assemble", "the cat", "--user", "bob", "--session", "new", **node.environment)
    assert "<recalled_memories>" in prompt.stdout
    status = lithify("status", **node.environment)
    assert "ready" in status.stdout
    assert status.returncode == 0


def test_a_bad_line_of_a_file_is_named_and_the_rest_is_sent(node: NodeProcess, tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(
        '{"event_id":"d1","user":"b","session":"c","role":"user","text":"ok"}\nnot json\n{"event_id":"d2"}\n'
    )
    ingested = lithify("ingest", str(file), **node.environment)
    assert ingested.returncode == 1
    assert "line 2" in ingested.stderr
    assert "line 3" in ingested.stderr
    assert node.http.get("/v1/receipts/d1").status_code == 200


def test_a_second_node_on_the_same_folder_is_refused(node: NodeProcess) -> None:
    refused = lithify("up", **node.environment | {"LITHIFY_PORT": str(free_port())})
    assert refused.returncode == 3
    assert str(node.data_dir) in refused.stderr
    assert node.http.get("/readyz").status_code == 200


def test_a_taken_port_is_refused(node: NodeProcess, tmp_path: Path) -> None:
    settings = node.environment | {"LITHIFY_DATA_DIR": str(tmp_path)}
    refused = lithify("up", **settings)
    assert refused.returncode == 3
    assert str(node.port) in refused.stderr


def test_a_bad_setting_stops_the_process_with_one_line() -> None:
    refused = lithify("up", LITHIFY_PORT="lots")
    assert refused.returncode == 3
    assert refused.stderr.count("\n") == 1
    assert "LITHIFY_PORT" in refused.stderr
    assert "lots" in refused.stderr


def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    refused = lithify("up", LITHIFY_MODELS_DIR=str(tmp_path), LITHIFY_DATA_DIR=str(tmp_path / "data"))
    assert refused.returncode == 3
    assert "lithify models build" in refused.stderr
