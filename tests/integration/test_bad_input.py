"""Bad input gets a problem that names the field; nothing is stored and the server lives on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.node_process import NodeProcess

GOOD: dict[str, Any] = {"event_id": "bad", "user": "u", "session": "s", "role": "user", "text": "hello"}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path_factory.mktemp("bad") / "data", models_dir)
    node.start()
    yield node
    node.close()


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != name}


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        *(("/v1/turns", without(name), 422, name) for name in GOOD),
        ("/v1/turns", GOOD | {"user": 7}, 422, "user"),
        ("/v1/turns", GOOD | {"text": ""}, 422, "text"),
        ("/v1/turns", GOOD | {"text": " \n "}, 422, "text"),
        ("/v1/turns", GOOD | {"role": "wizard"}, 422, "role"),
        ("/v1/turns", GOOD | {"ts": "yesterday"}, 422, "ts"),
        ("/v1/turns", GOOD | {"tenant": "other"}, 403, "tenant"),
        ("/v1/turns", GOOD | {"text": "\ud800"}, 400, "JSON"),
        ("/v1/turns", [], 422, "body"),
        ("/v1/turns", "text", 422, "body"),
        ("/v1/turns?wait=forever", GOOD, 422, "wait"),
        ("/v1/turns", GOOD | {"text": "x" * 10_000_000}, 413, "body"),
        ("/v1/turns:batch", {"turns": [GOOD] * 513}, 422, "turns"),
        ("/v1/turns:batch", {"turns": []}, 422, "turns"),
        ("/v1/turns:batch", {"turns": "x"}, 422, "turns"),
        ("/v1/assemble", {"user": "u", "session": "s", "token_budget": -1}, 422, "token_budget"),
        ("/v1/assemble", {"user": "u", "session": "s"}, 422, "token_budget"),
        ("/v1/search", {"query": 5}, 422, "query"),
        ("/v1/search", {"query": "x", "limit": 0}, 422, "limit"),
        ("/v1/search", {"query": "x", "mode": "psychic"}, 422, "mode"),
        ("/v1/search", {"query": "x", "filters": {"roles": ["wizard"]}}, 422, "filters.roles"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_bad_request_is_a_problem_that_names_the_field(
    node: NodeProcess, path: str, body: Any, status: int, field: str
) -> None:
    if body == GOOD | {"text": "\ud800"}:
        answer = send(node, path, b'{"event_id":"bad","user":"u","session":"s","role":"user","text":"\\ud800"}')
    else:
        answer = node.post(path, body)
    assert_problem(answer, status, field)
    assert_untouched(node)


@pytest.mark.parametrize(
    ("content", "status", "named"),
    [
        (b"not json", 400, "JSON"),
        (b"", 422, "body"),
        (b'{"event_id": "bad', 400, "JSON"),
        (b'{"event_id":"bad","user":"\xff\xfe","session":"s","role":"user","text":"x"}', 400, "JSON"),
        (b"[" * 40_000, 400, "JSON"),
        (b'{"event_id":"bad","user":"u","session":"s","role":"user","text":"x","seq":1e999}', 400, "JSON"),
    ],
)
def test_a_broken_body_is_a_problem(node: NodeProcess, content: bytes, status: int, named: str) -> None:
    assert_problem(send(node, "/v1/turns", content), status, named)
    assert_untouched(node)


def send(node: NodeProcess, path: str, content: bytes) -> Any:
    return node.http.post(path, content=content, headers={"content-type": "application/json"})


def assert_problem(answer: Any, status: int, named: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert named in answer.json()["detail"]


def assert_untouched(node: NodeProcess) -> None:
    assert node.http.get("/v1/receipts/bad").status_code == 404
    assert node.status()["store"]["memories"] == 0
    assert node.http.get("/readyz").status_code == 200
