"""What the Redis-compatible server at hand can do, asked once at start: too old stops us, too forgetful warns."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from lithify.errors import Misconfigured
from lithify.streams.outage import outages

# First release with exclusive ranges, XTRIM MINID, XPENDING IDLE. Valkey counts on from Redis 7.2.
BASELINE: Final = (6, 2)
# Added in Redis 8.2 (first two) and 8.8. Reported, not used: one code path serves every server above the baseline.
NEWER_COMMANDS: Final = ("xackdel", "xdelex", "xnack")
# XREADGROUP … CLAIM is an option, which COMMAND INFO does not list.
CLAIM_SINCE: Final = (8, 4)

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """`newer` names what goes beyond the baseline; `warnings` tells in words what may lose accepted events."""

    product: str
    version: Version
    newer: frozenset[str]
    warnings: tuple[str, ...]


async def probe(redis: Redis) -> Capabilities:
    """Asks a server what it can do.

    Raises Misconfigured for one below the baseline, Unavailable if it does not answer.
    """
    with outages():
        info: dict[str, Any] = await redis.info()
        # The library's own call cannot read the answer about a command the server does not have.
        asked = redis.execute_command("COMMAND INFO", *NEWER_COMMANDS)  # type: ignore[no-untyped-call]  # untyped there
        known = await asked
        fsync = await _read_fsync(redis)
    return assess(info, [name for name, found in zip(NEWER_COMMANDS, known, strict=True) if found], fsync)


def assess(info: Mapping[str, Any], commands: Collection[str], fsync: str | None) -> Capabilities:
    """Judges a server by its own words; `fsync` is None where the configuration may not be read."""
    compatible = _version(info["redis_version"])
    product = "valkey" if "valkey_version" in info else "redis"
    version = _version(info.get("valkey_version", info["redis_version"]))
    if compatible < BASELINE:
        raise Misconfigured(
            f"Redis {info['redis_version']} is too old: version {'.'.join(map(str, BASELINE))} or newer, "
            "or any Valkey, is needed"
        )
    claim = {"xreadgroup claim"} if product == "redis" and version >= CLAIM_SINCE else set()
    return Capabilities(product, version, frozenset(commands) | claim, tuple(_warnings(info, fsync)))


def _warnings(info: Mapping[str, Any], fsync: str | None) -> Iterator[str]:
    if not info.get("aof_enabled"):
        yield "no append-only file: a crash of Redis loses accepted events; set appendonly yes"
    elif fsync == "no":
        yield "appendfsync is no: when accepted events reach the disk is left to chance; set everysec or always"
    if (policy := info.get("maxmemory_policy", "noeviction")) != "noeviction":
        yield f"maxmemory-policy is {policy}: Redis may evict accepted events; set noeviction"


def _version(text: object) -> Version:
    return tuple(int(part) for part in str(text).split(".") if part.isdigit())


async def _read_fsync(redis: Redis) -> str | None:
    try:
        found = await redis.config_get("appendfsync")
    except ResponseError:
        return None  # hosted servers often forbid CONFIG
    return found.get("appendfsync")
