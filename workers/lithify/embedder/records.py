"""Makes store records of events: the payload, the three prefix tiers and the lexical vector."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lithify.embedding import Embedder
from lithify.events import Event, Role
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.tokens import estimate_tokens
from lithify.memory.vectors.tiers import tier_vectors
from lithify.store import TIER_NAMES, Record, SparseVector, point_id
from lithify.store.memory import Memory, position_of

# Mean number of search tokens of a conversation turn; BM25 normalises lengths by it.
AVERAGE_TURN_TOKENS = 16.0

# How settled a turn counts when nothing else is known about it (spec 01 §5).
STABILITY = {Role.USER: 0.5, Role.ASSISTANT: 0.25}
OTHER_STABILITY = 0.2


def becomes_memory(event: Event) -> bool:
    """Tool output is receipted and shown in the tail, never recalled (spec 01 §5)."""
    return event.role != Role.TOOL


def turn_records(events: Sequence[Event], embedder: Embedder, analyser: LexicalAnalyser) -> list[Record]:
    """CPU-bound: embeds all texts in one call. The same event always gives the same point."""
    manifest = embedder.manifest
    vectors = embedder.embed_documents([event.text for event in events])
    # A model that was not trained for prefixes has the full vector only.
    names = TIER_NAMES if manifest.tiers else TIER_NAMES[-1:]
    tiers = tier_vectors(vectors, manifest.tiers or (manifest.dimensions,))
    return [
        turn_record(event, dict(zip(names, rows, strict=True)), embedder, analyser)
        for event, *rows in zip(events, *tiers, strict=True)
    ]


def turn_record(
    event: Event, tiers: dict[str, npt.NDArray[np.float64]], embedder: Embedder, analyser: LexicalAnalyser
) -> Record:
    indices, values = analyser.document_vector(event.text, AVERAGE_TURN_TOKENS)
    return Record(
        id=point_id(event.tenant, "turn", event.event_id, embedder.manifest.family),
        payload=turn_memory(event, embedder.fingerprint).payload(),
        vectors=tiers,
        lexical=SparseVector(tuple(indices), tuple(values)),
    )


def turn_memory(event: Event, fingerprint: str) -> Memory:
    return Memory(
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
