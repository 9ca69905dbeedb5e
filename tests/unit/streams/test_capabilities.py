"""A server below the baseline is refused in one line; one that may lose events is warned about."""

from typing import Any

import pytest

from lithify.errors import Misconfigured
from lithify.streams.capabilities import assess

SOUND: dict[str, Any] = {"redis_version": "7.0.15", "aof_enabled": 1, "maxmemory_policy": "noeviction"}
VALKEY: dict[str, Any] = SOUND | {"redis_version": "7.2.4", "valkey_version": "9.1.2", "server_name": "valkey"}


def test_a_sound_server_has_nothing_to_warn_about() -> None:
    found = assess(SOUND, (), "everysec")
    assert (found.product, found.version, found.newer, found.warnings) == ("redis", (7, 0, 15), frozenset(), ())


def test_valkey_is_known_by_its_own_name_and_version() -> None:
    found = assess(VALKEY, (), "always")
    assert (found.product, found.version) == ("valkey", (9, 1, 2))


@pytest.mark.parametrize("version", ["6.0.20", "5.0.7"])
def test_a_server_below_the_baseline_is_refused(version: str) -> None:
    with pytest.raises(Misconfigured, match=rf"Redis {version} is too old: version 6\.2"):
        assess(SOUND | {"redis_version": version}, (), None)


def test_the_baseline_itself_is_enough() -> None:
    assert assess(SOUND | {"redis_version": "6.2.0"}, (), None).newer == frozenset()


@pytest.mark.parametrize(
    ("info", "claims"),
    [
        (SOUND | {"redis_version": "8.4.0"}, True),
        (SOUND | {"redis_version": "8.2.1"}, False),
        # Valkey's numbers are its own.
        (VALKEY, False),
    ],
)
def test_newer_commands_are_named(info: dict[str, Any], claims: bool) -> None:
    expected = {"xackdel", "xreadgroup claim"} if claims else {"xackdel"}
    assert assess(info, ["xackdel"], None).newer == expected


@pytest.mark.parametrize(
    ("info", "fsync", "words"),
    [
        (SOUND | {"aof_enabled": 0}, "everysec", "appendonly yes"),
        (SOUND, "no", "appendfsync is no"),
        (SOUND | {"maxmemory_policy": "allkeys-lru"}, "everysec", "allkeys-lru"),
    ],
)
def test_what_may_lose_accepted_events_is_warned_about(info: dict[str, Any], fsync: str, words: str) -> None:
    [warning] = assess(info, (), fsync).warnings
    assert words in warning


def test_a_configuration_that_may_not_be_read_is_no_reason_to_warn() -> None:
    assert assess(SOUND, (), None).warnings == ()
