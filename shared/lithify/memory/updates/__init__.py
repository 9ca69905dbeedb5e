"""What a user says about themselves that can hold in one way only, and which statement of it is the newest."""

from lithify.memory.updates.claims import Claim, read_claims
from lithify.memory.updates.supersession import Statement, find_superseded, is_updated, newest_first

__all__ = ["Claim", "Statement", "find_superseded", "is_updated", "newest_first", "read_claims"]
