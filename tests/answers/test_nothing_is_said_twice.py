"""What the host shows the model by itself is not said again, with and without ids."""

from typing import Any

from tests.integration.node_process import NodeProcess

TALK = [
    ("user", "My sister Runa moved into the lighthouse at Hvaler."),
    ("assistant", "A lighthouse! Does she keep the lamp herself?"),
    ("user", "She does, and her dog Bosun\n\n  guards it at night. Caf\u00e9 included."),
    ("assistant", "Bosun sounds reliable."),
]
QUESTION = "Who guards the lighthouse at night?"


def tell(node: NodeProcess, user: str, session: str) -> list[str]:
    ids = [f"{user}-{session}-{place}" for place in range(len(TALK))]
    for event_id, (role, text) in zip(ids, TALK, strict=True):
        turn = {"user": user, "session": session, "role": role, "text": text, "event_id": event_id}
        assert node.post("/v1/turns?wait=searchable", turn).json()["searchable"]
    return ids


def ask(node: NodeProcess, user: str, session: str, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    body = {"user": user, "session": session, "messages": messages, "token_budget": 2000} | more
    answer = node.post("/v1/assemble", body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def entries(answer: dict[str, Any]) -> list[str]:
    return [entry["text"] for block in answer["blocks"] for entry in block["entries"]]


def test_messages_without_ids_are_told_by_their_words(node: NodeProcess) -> None:
    tell(node, "ina", "now")
    # The same in other white space and another Unicode form, once as Anthropic's parts.
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": TALK[0][1]},
        {"role": "assistant", "content": [{"type": "text", "text": TALK[1][1]}]},
        {"role": "user", "content": "She does, and her dog Bosun guards it at night. Cafe\u0301 included. "},
        {"role": "assistant", "content": TALK[3][1]},
        {"role": "user", "content": QUESTION},
    ]
    answer = ask(node, "ina", "now", messages)
    assert entries(answer) == []
    assert answer["messages"] == messages


def test_what_the_host_no_longer_shows_is_still_remembered(node: NodeProcess) -> None:
    tell(node, "jon", "now")
    messages = [{"role": role, "content": text} for role, text in TALK[2:]]
    answer = ask(node, "jon", "now", [*messages, {"role": "user", "content": QUESTION}])
    told = "\n".join(entries(answer))
    assert TALK[0][1] in told
    assert "Bosun" not in told


def test_ids_win_over_words(node: NodeProcess) -> None:
    ids = tell(node, "kim", "now")
    messages = [{"role": role, "content": "shortened", "id": key} for key, (role, _) in zip(ids, TALK, strict=True)]
    answer = ask(node, "kim", "now", messages, query=QUESTION)
    assert entries(answer) == []


def test_ids_of_another_kind_do_no_harm(node: NodeProcess) -> None:
    tell(node, "lea", "now")
    messages: list[dict[str, Any]] = [
        {"role": role, "content": text, "id": f"msg_{n}"} for n, (role, text) in enumerate(TALK)
    ]
    messages.append({"role": "user", "content": QUESTION, "id": 7})
    answer = ask(node, "lea", "now", messages)
    assert entries(answer) == []
    assert answer["messages"] == messages


def test_a_shown_sentence_is_not_recalled_from_another_session(node: NodeProcess) -> None:
    tell(node, "mia", "then")
    messages = [{"role": "user", "content": f"{TALK[0][1]} "}, {"role": "user", "content": QUESTION}]
    answer = ask(node, "mia", "now", messages)
    told = entries(answer)
    assert TALK[0][1] not in told
    assert any("Bosun" in text for text in told)


def test_of_two_equal_turns_one_message_stands_for_the_newer(node: NodeProcess) -> None:
    for place, text in enumerate(("Yes, please.", "Shall I book it?", "Yes, please.")):
        role = "assistant" if place == 1 else "user"
        turn = {"user": "nils", "session": "now", "role": role, "text": text, "event_id": f"nils-{place}"}
        assert node.post("/v1/turns", turn).status_code == 202
    answer = ask(node, "nils", "now", [{"role": "user", "content": "Yes, please."}], query="")
    tail = [entry["event_id"] for block in answer["blocks"] for entry in block["entries"]]
    assert tail == ["nils-0", "nils-1"]


def test_a_history_of_thousands_of_messages_is_answered_in_time(node: NodeProcess) -> None:
    tell(node, "olga", "now")
    talk = [{"role": role, "content": text} for role, text in TALK]
    noise = [{"role": "tool", "content": f"line {n} of the log " * 20} for n in range(4000)]
    messages = [*noise, *talk, {"role": "user", "content": QUESTION}]
    answer = ask(node, "olga", "now", messages)
    assert entries(answer) == []
    assert answer["degraded"] == []
    assert answer["messages"] == messages
