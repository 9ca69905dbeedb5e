"""Makes the vectors of a record from its text, the same way for every worker that writes records.

These are the tiers and the lexical vector, and what becomes of a text that the model cannot embed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lithify.embedding import Embedder, Manifest
from lithify.errors import Unavailable
from lithify.memory.lexical.analyser import AVERAGE_TOKENS, LexicalAnalyser, searchable_text
from lithify.memory.vectors.tiers import MISSING_TIERS, tier_vectors
from lithify.store import TIER_NAMES, Record, SparseVector, Vector

Tiers: TypeAlias = dict[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class TextVectors:
    """Holds the tiers of one text, or says why there are none."""

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    error: str | None = None

    def missing(self, manifest: Manifest) -> tuple[str, ...]:
        """Names the tiers that backfill still has to make."""
        return () if self.vectors else tier_names(manifest)


def tier_names(manifest: Manifest) -> tuple[str, ...]:
    """Names the tiers of a model; one that was not trained for prefixes has the full vector only."""
    return TIER_NAMES if manifest.tiers else TIER_NAMES[-1:]


def embed_tiers(texts: Sequence[str], embedder: Embedder) -> list[Tiers]:
    """Returns all tiers of each text, in order; one call of the model, so it is work for an executor.

    Raises whatever the model raises, and then there are none: `embed_each` tells which text is to blame.
    """
    manifest = embedder.manifest
    tiers = tier_vectors(embedder.embed_documents(texts), manifest.tiers or (manifest.dimensions,))
    names = tier_names(manifest)
    return [dict(zip(names, rows, strict=True)) for rows in zip(*tiers, strict=True)]


def embed_each(texts: Sequence[str], embedder: Embedder) -> list[TextVectors]:
    """Fails open: a text that cannot be embedded costs neither itself nor its neighbours their place in the store.

    Raises Unavailable only: an embedder that is away is waited for.
    """
    if not texts:
        return []
    try:
        return [TextVectors(vectors) for vectors in embed_tiers(texts, embedder)]
    except Unavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a model throws, the words of the text can still be found
        if len(texts) == 1:
            return [TextVectors(error=f"{type(error).__name__}: {error}")]
    return [one for text in texts for one in embed_each([text], embedder)]


def lexical_vector(text: str, analyser: LexicalAnalyser, said_at: int | None = None) -> SparseVector:
    """Makes the sparse vector of the words; what was said at some time, in ms, is found by its date, too."""
    dated = text if said_at is None else searchable_text(text, said_at)
    indices, values = analyser.document_vector(dated, AVERAGE_TOKENS)
    return SparseVector(tuple(indices), tuple(values))


def text_to_embed(payload: Mapping[str, Any]) -> str | None:
    """Returns what the model reads of a record: the same when it is first embedded, made up for, and moved.

    A piece of a document stands under its headings, for its words alone do not say what it is about.
    """
    text = payload.get("text")
    headings = payload.get("heading_path")
    return f"{headings}\n{text}" if headings and text else text


def record_text(record: Record | None) -> str | None:
    """Returns what the model reads of a record that may be missing."""
    return None if record is None else text_to_embed(record.payload)


def attach_vectors(record: Record, made: TextVectors, manifest: Manifest) -> Record:
    """Returns the record with these vectors, marked for backfill if there are none."""
    payload = {name: value for name, value in record.payload.items() if name != MISSING_TIERS}
    missing = made.missing(manifest)
    marker = {MISSING_TIERS: list(missing)} if missing else {}
    return replace(record, payload=payload | marker, vectors=made.vectors)
