"""Who copies memories and who forgets keep out of each other's way, on whichever machines they run."""

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis

from lithify.archive import exclude_copies, hold_shared_lock
from lithify.errors import Misconfigured, Unavailable
from lithify.node.reembed import run_reembed
from lithify.settings import Settings
from lithify.streams import keys
from tests.integration.rebuild_parts import quiet


async def test_second_machine_is_kept_out_though_it_has_a_folder_of_its_own(redis: Redis, tmp_path: Path) -> None:
    async with exclude_copies(tmp_path / "here", redis):
        with pytest.raises(Unavailable, match="copying the memories"):
            async with exclude_copies(tmp_path / "there", redis):
                pytest.fail("both are inside")
    async with exclude_copies(tmp_path / "there", redis):
        assert await redis.exists(keys.COPYING)
    assert not await redis.exists(keys.COPYING)


async def test_lock_outlasts_its_lease_while_its_holder_lives(redis: Redis) -> None:
    async with hold_shared_lock(redis, lease_s=2):
        with pytest.raises(Unavailable):
            async with hold_shared_lock(redis, patience_s=4):
                pytest.fail("both are inside")


async def test_holder_that_was_killed_is_waited_for(redis: Redis) -> None:
    await redis.set(keys.COPYING, "of a dead process", px=300)
    async with hold_shared_lock(redis, patience_s=10):
        assert await redis.get(keys.COPYING) != b"of a dead process"


async def test_holder_that_lost_the_lock_is_stopped(redis: Redis) -> None:
    async def hold_for_ever() -> None:
        async with hold_shared_lock(redis, lease_s=0.4):
            await redis.set(keys.COPYING, "of another", px=60_000)
            await asyncio.Event().wait()

    with pytest.raises(Unavailable, match="was lost"):
        await hold_for_ever()
    assert await redis.get(keys.COPYING) == b"of another"


async def test_reembedding_waits_for_a_forgetting_on_another_machine(
    redis: Redis, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lithify.node.reembed.LEASE_S", 0.2)
    settings = Settings(data_dir=tmp_path, redis_url=redis_url, embedding_profile="hash")
    async with hold_shared_lock(redis):
        with pytest.raises(Unavailable, match="copying the memories"):
            await run_reembed(settings, quiet)
    with pytest.raises(Misconfigured, match="no collection"):
        await run_reembed(settings, quiet)
