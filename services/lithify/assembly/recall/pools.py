"""Which stored records may answer: the one place that says what a session is allowed to see (spec 01 §3, N2)."""

from dataclasses import dataclass

from lithify.memory.ranking.candidate import Scope
from lithify.memory.ranking.profile import Profile
from lithify.store import Where
from lithify.store.memory_record import MemoryRecord

LASTING = (Scope.USER.value, Scope.GLOBAL.value)
RULES = ("hard", "soft")


@dataclass(frozen=True, slots=True)
class Pool:
    """Records that are searched together; what is `lasting` is the same in every session of a user."""

    where: Where
    lasting: bool = False


def session_pools(profile: Profile, session: str) -> tuple[Pool, ...]:
    """Returns all of the user's records at once, or the session's own apart from durable, global and authored ones."""
    kept = Where() if profile.raw_history else Where().equals("active", True)
    if profile.history == "user":
        return (Pool(kept),)
    own = kept.equals("session", session).equals("scope", Scope.SESSION.value)
    return Pool(own), Pool(kept.any_of("scope", LASTING), lasting=True)


def is_retrievable(memory: MemoryRecord) -> bool:
    """Says whether a record may be recalled: hard and soft rules are injected by right instead (X44)."""
    return memory.authored_tier not in RULES


def is_visible(memory: MemoryRecord, session: str, profile: Profile) -> bool:
    """Says whether a record that was not searched for may still be shown in this session."""
    if not memory.active and not (profile.raw_history and memory.kind == "turn"):
        return False
    return profile.history == "user" or memory.scope in LASTING or memory.session == session


def source_of(memory: MemoryRecord, record_id: str) -> str:
    """Names where a memory was said or written: the session, else the document, else the record itself."""
    return memory.session or memory.source_ref or record_id
