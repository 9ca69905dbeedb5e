"""The doctor's look at Redis: version, what a crash may lose, eviction, keys that never end, access, and its clock."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, cast

import redis

from lithify.access.authentication import is_loopback
from lithify.cli.doctor import Finding
from lithify.cli.keys import reachable_redis
from lithify.errors import LithifyError, Misconfigured
from lithify.jobs import keys as job_keys
from lithify.node.redis_binary import choose_binary
from lithify.settings import Settings
from lithify.streams import keys
from lithify.streams.capabilities import assess

TIMEOUT_S: Final = 5.0
# Ages in queues and times in receipts come from different clocks; leases do not, Redis alone counts those.
MAX_SKEW_MS: Final = 1_000
# Enough to see a leak, few enough for a server under load.
SAMPLED_KEYS: Final = 2_000
FOREVER: Final = -1

Client = redis.Redis


def check_redis(settings: Settings) -> Iterator[Finding]:
    url = reachable_redis(settings)
    if url is None:
        yield from check_embedded_redis(settings)
        return
    try:
        with redis.Redis.from_url(url, socket_timeout=TIMEOUT_S, decode_responses=True) as client:
            yield from check_running_redis(client, settings)
    except redis.RedisError as error:
        yield Finding("redis", False, f"{hide_password(url)} cannot be reached: {error}")


def hide_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def check_embedded_redis(settings: Settings) -> Iterator[Finding]:
    """Says what a node that does not run would start."""
    try:
        binary = choose_binary(None)
    except LithifyError as error:
        yield Finding("redis", False, str(error))
        return
    number = ".".join(map(str, binary.version))
    yield Finding("redis", True, f"embedded {binary.product} {number}, not running; noeviction")
    yield Finding("redis durability", True, describe_loss(settings.redis_fsync))


def check_running_redis(client: Client, settings: Settings) -> Iterator[Finding]:
    info: dict[str, Any] = client.info()
    yield from check_product(info)
    fsync = read_fsync(client)
    durable = bool(info["aof_enabled"]) and fsync != "no"
    without = "no append-only file: a crash loses all; set appendonly yes"
    yield Finding("redis durability", durable, describe_loss(fsync) if info["aof_enabled"] else without)
    policy = str(info.get("maxmemory_policy", "noeviction"))
    advice = "" if policy == "noeviction" else "; Redis may throw accepted events away, set noeviction"
    yield Finding("redis eviction", policy == "noeviction", f"maxmemory-policy {policy}{advice}")
    yield check_memory(info)
    yield check_keys(client)
    yield check_access(client, settings)
    yield check_clock(client)


def check_product(info: dict[str, Any]) -> Iterator[Finding]:
    try:
        found = assess(info, (), None)
    except Misconfigured as error:
        yield Finding("redis", False, str(error))
        return
    yield Finding("redis", True, f"{found.product} {'.'.join(map(str, found.version))}")


def read_fsync(client: Client) -> str | None:
    try:
        found = cast("dict[str, str]", client.config_get("appendfsync"))
    except redis.ResponseError:
        return None
    return found.get("appendfsync")


def describe_loss(fsync: str | None) -> str:
    if fsync is None:
        return "append-only file; its fsync policy may not be read here"
    loses = {"always": "a crash loses nothing acknowledged", "everysec": "a power failure may lose one second"}
    return f"append-only file, fsync {fsync}: {loses.get(fsync, 'the operating system decides when to write')}"


def check_memory(info: dict[str, Any]) -> Finding:
    used = int(info["used_memory"])
    limit = int(info.get("maxmemory", 0))
    detail = f"{used / 2**20:.0f} MiB used"
    if not limit:
        advice = "no maxmemory: the kernel ends Redis before turns are refused; set half of the machine's memory"
        return Finding("redis memory", False, f"{detail}, {advice}")
    return Finding("redis memory", used < 0.9 * limit, f"{detail} of {limit / 2**20:.0f} MiB")


def check_keys(client: Client) -> Finding:
    """Samples keys: each ends by itself or is declared permanent; what else stays is a leak, or somebody else's."""
    sample = list(islice(client.scan_iter(count=500), SAMPLED_KEYS))
    with client.pipeline(transaction=False) as pipe:
        for key in sample:
            pipe.ttl(key)
        lives = pipe.execute()
    immortal = [key for key, life in zip(sample, lives, strict=True) if life == FOREVER]
    foreign = [key for key in immortal if not is_declared(key)]
    if foreign:
        named = ", ".join(sorted(foreign)[:3])
        return Finding("redis keys", False, f"{len(foreign)} of {len(sample)} never end and are not ours: {named}")
    return Finding("redis keys", True, f"{client.dbsize()} keys; of {len(sample)} looked at, all end or are declared")


def is_declared(key: str) -> bool:
    return (key.startswith(keys.PREFIX) and keys.is_permanent(key)) or job_keys.is_permanent(key)


def check_access(client: Client, settings: Settings) -> Finding:
    known = client.scard(keys.API_KEYS)
    if known:
        return Finding("API keys", True, f"{known}; who has none is refused")
    safe = is_loopback(settings.host)
    if safe:
        return Finding("API keys", True, "none: open to every program on this machine")
    advice = "make one with `lithify keys create`"
    return Finding("API keys", False, f"none, but LITHIFY_HOST is {settings.host}; {advice}")


def check_clock(client: Client) -> Finding:
    """Compares the clocks in the middle of a round trip; what is left is skew."""
    before = time.time()
    seconds, micros = client.time()
    middle = (before + time.time()) / 2
    skew_ms = (seconds + micros / 1e6 - middle) * 1000
    ok = abs(skew_ms) <= MAX_SKEW_MS
    return Finding("clock", ok, f"Redis is {skew_ms:+.0f} ms off this machine" + ("" if ok else "; run a time service"))
