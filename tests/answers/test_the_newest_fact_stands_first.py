"""When a user says something anew, the newer stands first and the older says that it is out of date (D2-13, D11)."""

from typing import Any

from tests.integration.node_process import NodeProcess

DAY = 86_400_000
START = 1_700_000_000_000


def say(node: NodeProcess, user: str, text: str, *, day: int, session: str = "s1") -> str:
    event_id = f"{user}-{day}-{session}"
    turn = {"user": user, "session": session, "role": "user", "text": text, "event_id": event_id}
    assert node.post("/v1/turns?wait=searchable", turn | {"ts": START + day * DAY}).json()["searchable"]
    return event_id


def search(node: NodeProcess, user: str, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = node.post("/v1/search", {"user": user, "query": query} | more)
    assert answer.status_code == 200, answer.text
    hits: list[dict[str, Any]] = answer.json()["hits"]
    return hits


def recalled(node: NodeProcess, user: str, query: str) -> list[dict[str, Any]]:
    body = {"user": user, "session": "new", "query": query, "token_budget": 2000, "min_score": 0}
    answer = node.post("/v1/assemble", body)
    if answer.status_code == 422:
        answer = node.post("/v1/assemble", {key: value for key, value in body.items() if key != "min_score"})
    assert answer.status_code == 200, answer.text
    return [entry for block in answer.json()["blocks"] for entry in block["entries"]]


def test_the_present_home_stands_before_the_former_one(node: NodeProcess) -> None:
    older = say(node, "mara", "I live in Berlin, near the Tempelhof field.", day=0)
    newer = say(node, "mara", "I live in Porto now.", day=600, session="s2")
    node.wait_drained()
    hits = [hit for hit in search(node, "mara", "Where do I live?") if hit["event_id"] in (older, newer)]
    assert [hit["event_id"] for hit in hits] == [newer, older]
    assert hits[0]["superseded_by"] is None
    assert hits[1]["superseded_by"] is not None
    shown = [entry["event_id"] for entry in recalled(node, "mara", "Where do I live?")]
    assert shown.index(newer) < shown.index(older)


def test_the_order_of_arrival_does_not_matter(node: NodeProcess) -> None:
    newer = say(node, "nils", "My phone number is 555-0199.", day=10, session="s2")
    older = say(node, "nils", "my number is 555-0134", day=1)
    node.wait_drained()
    marks = {hit["event_id"]: hit["superseded_by"] for hit in search(node, "nils", "What is my phone number?")}
    assert marks[newer] is None
    assert marks[older] is not None


def test_the_latest_address_is_found_by_an_assemble_too(node: NodeProcess) -> None:
    say(node, "olga", "My home address is 12 Oak Street.", day=0)
    say(node, "olga", "We moved last week: it is 9 Elm Road.", day=400, session="s2")
    node.wait_drained()
    texts = [entry["text"] for entry in recalled(node, "olga", "What is my latest home address?")]
    assert "9 Elm Road" in texts[0]


def test_what_may_both_hold_is_left_alone(node: NodeProcess) -> None:
    say(node, "pia", "My dog is called Rex.", day=0)
    say(node, "pia", "My other dog is called Bello.", day=1)
    node.wait_drained()
    assert all(hit["superseded_by"] is None for hit in search(node, "pia", "What are my dogs called?"))


def test_a_host_can_say_outright_what_is_replaced(node: NodeProcess) -> None:
    older = node.post("/v1/memories", {"user": "quin", "text": "The deploy window opens at noon."}).json()["id"]
    body = {"user": "quin", "text": "Deploys happen after lunch.", "supersedes": older}
    newer = node.post("/v1/memories", body).json()["id"]
    hits = search(node, "quin", "When is the deploy window?")
    assert [hit["id"] for hit in hits] == [newer, older]
    assert hits[1]["superseded_by"] == newer
    stranger = node.post("/v1/memories", {"user": "rosa", "text": "Mine.", "supersedes": older})
    assert stranger.status_code == 404
    assert "supersedes" in stranger.text
