"""Tells which turns of a session are standing instructions, to be kept word for word (spec 11)."""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from lithify.memory.compaction.cluster_geometry import as_matrix, cosines
from lithify.memory.compaction.draft import Embed
from lithify.memory.compaction.guidance import PROTOTYPES, has_hint, is_guidance
from lithify.memory.rulebook.deontic import modality
from lithify.memory.turn import Turn
from lithify.store.memory_record import MemoryRecord

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Protection:
    memories: Mapping[str, MemoryRecord]
    embed: Embed

    def covers(self, turn: Turn) -> bool:
        mask = modality(turn.text)
        # Only a hint makes the cosine matter, so only then it is worth a call of the model.
        likeness = self._likeness(turn.text) if not mask and has_hint(turn.text) else 0.0
        return is_guidance(turn.text, self.memories[turn.id].stability, mask, likeness)

    def _likeness(self, text: str) -> float:
        """The best cosine with a prototype; 0 if it cannot be had, so a failing model stops nothing."""
        try:
            rows = as_matrix(self.embed([text, *PROTOTYPES]))
        except Exception as error:  # noqa: BLE001 - whatever a model throws, the detector's finds are kept
            log.warning("guidance_not_compared", error=type(error).__name__)
            return 0.0
        return float(cosines(rows[1:], rows[0]).max())
