"""The doctor says what a crash may lose, whose vectors are stored, and what never ends."""

from pathlib import Path

import pytest
import redis as blocking

from lithify.cli.doctor import Finding
from lithify.cli.doctor.command import finding_table
from lithify.cli.doctor.machine import check_disk, check_fingerprint
from lithify.cli.doctor.redis import (
    MAX_SKEW_MS,
    check_access,
    check_clock,
    check_embedded_redis,
    check_keys,
    check_memory,
    check_redis,
    describe_loss,
    hide_password,
)
from lithify.settings import Settings, load_settings
from lithify.store import CollectionSpec
from lithify.store.memory_record import COLLECTION


@pytest.mark.parametrize(
    ("fsync", "words"),
    [("always", "loses nothing"), ("everysec", "one second"), ("no", "operating system decides"), (None, "may not be")],
)
def test_each_fsync_policy_has_its_describe_loss(fsync: str | None, words: str) -> None:
    assert words in describe_loss(fsync)


def test_the_embedded_redis_is_judged_by_the_setting() -> None:
    findings = {f.subject: f for f in check_embedded_redis(load_settings(redis_fsync="always"))}
    assert "fsync always" in findings["redis durability"].detail


def test_a_running_redis_is_looked_at_from_all_sides(redis_url: str) -> None:
    with blocking.Redis.from_url(redis_url) as client:
        client.config_set("maxmemory", 2**30)
    findings = {f.subject: f for f in check_redis(load_settings(redis_url=redis_url))}
    assert {name: f.ok for name, f in findings.items()} == {
        "redis": True,
        "redis durability": True,
        "redis eviction": True,
        "redis memory": True,
        "redis keys": True,
        "API keys": True,
        "clock": True,
    }
    assert "everysec" in findings["redis durability"].detail
    assert "noeviction" in findings["redis eviction"].detail


def test_a_redis_that_is_away_is_told_without_its_password() -> None:
    [finding] = check_redis(load_settings(redis_url="redis://:secret@127.0.0.1:1"))
    assert not finding.ok
    assert "secret" not in finding.detail
    assert hide_password("redis://:secret@host:1/2") == "redis://host:1/2"


@pytest.fixture
def client(redis_url: str) -> "blocking.Redis":
    return blocking.Redis.from_url(redis_url, decode_responses=True)


def test_keys_that_never_end_and_are_nobodys_are_named(client: "blocking.Redis") -> None:
    with client:
        assert check_keys(client).ok
        client.set("stray", 1)
        finding = check_keys(client)
        client.delete("stray")
    assert not finding.ok
    assert "stray" in finding.detail


def test_an_open_service_on_a_network_is_an_alarm(client: "blocking.Redis") -> None:
    with client:
        assert check_access(client, load_settings()).ok
        # Built past the check that refuses such a bind at start.
        exposed = Settings.model_construct(host="0.0.0.0")
        finding = check_access(client, exposed)
    assert not finding.ok
    assert "lithify keys create" in finding.detail


class Late:
    """A Redis whose clock is behind."""

    def time(self) -> tuple[int, int]:
        return 1_000_000, 0


def test_a_clock_that_is_off_is_told() -> None:
    finding = check_clock(Late())  # type: ignore[arg-type]  # only the clock is asked for
    assert not finding.ok
    assert MAX_SKEW_MS == 1_000


def test_memory_without_a_limit_or_near_it_is_an_alarm() -> None:
    unbounded = check_memory({"used_memory": 10, "maxmemory": 0})
    assert not unbounded.ok
    assert "no maxmemory" in unbounded.detail
    assert check_memory({"used_memory": 10, "maxmemory": 100 * 2**20}).ok
    assert not check_memory({"used_memory": 95 * 2**20, "maxmemory": 100 * 2**20}).ok


def test_vectors_of_another_model_are_an_alarm() -> None:
    stored = [CollectionSpec(COLLECTION, (8, 16, 32), "model-a")]
    assert check_fingerprint(stored, "model-a").ok
    assert check_fingerprint([], "model-a").ok
    other = check_fingerprint(stored, "model-b")
    assert not other.ok
    assert "lithify reembed" in other.detail


def test_the_disk_of_the_data_folder_is_measured(tmp_path: Path) -> None:
    [finding] = check_disk(load_settings(data_dir=tmp_path / "not" / "yet"))
    assert "GiB free" in finding.detail


def test_brackets_of_a_finding_are_shown_as_they_are() -> None:
    assert finding_table([Finding("redis", False, "[Errno 111] refused")]).row_count == 1
