"""Gives summarisers the vectors of texts: those the store has, so that nothing stored is embedded again."""

from collections.abc import Sequence

import numpy as np

from lithify.compactor.session_view import Session
from lithify.embedding import Embedder
from lithify.memory.columns import FloatArray
from lithify.memory.vectors.tiers import FULL_TIER, tier_vector


class KnownVectors:
    """Use it in one thread. Texts without a stored vector, such as sanitised turns and drafts, go to the model once."""

    def __init__(self, session: Session, embedder: Embedder) -> None:
        self._embedder = embedder
        self._rows: dict[str, FloatArray] = {
            session.memories[turn].text: np.asarray(vector, np.float64)
            for turn, point in session.points.items()
            if (vector := point.vectors.get(FULL_TIER)) is not None
        }

    def __call__(self, texts: Sequence[str]) -> FloatArray:
        """One row per text, all regularised alike. Raises what the model raises."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if unknown:
            made = tier_vector(self._embedder.embed_documents(unknown), self._embedder.manifest.dimensions)
            self._rows.update(zip(unknown, made, strict=True))
        return np.stack([self._rows[text] for text in texts])
