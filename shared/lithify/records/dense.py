"""The tiers of texts, and what becomes of a text the model cannot embed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lithify.embedding import Embedder, Manifest
from lithify.errors import Unavailable
from lithify.memory.vectors.tiers import tier_vectors
from lithify.store import TIER_NAMES, Vector

Tiers: TypeAlias = dict[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Embedded:
    """The tiers of one text, or why there are none."""

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    error: str | None = None

    def missing(self, manifest: Manifest) -> tuple[str, ...]:
        """What backfill still has to make."""
        return () if self.vectors else tier_names(manifest)


def tier_names(manifest: Manifest) -> tuple[str, ...]:
    """A model that was not trained for prefixes has the full vector only."""
    return TIER_NAMES if manifest.tiers else TIER_NAMES[-1:]


def vectors_of(texts: Sequence[str], embedder: Embedder) -> list[Tiers]:
    """All tiers of each text, in order; one call of the model, so it is work for an executor.

    Raises whatever the model raises, and then there are none: `embed_each` tells which text is to blame.
    """
    manifest = embedder.manifest
    tiers = tier_vectors(embedder.embed_documents(texts), manifest.tiers or (manifest.dimensions,))
    names = tier_names(manifest)
    return [dict(zip(names, rows, strict=True)) for rows in zip(*tiers, strict=True)]


def embed_each(texts: Sequence[str], embedder: Embedder) -> list[Embedded]:
    """Fails open: a text that cannot be embedded costs neither itself nor its neighbours their place in the store.

    Raises Unavailable only: an embedder that is away is waited for.
    """
    try:
        return [Embedded(vectors) for vectors in vectors_of(texts, embedder)]
    except Unavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a model throws, the words of the text can still be found
        if len(texts) == 1:
            return [Embedded(error=f"{type(error).__name__}: {error}")]
    return [one for text in texts for one in embed_each([text], embedder)]
