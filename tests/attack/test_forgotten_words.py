"""Whoever takes the disk after a forgetting finds nothing: the words are in no live file of the node."""

import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard

from tests.integration.node_process import NodeProcess

pytestmark = pytest.mark.attack

SENTENCE = "My locker at Quince Street opens with 90417"
KEPT = "The ferry to Harwich leaves at dawn"
# Every zstd frame begins so; segments of the archive hold many, receipts of answers one.
FRAME = re.compile(rb"\x28\xb5\x2f\xfd")


def unpack_frames(data: bytes) -> list[bytes]:
    found = []
    for start in (match.start() for match in FRAME.finditer(data)):
        try:
            found.append(zstandard.ZstdDecompressor().decompressobj().decompress(data[start:]))
        except zstandard.ZstdError:
            continue
    return found


def holding(folder: Path, words: str) -> list[str]:
    """The files that hold the words: as they are, in UTF-16, or compressed."""
    needles = [words.encode(), words.encode("utf-16-le"), words.encode("utf-16-be")]
    found = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue  # rotated away between the listing and the reading
        if any(needle in text for text in (data, *unpack_frames(data)) for needle in needles):
            found.append(str(path.relative_to(folder)))
    return found


def say(http: httpx.Client, user: str, event_id: str, text: str) -> None:
    turn = {"event_id": event_id, "user": user, "session": f"{user}-s", "role": "user", "text": text}
    assert http.post("/v1/turns?wait=searchable", json=turn).status_code == 202


def forget(http: httpx.Client, user: str) -> dict[str, Any]:
    """Waits as a patient operator does, whatever the machine is busy with."""
    asked = http.delete(f"/v1/users/{user}?wait=true", timeout=60).json()
    deadline = time.monotonic() + 120
    while asked["receipt"] is None:
        assert asked["error"] is None
        assert time.monotonic() < deadline, asked
        time.sleep(0.2)
        asked = http.get(f"/v1/forgettings/{asked['id']}").json()
    receipt: dict[str, Any] = asked["receipt"]
    return receipt


def test_forgotten_words_are_in_no_live_file_nor_after_a_clean_stop(node: NodeProcess, user: str) -> None:
    other = f"{user}-other"
    say(node.http, other, f"{user}-kept", KEPT)
    say(node.http, user, f"{user}-1", SENTENCE)
    # Long enough to be stored in pieces.
    say(node.http, user, f"{user}-2", f"{'I like walking by the sea in spring. ' * 120} {SENTENCE}.")
    question = {"user": user, "session": f"{user}-s", "query": SENTENCE, "token_budget": 800}
    assert SENTENCE in node.post("/v1/assemble", question).json()["text"]
    node.wait_drained()
    assert holding(node.data_dir, SENTENCE), "or else this test looks in the wrong place"

    receipt = forget(node.http, user)

    assert receipt["verified"] is True
    assert receipt["remains"] == []
    assert holding(node.data_dir, SENTENCE) == []
    assert holding(node.data_dir, KEPT) != []
    assert node.stop() == 0
    assert holding(node.data_dir, SENTENCE) == []
    node.start()
    found = node.post("/v1/search", {"user": other, "query": "When does the ferry leave?"}).json()["hits"]
    assert [hit["text"] for hit in found] == [KEPT]


def test_turn_sent_again_after_the_request_lives_and_the_forgetting_ends(node: NodeProcess, user: str) -> None:
    say(node.http, user, f"{user}-1", "I live at 5 Mulberry Lane")
    asked = node.http.delete(f"/v1/users/{user}").json()
    turn = {"event_id": f"{user}-1", "user": user, "session": "s2", "role": "user", "text": "I live at 9 Rowan Close"}
    deadline = time.monotonic() + 60
    while node.post("/v1/turns?wait=searchable", turn).status_code != 202:  # 409 until the former receipt is gone
        assert time.monotonic() < deadline
    while asked["receipt"] is None:
        assert time.monotonic() < deadline, asked
        asked = node.http.get(f"/v1/forgettings/{asked['id']}").json()
        time.sleep(0.1)
    found = node.post("/v1/search", {"user": user, "query": "Where do I live?"}).json()["hits"]
    assert {hit["text"] for hit in found} == {"I live at 9 Rowan Close"}
    assert node.http.get(f"/v1/receipts/{user}-1").status_code == 200
    assert holding(node.data_dir / "archive", "5 Mulberry Lane") == []
    assert holding(node.data_dir / "archive", "9 Rowan Close") != []
