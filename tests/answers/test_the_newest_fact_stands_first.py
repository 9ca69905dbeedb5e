"""When a user says something anew, the newer stands first and the older says that it is out of date (D2-13, D11)."""

import json
from pathlib import Path
from typing import Any

from tests.answers.newest_first import Pair, describe, measure_pairs
from tests.integration.node_process import NodeProcess

PAIRS = Path(__file__).parents[1] / "benchmark" / "updates" / "messy.jsonl"

DAY = 86_400_000
START = 1_700_000_000_000


def say(node: NodeProcess, user: str, text: str, *, day: int, session: str = "s1", **more: Any) -> str:
    event_id = f"{user}-{day}-{session}"
    turn = {"user": user, "session": session, "role": "user", "text": text, "event_id": event_id} | more
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
    newer = say(node, "mara", "I live in Porto now.", day=697, session="s2")
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


def test_a_turn_can_say_outright_what_it_replaces(node: NodeProcess) -> None:
    older = say(node, "sven", "The deploy window opens at noon.", day=0)
    node.wait_drained()
    [hit] = search(node, "sven", "When is the deploy window?")
    newer = say(node, "sven", "We ship after lunch, all of us.", day=1, session="s2", supersedes=hit["path"])
    node.wait_drained()
    assert node.http.get(f"/v1/receipts/{newer}").json()["superseded"] == hit["id"]
    hits = search(node, "sven", "When is the deploy window?")
    assert [one["event_id"] for one in hits] == [newer, older]
    assert [one["superseded_by"] is not None for one in hits] == [False, True]
    texts = [entry["text"] for entry in recalled(node, "sven", "When is the deploy window?")]
    assert texts == ["We ship after lunch, all of us.", "The deploy window opens at noon."]
    body = {
        "user": "sven",
        "session": "new",
        "query": "When is the deploy window?",
        "token_budget": 2000,
        "min_score": 0,
    }
    assert "2023-11-14 user, outdated]" in node.post("/v1/assemble", body).json()["text"]


def test_forgetting_the_newer_restores_the_older(node: NodeProcess) -> None:
    older = say(node, "tine", "I live in Graz.", day=0)
    newer = say(node, "tine", "I live in Linz now.", day=100, session="s2")
    node.wait_drained()
    hits = {hit["event_id"]: hit for hit in search(node, "tine", "Where do I live?")}
    assert hits[older]["superseded_by"] is not None
    gone = node.http.delete(f"/v1/memories/{hits[newer]['id']}", params={"wait": "true"})
    assert gone.status_code in (200, 202), gone.text
    node.wait_drained()
    left = [(hit["event_id"], hit["superseded_by"]) for hit in search(node, "tine", "Where do I live?")]
    assert left == [(older, None)]


def test_nobody_replaces_the_memory_of_somebody_else(node: NodeProcess) -> None:
    say(node, "ugo", "My locker code is 4711.", day=0)
    node.wait_drained()
    [hit] = search(node, "ugo", "What is my locker code?")
    intruder = say(node, "vera", "My locker code is 9999.", day=1, supersedes=hit["id"])
    node.wait_drained()
    receipt = node.http.get(f"/v1/receipts/{intruder}").json()
    assert receipt["superseded"] is None
    assert hit["id"] in receipt["supersedes_error"]
    assert search(node, "ugo", "What is my locker code?")[0]["superseded_by"] is None
    assert hit["event_id"] not in node.http.get("/v1/export", params={"user": "vera"}).text


def test_what_cannot_be_replaced_is_refused_in_words(node: NodeProcess) -> None:
    turn = {"user": "wim", "session": "s", "role": "user", "text": "Hello there.", "event_id": "wim-1"}
    no_id = node.post("/v1/turns", turn | {"supersedes": "the old one"})
    assert no_id.status_code == 422
    assert "id or the path of a memory" in no_id.text
    no_user = node.post(
        "/v1/turns", turn | {"role": "assistant", "supersedes": "0" * 8 + "-0000-0000-0000-" + "0" * 12}
    )
    assert no_user.status_code == 422
    assert "role user" in no_user.text


def test_marks_survive_export_and_import(node: NodeProcess) -> None:
    older = say(node, "xeno", "I live in Graz.", day=0)
    say(node, "xeno", "I live in Linz now.", day=100, session="s2")
    node.wait_drained()
    lines = [json.loads(line) for line in node.http.get("/v1/export", params={"user": "xeno"}).text.splitlines()]
    assert node.post("/v1/import", {"records": lines}).status_code == 200
    marks = {hit["event_id"]: hit["superseded_by"] for hit in search(node, "xeno", "Where do I live?")}
    assert marks.pop(older) is not None
    assert set(marks.values()) == {None}


def test_the_newest_of_messy_statements_stands_first_unmarked_or_not(node: NodeProcess) -> None:
    rows = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    pairs = [Pair(row["label"], row["earlier"], row["later"], row["question"]) for row in rows]
    outcomes = measure_pairs(node, pairs, "messy")
    updates = [one for one in outcomes if one.pair.kind == "update"]
    others = [one for one in outcomes if one.pair.kind != "update"]
    told = "; ".join(describe(outcomes))
    assert sum(one.stands_first for one in updates) >= 0.95 * len(updates), told
    assert sum(one.is_marked or one.is_wrongly_marked for one in others) <= 0.02 * len(others), told
