"""Who may only read cannot fill the memory that accepted turns need: receipts of answers are not in it."""

import secrets

import pytest
import redis as blocking

from lithify.node.redis_server import EmbeddedRedis
from tests.integration.node_process import NodeProcess

pytestmark = pytest.mark.attack

QUESTIONS = 40
QUESTION_BYTES = 20_000


def test_long_questions_leave_the_memory_of_redis_as_it_was(node: NodeProcess, user: str) -> None:
    body = {"user": user, "session": "s", "token_budget": 16_000}
    assert node.post("/v1/assemble", body | {"query": "warm up"}).status_code == 200
    with blocking.Redis.from_url(EmbeddedRedis(node.data_dir / "redis").url) as redis:
        before = redis.info("memory")["used_memory"]
        for _ in range(QUESTIONS):
            # Nothing that could be compressed.
            query = " ".join(secrets.token_hex(4) for _ in range(QUESTION_BYTES // 9))
            assert node.post("/v1/assemble", body | {"query": query}).status_code == 200
        grown = redis.info("memory")["used_memory"] - before
    assert grown < QUESTIONS * QUESTION_BYTES / 4


def test_redis_has_a_bound_and_evicts_nothing(node: NodeProcess) -> None:
    with blocking.Redis.from_url(EmbeddedRedis(node.data_dir / "redis").url) as redis:
        info = redis.info("memory")
    assert info["maxmemory"] > 0
    assert info["maxmemory_policy"] == "noeviction"
