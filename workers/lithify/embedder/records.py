"""Makes store records of events: the payload, the three prefix tiers and the lexical vector."""

from collections.abc import Sequence
from dataclasses import replace

from lithify.embedding import Embedder
from lithify.events import Event, Role, is_heartbeat
from lithify.indexing import TextVectors, embed_each, embed_tiers, lexical_vector
from lithify.memory.guidance import name_claims
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.tokens import estimate_tokens
from lithify.store import Record, point_id
from lithify.store.memory_record import MemoryRecord, position_of

# How settled a turn counts when nothing else is known about it (spec 01 §5).
STABILITY = {Role.USER: 0.5, Role.ASSISTANT: 0.25}
OTHER_STABILITY = 0.2


def why_ignored(event: Event) -> str | None:
    """Says why an event is never recalled; None if it may be.

    Tool output only has a receipt and a line in the tail, a heartbeat only the receipt (spec 01 §5).
    """
    if event.role == Role.TOOL:
        return f"role {event.role} never becomes memory"
    return "a heartbeat never becomes memory" if is_heartbeat(event) else None


def becomes_memory(event: Event) -> bool:
    return why_ignored(event) is None


def make_records(events: Sequence[Event], embedder: Embedder, analyser: LexicalAnalyser) -> list[Record]:
    """Makes the records of events; CPU-bound, for all texts are embedded in one call.

    An event always gives the same point.

    Raises what the model raises if it cannot embed one of them.
    """
    tiers = embed_tiers([event.text for event in events], embedder)
    return [
        make_record(event, TextVectors(vectors), embedder, analyser)
        for event, vectors in zip(events, tiers, strict=True)
    ]


def make_records_leniently(
    events: Sequence[Event], embedder: Embedder, analyser: LexicalAnalyser
) -> list[tuple[Record, str | None]]:
    """Makes the records of events, also of those that cannot be embedded: these are found by their words only.

    Beside each record stands why it has no vectors.
    """
    embedded = embed_each([event.text for event in events], embedder)
    return [
        (make_record(event, one, embedder, analyser), one.error) for event, one in zip(events, embedded, strict=True)
    ]


def make_record(event: Event, embedded: TextVectors, embedder: Embedder, analyser: LexicalAnalyser) -> Record:
    manifest = embedder.manifest
    memory = replace(turn_memory(event, embedder.fingerprint), missing_tiers=embedded.missing(manifest))
    return Record(
        id=point_id(event.tenant, "turn", event.event_id, manifest.family),
        payload=memory.payload(),
        vectors=embedded.vectors,
        lexical=lexical_vector(event.text, analyser, event.ts),
    )


def turn_memory(event: Event, fingerprint: str) -> MemoryRecord:
    return MemoryRecord(
        tenant=event.tenant,
        user=event.user,
        kind="turn",
        scope="session",
        text=event.text,
        ts=event.ts,
        session=event.session,
        event_id=event.event_id,
        role=event.role,
        seq=event.seq,
        agent=event.agent,
        bundle_id=event.bundle_id,
        reply_to=event.reply_to,
        claims=name_claims(event.text) if event.role == Role.USER else (),
        supersedes=event.supersedes,
        source_kind=event.source_kind,
        source_ref=event.source_ref,
        meta=event.meta,
        token_estimate=estimate_tokens(event.text),
        anchors=anchor_density(event.text),
        stability=STABILITY.get(Role(event.role), OTHER_STABILITY),
        provenance="session_turn",
        embedding=fingerprint,
        position=None if event.seq is None else position_of(event.user, event.session, event.seq),
    )
