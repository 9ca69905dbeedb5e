"""Candidates for ranking tests: readable ones by hand and random ones by hypothesis."""

from hypothesis import strategies as st

from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.memory.ranking.relevance import SIGNAL_NAMES, Signals

NOW = 1_700_000_000_000.0
PROFILES = (SEED, RECALL)
WORDS = ("harbour", "concert", "visa", "passport", "the", "lexer", "cache", "東京駅", "Добрый", "<b>", "&", "a")


def candidate(
    name: str = "a",
    dense: float = 0.0,
    *,
    age_s: float | None = None,
    text: str = "a plain memory",
    kind: Kind = Kind.TURN,
    scope: Scope = Scope.SESSION,
    decay_rate: float = 0.0,
    access_count: float = 0.0,
    authority: float | None = None,
    source_turn: str | None = None,
    hop_targets: tuple[str, ...] = (),
) -> Candidate:
    return Candidate(
        id=name,
        text=text,
        scope=scope,
        kind=kind,
        signals=Signals(dense=dense),
        role="user",
        ts=None if age_s is None else NOW - 1000.0 * age_s,
        decay_rate=decay_rate,
        access_count=access_count,
        authority=authority,
        source_turn=source_turn,
        hop_targets=hop_targets,
    )


def wild_numbers() -> st.SearchStrategy[float]:
    """Anything a float can hold, NaN and infinities included."""
    return st.floats(width=64)


def texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


def wild_signals() -> st.SearchStrategy[Signals]:
    """Any numbers; None for the signals that a record may lack."""
    unit = wild_numbers() | st.floats(0, 1)
    known = dict.fromkeys(SIGNAL_NAMES, unit) | {"dense": wild_numbers() | st.floats(-1, 1)}
    return st.builds(Signals, **known | {name: st.none() | unit for name in ("session", "reply")})


def wild_candidates(max_size: int = 10) -> st.SearchStrategy[list[Candidate]]:
    """Candidates with distinct ids and arbitrary numbers."""
    one = st.builds(
        Candidate,
        id=st.integers(0, 500).map("r{}".format),
        text=texts(),
        scope=st.sampled_from(Scope),
        kind=st.sampled_from(Kind),
        signals=wild_signals(),
        role=st.sampled_from(("user", "assistant", "system", None)),
        ts=st.none() | wild_numbers() | st.floats(NOW - 1e10, NOW + 1e9),
        decay_rate=wild_numbers() | st.floats(0, 1),
        access_count=wild_numbers() | st.integers(0, 50).map(float),
        authority=st.none() | wild_numbers(),
        source_turn=st.none() | st.integers(0, 12).map("t{}".format),
        hop_targets=st.lists(st.integers(0, 500).map("r{}".format), max_size=3).map(tuple),
    )
    return st.lists(one, max_size=max_size, unique_by=lambda c: c.id)
