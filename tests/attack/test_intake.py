"""What a sender of turns can make the service keep, and whom it can keep waiting."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
import redis

from lithify.streams import keys
from tests.integration.node_process import NodeProcess

pytestmark = pytest.mark.attack

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
MOST = 262_144
PATIENCE_S = 60


def turn(user: str, number: int, **change: Any) -> dict[str, Any]:
    body = {"event_id": f"{user}-{number}", "user": user, "session": user, "role": "user", "text": "hello"}
    return body | change


def errors_of(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 422, answer.text[:500]
    return [error["field"] for error in answer.json()["errors"]]


def open_redis(node: NodeProcess) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(next(node.data_dir.rglob("*.sock"))))


def test_a_header_does_not_multiply(node: NodeProcess, user: str) -> None:
    """138 kB sent were 190 MB in Redis."""
    batch = {"turns": [turn(user, number) for number in range(512)]}
    headers = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01-{'x' * 30_000}"}
    answer = node.http.post("/v1/turns:batch", json=batch, headers=headers)
    # Ignored, unless headers of this size are refused altogether.
    assert answer.status_code in (202, 431), answer.text[:500]
    with open_redis(node) as stored:
        tails = [key for key in stored.scan_iter(f"{keys.PREFIX}tail:*") if user.encode() in key]
        entries = [entry for key in tails for entry in stored.lrange(key, 0, -1)]
    assert all(len(entry) < 1_000 for entry in entries)
    assert bool(entries) == (answer.status_code == 202)


@pytest.mark.parametrize("version", ["00", "cc"])
def test_a_trace_context_that_is_kept_is_no_longer_than_the_standard_has_it(
    node: NodeProcess, user: str, version: str
) -> None:
    headers = {"traceparent": f"{version}-{TRACE}-00f067aa0ba902b7-01{'-more' if version == 'cc' else ''}"}
    assert node.http.post("/v1/turns", json=turn(user, 0), headers=headers).status_code == 202
    with open_redis(node) as stored:
        [key] = [key for key in stored.scan_iter(f"{keys.PREFIX}tail:*") if user.encode() in key]
        [entry] = stored.lrange(key, 0, -1)
    assert f'"traceparent":"00-{TRACE}-00f067aa0ba902b7-01"'.encode() in entry


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text": "x" * (MOST + 1)}, "text"),
        ({"text": "😀" * MOST}, "text"),
        ({"text": None, "content": "x" * (MOST + 1)}, "content"),
        ({"text": None, "parts": [{"type": "text", "text": "x" * 200_000}] * 30}, "parts"),
        ({"text": None, "content": [{"type": "tool_result", "content": "x" * 200_000}] * 30}, "content"),
        ({"text": None, "parts": [{"toolResult": {"content": [{"text": "x" * 200_000}] * 30}}]}, "parts"),
        ({"meta": {"k": ["x" * 100] * 100}}, "meta"),
        ({"meta": {"k": [0] * 50_000}}, "meta"),
        ({"tool_calls": [{"input": [0] * 66_000}]}, "tool_calls"),
        ({"seq": 2**53 - 1}, "seq"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_one_size_law_holds_for_a_turn_alone_and_in_a_batch(
    target: httpx.Client, user: str, change: dict[str, Any], field: str
) -> None:
    body = turn(user, 0, **change)
    assert errors_of(target.post("/v1/turns", json=body)) == [field]
    [item] = target.post("/v1/turns:batch", json={"turns": [body]}).json()["results"]
    assert (item["status"], [error["field"] for error in item["errors"]]) == ("invalid", [field])


def test_no_position_keeps_a_session_from_counting_on(target: httpx.Client, user: str) -> None:
    target.post("/v1/turns", json=turn(user, 0)).raise_for_status()
    far = target.post("/v1/turns", json=turn(user, 1, seq=2**52 - 1))
    assert far.status_code == 422
    assert "seq" in far.json()["detail"]
    batch = {"turns": [turn(user, 2, seq=2**52 - 1), *(turn(user, number) for number in range(3, 6))]}
    refused, *counted = target.post("/v1/turns:batch", json=batch).json()["results"]
    assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", "seq")
    assert [item["seq"] for item in counted] == [2, 3, 4]


def test_refusing_says_less_than_was_sent(target: httpx.Client, user: str) -> None:
    bad = {"event_id": "x" * 1_000} | {f"{'f' * 20}{number}": number for number in range(60)}
    request = target.build_request("POST", "/v1/turns:batch", json={"turns": [bad] * 512})
    answer = target.send(request)
    assert answer.json()["rejected"] == 512
    assert len(answer.content) < len(request.content)


@pytest.mark.parametrize("text", ["\ufdfa" * MOST, "e" + "\u0301\u0323" * (MOST // 2 - 1)], ids=["growing", "accents"])
def test_letters_that_grow_and_accents_without_an_end_are_stored_like_others(
    target: httpx.Client, user: str, text: str
) -> None:
    target.post("/v1/turns", json=turn(user, 0, text=text)).raise_for_status()
    deadline = time.monotonic() + PATIENCE_S
    while not target.get(f"/v1/receipts/{user}-0").raise_for_status().json()["embedded_at"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_hundred_may_wait_at_once(target: httpx.Client, user: str) -> None:
    def send(number: int) -> bool:
        answer = target.post("/v1/turns?wait=searchable", json=turn(user, number), timeout=60)
        return bool(answer.raise_for_status().json()["searchable"])

    with ThreadPoolExecutor(100) as pool:
        assert all(pool.map(send, range(100)))
