"""What a retrieval found: candidates with their records, and the pieces by which long ones were found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lithify.assembly.recall.legs import Legs, is_piece
from lithify.assembly.recall.surroundings import name_whole
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.helpfulness import MemoryEvidence
from lithify.memory.ranking.relevance import Signals
from lithify.memory.vectors.cascade import TierTrace
from lithify.store import Hit
from lithify.store.memory_record import MemoryRecord


@dataclass(frozen=True, slots=True)
class FoundMemories:
    """Holds what a retrieval found: candidates with their signals, their records, and what could not be asked."""

    candidates: list[Candidate] = field(default_factory=list)
    memories: dict[str, MemoryRecord] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    tiers: list[TierTrace] = field(default_factory=list)  # which prefixes were searched, where a cascade is
    legs: Legs | None = None  # the two lists, where they are wanted
    evidence: MemoryEvidence | None = None  # what the memory as a whole shows of the question, where it is judged


def add_excerpts(
    candidates: Sequence[Candidate], excerpts: Mapping[str, str], memories: Mapping[str, MemoryRecord]
) -> list[Candidate]:
    """Gives every long candidate its best piece, and a copy of a turn that of the turn."""
    if not excerpts:
        return list(candidates)
    by_turn = {memories[key].event_id: text for key, text in excerpts.items() if memories[key].event_id}
    found = [excerpts.get(one.id) or by_turn.get(one.source_turn) for one in candidates]
    return [
        replace(one, excerpt=text) if text and text in one.text else one
        for one, text in zip(candidates, found, strict=True)
    ]


def show_pieces(found: FoundMemories, hits: Sequence[Hit]) -> FoundMemories:
    """Gives the candidates of a bare search the pieces they were found by, the best first."""
    excerpts: dict[str, str] = {}
    for hit in hits:
        if is_piece(hit) and name_whole(hit) in found.memories:
            excerpts.setdefault(name_whole(hit), str(hit.payload["text"]))
    return replace(found, candidates=add_excerpts(found.candidates, excerpts, found.memories))


def add_found(found: FoundMemories, more: FoundMemories) -> FoundMemories:
    """Adds what another look at the same found besides."""
    new = [candidate for candidate in more.candidates if candidate.id not in found.memories]
    return replace(found, candidates=[*found.candidates, *new], memories={**more.memories, **found.memories})


def share_turn_signals(signals: Mapping[str, Signals], memories: Mapping[str, MemoryRecord]) -> dict[str, Signals]:
    """Gives a copy of a turn, as durable memory or guidance, the signals the turn has in its conversation."""
    spoken = {memories[key].event_id: found for key, found in signals.items() if memories[key].kind == "turn"}
    return {key: spoken.get(memories[key].event_id, found) for key, found in signals.items()}
