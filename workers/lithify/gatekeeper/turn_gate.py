"""Decides about one turn from what the two searches found; no I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from lithify.gatekeeper.gated_turn import GatedTurn
from lithify.gatekeeper.neighbours import NearMemory, repeated_scores
from lithify.gatekeeper.turn import StoredTurn
from lithify.memory.gating.gate import LEARNED_CONFIG, GateConfig, gate, restates
from lithify.memory.gating.worth import Worth
from lithify.memory.lexical.analyser import LexicalAnalyser

Evidence = Literal["learned", "gp1", "gp2"]

# What the gate looks for where nothing was learned: the set its original threshold was made for (spec 04 §4).
FALLBACK: Final = "gp1"


@dataclass(frozen=True, slots=True)
class TurnGate:
    """Joins a promoted turn that adds nothing to the memory it repeats, from a similarity of `merge_at` on."""

    config: GateConfig
    merge_at: float
    analyser: LexicalAnalyser
    worth: Worth | None = None

    def decide(self, turn: StoredTurn, turn_scores: Sequence[float], near: Sequence[NearMemory]) -> GatedTurn:
        """Decides whether a turn is promoted, and into which memory; `near` are durable memories, best first."""
        worth = None if self.worth is None else self.worth(turn.text, turn.vector)
        decision = gate(turn.text, turn_scores, repeated_scores(near, turn.event_id), config=self.config, worth=worth)
        # Merged by a delivery whose record of it is lost: it stays promoted, whatever is known by now.
        merged = next((memory.id for memory in near if turn.event_id in memory.mentions), None)
        if merged is not None or not decision.promote:
            return GatedTurn(turn, decision, merged)
        return GatedTurn(turn, decision, self._find_repeated(turn.text, near) or turn.memory_id)

    def _find_repeated(self, text: str, near: Iterable[NearMemory]) -> str | None:
        close = (memory for memory in near if memory.score >= self.merge_at)
        return next((memory.id for memory in close if self._restates(text, memory.text)), None)

    def _restates(self, said: str, known: str) -> bool:
        return restates(said, known, self.analyser.tokens(said), self.analyser.tokens(known))


def gate_config(evidence: Evidence, worth: Worth | None, threshold: float | None = None) -> GateConfig:
    """Returns the weights and threshold that belong to the evidence; `learned` is gp1 where no worth was learned."""
    learned = evidence == "learned"
    config = LEARNED_CONFIG if learned and worth is not None else GateConfig(patterns=FALLBACK if learned else evidence)
    return config if threshold is None else replace(config, threshold=threshold)
