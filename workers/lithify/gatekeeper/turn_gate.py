"""Decides about one turn from what the two searches found; no I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from lithify.gatekeeper.decision import TurnDecision
from lithify.gatekeeper.neighbours import NearMemory, similarities
from lithify.gatekeeper.turn import StoredTurn
from lithify.memory.gating.gate import LEARNED_CONFIG, GateConfig, gate
from lithify.memory.gating.restatement import restates
from lithify.memory.gating.worth import Worth
from lithify.memory.lexical.analyser import LexicalAnalyser

Evidence = Literal["learned", "gp1", "gp2"]

# What the gate looks for where nothing was learned: the set its original threshold was made for (spec 04 §4).
FALLBACK: Final = "gp1"


@dataclass(frozen=True, slots=True)
class TurnGate:
    """From a similarity of `merge_at` on a promoted turn that adds nothing joins the memory it repeats."""

    config: GateConfig
    merge_at: float
    analyser: LexicalAnalyser
    worth: Worth | None = None

    def verdict(self, turn: StoredTurn, turn_scores: Sequence[float], near: Sequence[NearMemory]) -> TurnDecision:
        """`near` are durable memories, best first."""
        worth = None if self.worth is None else self.worth(turn.text, turn.vector)
        decision = gate(turn.text, turn_scores, similarities(near, turn.event_id), self.config, worth)
        # Merged by a delivery whose record of it is lost: it stays promoted, whatever is known by now.
        merged = next((one.id for one in near if turn.event_id in one.mentions), None)
        if merged is not None or not decision.promote:
            return TurnDecision(turn, decision, merged)
        return TurnDecision(turn, decision, self._repeated(turn.text, near) or turn.memory_id)

    def _repeated(self, text: str, near: Iterable[NearMemory]) -> str | None:
        close = (one for one in near if one.score >= self.merge_at)
        return next((one.id for one in close if self._restates(text, one.text)), None)

    def _restates(self, said: str, known: str) -> bool:
        return restates(said, known, self.analyser.tokens(said), self.analyser.tokens(known))


def gate_config(evidence: Evidence, worth: Worth | None, threshold: float | None = None) -> GateConfig:
    """Weights and threshold that belong to the evidence; `learned` needs a worth, and is gp1 without one."""
    learned = evidence == "learned"
    config = LEARNED_CONFIG if learned and worth is not None else GateConfig(patterns=FALLBACK if learned else evidence)
    return config if threshold is None else replace(config, threshold=threshold)
