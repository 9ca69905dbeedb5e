"""What the gate made durable stands for the turn it came from, and takes one place with it (D2-9)."""

from tests.integration.node_process import NodeProcess

FACT = "I run a small pottery studio in Bristol, and since Monday I have a new electric kiln."
SMALL_TALK = "ok thanks, sounds good"


def test_a_durable_memory_stands_for_its_turn(node: NodeProcess) -> None:
    for place, text in enumerate((FACT, SMALL_TALK)):
        turn = {"user": "iris", "session": "s1", "role": "user", "text": text, "event_id": f"iris-{place}"}
        assert node.post("/v1/turns?wait=searchable", turn).json()["searchable"]
    node.wait_drained()
    hits = node.post("/v1/search", {"user": "iris", "query": "Where is my pottery studio?"}).json()["hits"]
    copies = [hit["kind"] for hit in hits if hit["event_id"] == "iris-0"]
    assert copies == ["memory"]
    body = {"user": "iris", "session": "s2", "query": "Where is my pottery studio?", "token_budget": 2000}
    blocks = node.post("/v1/assemble", body).json()["blocks"]
    shown = [entry for block in blocks for entry in block["entries"] if entry["event_id"] == "iris-0"]
    assert [entry["kind"] for entry in shown] == ["memory"]
