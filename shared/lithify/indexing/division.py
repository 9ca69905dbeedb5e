"""Indexes long texts by their pieces: vectors of the whole are made from theirs, and each is a record of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np

from lithify.batching import batched
from lithify.embedding import Embedder, Manifest
from lithify.indexing import TextVectors, attach_vectors, embed_each, embed_tiers, lexical_vector, tier_names
from lithify.memory.lexical.analyser import LexicalAnalyser, keep_heaviest
from lithify.memory.pieces import cut_pieces
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.tokens import estimate_tokens
from lithify.memory.vectors.tiers import FULL_TIER, mean_vector, tier_vectors
from lithify.store import Record, SparseVector, point_id
from lithify.store.memory_record import PIECE, has_pieces
from lithify.store.records import join_parts

Embed: TypeAlias = Callable[[Sequence[str]], list[TextVectors]]

# One call of the model: a text that it refuses costs no more than these a second run.
BATCH: Final = 256

SHARED_FIELDS: Final = (
    *("tenant", "user", "scope", "ts", "session", "event_id", "role", "seq", "position", "agent", "bundle_id"),
    *("source_kind", "source_ref", "active", "compacted_into", "embedding", "accepted"),
)
"""What a piece has of its parent: where it belongs and whether it is to be seen; all else is read from the parent."""

CUT_KINDS: Final = frozenset({"turn", "memory", "guidance"})
"""Kinds whose long texts are embedded by pieces: turns, what is made of one, and what a host wrote itself."""


@dataclass(frozen=True, slots=True)
class IndexedText:
    """Holds the vectors of a text and those of its pieces; a short text has one piece, which is the text itself."""

    vectors: TextVectors
    lexical: SparseVector | None
    pieces: Sequence[tuple[TextVectors, SparseVector]]


def embed_strictly(embedder: Embedder) -> Embed:
    """Embeds texts all or none; raises what the model raises."""
    return lambda texts: [TextVectors(vectors) for vectors in embed_tiers(texts, embedder)]


def embed_leniently(embedder: Embedder) -> Embed:
    return partial(embed_each, embedder=embedder)


def index_texts(
    texts: Sequence[tuple[str, int | None]], embed: Embed, manifest: Manifest, analyser: LexicalAnalyser
) -> list[IndexedText]:
    """Indexes texts, each with the time it was said at in ms; CPU-bound, for all pieces are embedded together."""
    cut = [cut_pieces(text) for text, _ in texts]
    made = iter(embed_pieces([piece for pieces in cut for piece in pieces], embed))
    indexed = []
    for pieces, (_, said_at) in zip(cut, texts, strict=True):
        vectors = list(islice(made, len(pieces)))
        lexical = [lexical_vector(piece, analyser, said_at) for piece in pieces]
        whole = join_vectors(vectors, manifest)
        indexed.append(IndexedText(whole, join_words(lexical), list(zip(vectors, lexical, strict=True))))
    return indexed


def index_words(text: str, analyser: LexicalAnalyser, said_at: int | None) -> SparseVector:
    """Makes the lexical vector of a text whose dense ones are known."""
    return join_words([lexical_vector(piece, analyser, said_at) for piece in cut_pieces(text)])


def embed_wholes(texts: Sequence[str], embed: Embed, manifest: Manifest) -> list[TextVectors]:
    """Embeds texts by their pieces, for records that have none of their own."""
    cut = [cut_pieces(text) for text in texts]
    made = iter(embed_pieces([piece for pieces in cut for piece in pieces], embed))
    return [join_vectors(list(islice(made, len(pieces))), manifest) for pieces in cut]


def embed_pieces(texts: Sequence[str], embed: Embed) -> list[TextVectors]:
    return [one for batch in batched(texts, BATCH) for one in embed(batch)]


def join_vectors(pieces: Sequence[TextVectors], manifest: Manifest) -> TextVectors:
    """Makes the tiers of a whole from the mean of its pieces; those that could not be embedded are left out."""
    if len(pieces) == 1:
        return pieces[0]
    full = [one.vectors[FULL_TIER] for one in pieces if one.vectors]
    if not full:
        return pieces[0]
    tiers = tier_vectors(mean_vector(np.stack(full)), manifest.tiers or (manifest.dimensions,))
    return TextVectors(dict(zip(tier_names(manifest), tiers, strict=True)))


def join_words(pieces: Sequence[SparseVector]) -> SparseVector:
    """Gives every word the weight of the piece that says it most, so that length alone adds nothing.

    Of very many words those with the greatest weights are kept; the others are found by their pieces.
    """
    if len(pieces) == 1:
        return pieces[0]
    weights: dict[int, float] = {}
    for piece in pieces:
        for index, value in piece.items:
            weights[index] = max(value, weights.get(index, 0.0))
    kept = keep_heaviest(weights)
    indices = sorted(kept)
    return SparseVector(tuple(indices), tuple(kept[index] for index in indices))


def complete_record(record: Record, indexed: IndexedText, manifest: Manifest) -> list[Record]:
    """Returns the records to write for a bare one: its pieces, if it is divided, and itself with its vectors.

    It comes last, so that a record which is there has all its pieces, wherever a writer died.
    """
    whole = replace(attach_vectors(record, indexed.vectors, manifest), lexical=indexed.lexical)
    bare = make_pieces(record, manifest.family)
    pieces = [
        replace(attach_vectors(piece, vectors, manifest), lexical=lexical)
        for piece, (vectors, lexical) in zip(bare, indexed.pieces if bare else (), strict=True)
    ]
    return [*pieces, whole]


def make_pieces(record: Record, family: str) -> list[Record]:
    """Makes the pieces of a record without their vectors; none if it is short or a copy of what has them."""
    payload = record.payload
    if not has_pieces(str(payload.get("kind")), payload.get("provenance")):
        return []
    texts = cut_pieces(str(payload.get("text") or ""))
    if len(texts) == 1:
        return []
    shared = {name: payload[name] for name in SHARED_FIELDS if name in payload}
    return [
        Record(piece_id(record, number, family), piece_payload(shared, record.id, number, text))
        for number, text in enumerate(texts)
    ]


def piece_id(parent: Record, number: int, family: str) -> str:
    return point_id(parent.payload["tenant"], PIECE, join_parts(parent.id, str(number)), family)


def piece_payload(shared: Mapping[str, Any], parent: str, number: int, text: str) -> dict[str, Any]:
    return {name: value for name, value in shared.items() if value is not None} | {
        "kind": PIECE,
        "text": text,
        "piece": number,
        "parent": parent,
        "token_estimate": estimate_tokens(text),
        "anchors": anchor_density(text),
    }
