"""Every Redis key name in one place, so that no part invents its own and none is left without an owner."""

import hashlib
import re
from typing import Final
from urllib.parse import quote, unquote

PREFIX: Final = "lithify:"

PARTITIONS: Final = f"{PREFIX}partitions"
"""The number of partitions this Redis was first used with."""

COPYING: Final = f"{PREFIX}copying"
"""Is the lock of whoever copies all memories or forgets some; it runs out by itself."""

TURNS: Final = f"{PREFIX}turns:"
"""Begins the names of the streams of accepted events."""

LETTER_OWNERS: Final = f"{PREFIX}letter-owners"
"""Set of the tenants that have dead letters; the empty name stands for letters nobody can read."""

WORKERS: Final = f"{PREFIX}workers"
"""Sorted set of the keys of all workers by their last beat, so that listing them needs no scan of all keys."""

API_KEYS: Final = f"{PREFIX}apikeys"
"""Set of the ids of all API keys; as long as it is empty, the service is open to its own machine only."""

# Keys that live until someone deletes them: the janitor trims `turns` and `stored`, the operator purges `dead`, with it
# `letters`, and revokes keys; `letters-read` and `partitions` stay. Every other key of ours expires by itself.
PERMANENT: Final = (
    "turns",
    "stored",
    "dead",
    "letters",
    "letters-read",
    "letter-owners",
    "partitions",
    "apikeys",
    "apikey",
)

_BULK: Final = "bulk"
_PARTITION = re.compile(r"\{(\d+)\}")
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]+")


def partition_of(tenant: str, session: str, partitions: int) -> int:
    """Returns the partition of a session: the same on every machine and in every release."""
    name = f"{_part(tenant)}:{_part(session)}"
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % partitions


def turns(partition: int) -> str:
    """Stream of accepted events."""
    return f"{TURNS}{{{partition}}}"


def bulk(partition: int) -> str:
    """Stream of accepted events of tenants that have many waiting already; read beside `turns`, after it."""
    return f"{turns(partition)}:{_BULK}"


def turn_lanes(partition: int) -> tuple[str, str]:
    """Returns both streams of a partition's accepted events."""
    return turns(partition), bulk(partition)


def turn_streams(partitions: int) -> list[str]:
    """Returns every stream of accepted events."""
    return [stream for partition in range(partitions) for stream in turn_lanes(partition)]


def is_bulk(stream: str) -> bool:
    return stream.endswith(f":{_BULK}")


def lane(partition: int, tenant: str) -> str:
    """Hash: the latest entries of a tenant in `turns` and `bulk`, by which the lane of its next one is chosen."""
    return f"{PREFIX}lane:{{{partition}}}:{_part(tenant)}"


def stored(partition: int) -> str:
    """Stream of events whose points are in the store."""
    return f"{PREFIX}stored:{{{partition}}}"


def dead(partition: int) -> str:
    """Stream of messages that were given up, with the original payload."""
    return f"{PREFIX}dead:{{{partition}}}"


def letters(tenant: str | None) -> str:
    """Sorted set: the dead letters of a tenant by the time of burial; None for those nobody can read."""
    return f"{PREFIX}letters:{_part(tenant or '')}"


def letters_read(partition: int) -> str:
    """The id up to which the dead letters of a partition are in the sets of their tenants."""
    return f"{PREFIX}letters-read:{{{partition}}}"


def tail(partition: int, tenant: str, user: str, session: str) -> str:
    """List of the newest raw turns of a session; hosts may name the sessions of two users alike."""
    return f"{PREFIX}tail:{{{partition}}}:{_part(tenant)}:{_part(user)}:{_part(session)}"


def session_seq(partition: int, tenant: str, user: str, session: str) -> str:
    """The highest position given out in a session."""
    return f"{PREFIX}session:{{{partition}}}:{_part(tenant)}:{_part(user)}:{_part(session)}"


def receipt(tenant: str, event_id: str) -> str:
    """Hash that is dedup record and receipt of one event."""
    return f"{PREFIX}receipt:{_part(tenant)}:{_part(event_id)}"


