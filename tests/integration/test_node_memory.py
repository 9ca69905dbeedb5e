"""A Redis near its bound refuses turns in time, with 429; questions are answered all the same."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis as blocking

from lithify.node.redis_server import EmbeddedRedis
from tests.integration.node_process import NodeProcess

MEMORY_MB = 32
MIB = 2**20
QUESTION = {"user": "ada", "session": "s2", "query": "Where does Ada live?", "token_budget": 1000}


@pytest.fixture
def node(tmp_path: Path, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path / "data", models_dir, LITHIFY_REDIS_MEMORY_MB=str(MEMORY_MB))
    node.start()
    yield node
    node.close()


@pytest.fixture
def redis(node: NodeProcess) -> Iterator[blocking.Redis]:
    with blocking.Redis.from_url(EmbeddedRedis(node.data_dir / "redis").url) as client:
        yield client


def turn(name: str) -> dict[str, str]:
    return {"event_id": name, "user": "ada", "session": "s1", "role": "user", "text": f"I live in Lisbon ({name})."}


def send(node: NodeProcess, name: str) -> int:
    return node.post("/v1/turns?wait=searchable", turn(name)).status_code


def fill(redis: blocking.Redis, share: float) -> None:
    """Fills Redis up to a share of what it may take."""
    for n in range(MEMORY_MB * 4):
        info = redis.info("memory")
        if info["used_memory"] > info["maxmemory"] * share:
            return
        redis.set(f"filler-{n}", b"x" * (MIB // 4), ex=600)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def assert_answers(node: NodeProcess) -> None:
    found = node.post("/v1/search", {"user": "ada", "query": "Where does Ada live?"})
    assert found.status_code == 200
    assert "t1" in [hit["event_id"] for hit in found.json()["hits"]]
    built = node.post("/v1/assemble", QUESTION)
    assert built.status_code == 200
    assert "Lisbon" in built.json()["text"]
    assert node.http.get(f"/v1/traces/{built.json()['trace_id']}").status_code == 200


def test_turns_are_refused_near_the_bound_and_questions_are_answered_at_it(
    node: NodeProcess, redis: blocking.Redis
) -> None:
    assert send(node, "t1") in (200, 202)
    fill(redis, 0.95)
    until(lambda: send(node, "t2") == 429)
    assert_answers(node)

    # And the last: a bound that is reached already, as by a fork of the file's rewriting.
    redis.config_set("maxmemory", redis.info("memory")["used_memory"] - MIB)
    assert send(node, "t2") == 429
    assert_answers(node)

    redis.config_set("maxmemory", MEMORY_MB * MIB)
    redis.delete(*redis.keys("filler-*"))
    until(lambda: send(node, "t2") in (200, 202))
