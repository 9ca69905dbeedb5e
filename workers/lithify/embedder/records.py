"""Makes store records of events: the payload, the three prefix tiers and the lexical vector, of its pieces as well."""

from collections.abc import Sequence

from lithify.embedding import Embedder
from lithify.events import Event, Role, is_heartbeat
from lithify.indexing.division import (
    Embed,
    IndexedText,
    complete_record,
    embed_leniently,
    embed_strictly,
    index_texts,
)
from lithify.memory.guidance import name_claims
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.pieces import is_divided
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
    """Makes the records of events, the pieces of a long one before it; CPU-bound, for all are embedded together.

    An event always gives the same points.

    Raises what the model raises if it cannot embed one of them.
    """
    indexed = index_events(events, embed_strictly(embedder), embedder, analyser)
    return [
        record
        for event, one in zip(events, indexed, strict=True)
        for record in complete_record(bare_record(event, embedder), one, embedder.manifest)
    ]


def make_records_leniently(
    events: Sequence[Event], embedder: Embedder, analyser: LexicalAnalyser
) -> list[tuple[list[Record], str | None]]:
    """Makes the records of each event, also of those that cannot be embedded: these are found by their words only.

    Beside them stands why the event has no vectors.
    """
    indexed = index_events(events, embed_leniently(embedder), embedder, analyser)
    return [
        (complete_record(bare_record(event, embedder), one, embedder.manifest), one.vectors.error)
        for event, one in zip(events, indexed, strict=True)
    ]


def index_events(
    events: Sequence[Event], embed: Embed, embedder: Embedder, analyser: LexicalAnalyser
) -> list[IndexedText]:
    return index_texts([(event.text, event.ts) for event in events], embed, embedder.manifest, analyser)


def bare_record(event: Event, embedder: Embedder) -> Record:
    """Makes the record of the whole turn, without its vectors."""
    return Record(turn_id(event, embedder.manifest.family), turn_memory(event, embedder.fingerprint).payload())


def turn_id(event: Event, family: str) -> str:
    return point_id(event.tenant, "turn", event.event_id, family)


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
        divided=is_divided(event.text) or None,
        accepted=event.accepted,
    )
