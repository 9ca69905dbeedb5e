"""Tells which memories speak of the events of a question about time, by meaning and not only by word (X49)."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from lithify.embedding import Embedder
from lithify.embedding.hash_embedder import HASH_PROFILE
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.memory.bounds import FloatArray
from lithify.memory.temporal.projection import SlotCosines
from lithify.memory.temporal.query import TemporalQuery
from lithify.memory.vectors.background import to_usual
from lithify.memory.vectors.tiers import FULL_TIER, tier_vector
from lithify.store import VectorStore
from lithify.store.memory_record import COLLECTION


@dataclass(frozen=True, slots=True)
class SlotMeanings:
    """Compares the events of a question about time with stored memories."""

    store: VectorStore
    embedder: Embedder
    executor: Executor

    async def read(self, scope: TenantScope, temporal: TemporalQuery, ids: Sequence[str]) -> SlotCosines | None:
        """Returns cosines by record id, at the usual level; None where nothing can be compared by meaning.

        Raises Unavailable if the store or the model does not answer.
        """
        if not (temporal.guard.applies and temporal.slots) or self.embedder.manifest.name == HASH_PROFILE:
            return None
        slots = await self._embed(temporal.slots)
        records = await self.store.fetch(scope, COLLECTION, ids, with_vectors=(FULL_TIER,))
        stored = {record.id: record.vectors[FULL_TIER] for record in records if FULL_TIER in record.vectors}
        level = self.embedder.manifest.background.questions
        return {
            record: to_usual(slots @ np.asarray(vector, dtype=np.float64), level).tolist()
            for record, vector in stored.items()
        }

    async def _embed(self, slots: Sequence[str]) -> FloatArray:
        try:
            return await asyncio.get_running_loop().run_in_executor(self.executor, self._slot_vectors, slots)
        except Exception as error:  # whatever the runtime throws, words still match
            raise Unavailable(f"the events of the question cannot be embedded: {error}") from error

    def _slot_vectors(self, slots: Sequence[str]) -> FloatArray:
        vectors = np.stack([self.embedder.embed_query(slot) for slot in slots])
        return tier_vector(vectors, self.embedder.manifest.dimensions)