def trace(tenant: str, trace_id: str) -> str:
    """The receipt of one search or assemble."""
    return f"{PREFIX}trace:{_part(tenant)}:{_part(trace_id)}"


def trace_index(tenant: str) -> str:
    """List: ids and sizes of the traces of a tenant, oldest first."""
    return f"{PREFIX}trace-index:{_part(tenant)}"


def trace_bytes(tenant: str) -> str:
    """The sum of the sizes in the index of traces."""
    return f"{PREFIX}trace-bytes:{_part(tenant)}"


def session_state(partition: int, tenant: str, user: str, session: str) -> str:
    """Hash: the compaction generation of a session, moved by compare and swap only, and the tokens since then."""
    return f"{PREFIX}state:{{{partition}}}:{_part(tenant)}:{_part(user)}:{_part(session)}"


def activity(partition: int) -> str:
    """Sorted set: the sessions of a partition by the time of their last turn, to find those that fell silent."""
    return f"{PREFIX}activity:{{{partition}}}"


def use_counts(tenant: str, user: str) -> str:
    """Hash: how often each of a user's memories was recalled; its name in Redis is an older word for it."""
    return f"{PREFIX}access:{_part(tenant)}:{_part(user)}"


def every_use_count(tenant: str) -> str:
    """Returns a pattern for SCAN: the use counts of all users of a tenant."""
    return matching("access", tenant, None)


def generation(tenant: str, subject: str) -> str:
    """Counter that a write of the subject (authored documents, a user's durable memory) moves; readers compare it."""
    return f"{PREFIX}generation:{_part(tenant)}:{_part(subject)}"


def forgotten(tenant: str) -> str:
    """Sorted set: what a tenant had forgotten lately, each with the moment up to which, in ms."""
    return f"{PREFIX}forgotten:{_part(tenant)}"


def docs_lane(tenant: str) -> str:
    """List: the receipts of the latest refreshes and benchmarks of a tenant's documents."""
    return f"{PREFIX}docs-lane:{_part(tenant)}"


def api_key(key_id: str) -> str:
    """Hash of one API key: its digest, tenant and scopes, never the key itself."""
    return f"{PREFIX}apikey:{_part(key_id)}"


def rate(key_id: str) -> str:
    """Hash: what one API key has used of its rate limit."""
    return f"{PREFIX}rate:{_part(key_id)}"


def browser_session(digest: str) -> str:
    """Names a browser session of the dashboard: its API key, readable only with the token the browser holds."""
    return f"{PREFIX}visit:{_part(digest)}"


def worker(kind: str, name: str) -> str:
    """Text: what one consumer last said about itself."""
    return f"{PREFIX}worker:{_part(kind)}:{_part(name)}"


def partition_in(stream: str) -> int:
    """Returns the partition a per-partition key belongs to."""
    match = _PARTITION.search(stream)
    if match is None:
        raise ValueError(f"{stream} names no partition; expected a part like {{0}}")
    return int(match.group(1))


def matching(kind: str, *parts: str | None) -> str:
    """Returns a pattern for SCAN: the keys of a kind with these parts, None standing for any.

    A quoted part holds neither a colon nor a wildcard, so that `u1` never meets `u10` (spec 01 N4).
    """
    return PREFIX + ":".join([kind, *("*" if part is None else _part(part) for part in parts)])


def parts_of(key: bytes | str) -> list[str]:
    """Returns the parts a key was made of, without its kind."""
    name = key if isinstance(key, str) else key.decode()
    return [unquote(part) for part in name.removeprefix(PREFIX).split(":")[1:]]


def kind_of(key: str) -> str:
    """Returns the first part of a key, such as `turns`."""
    return key.removeprefix(PREFIX).split(":", 1)[0]


def is_permanent(key: str) -> bool:
    return kind_of(key) in PERMANENT


def _part(value: str) -> str:
    # Quotes ':' and braces too: ("a:b", "c") stays apart from ("a", "b:c"), and no id makes a hash tag (spec 01 N3).
    # Most ids are plain; quoting those costs a tenth of accepting a batch.
    return value if _PLAIN.fullmatch(value) else quote(value, safe="")
