"""Where a memory is seen from: the scope decides its weight and how fast it fades (spec 01 §3)."""

from enum import StrEnum
from typing import NamedTuple


class Scope(StrEnum):
    SESSION = "session"
    HISTORY = "history"  # another session of the same user; never searched by profile `seed`
    USER = "user"  # durable memory
    GLOBAL = "global"


class PerScope(NamedTuple):
    """One number for each scope."""

    session: float
    history: float
    user: float
    shared: float

    def of(self, scope: Scope) -> float:
        return self[_POSITIONS[scope]]


_POSITIONS = {Scope.SESSION: 0, Scope.HISTORY: 1, Scope.USER: 2, Scope.GLOBAL: 3}

# The sources know three scopes; history lies between session and durable memory in both rows.
SCOPE_WEIGHTS = PerScope(session=1.0, history=0.8, user=0.6, shared=0.3)
SCOPE_RATES = PerScope(session=1e-4, history=3e-5, user=1e-5, shared=2e-6)  # λ_s per second
