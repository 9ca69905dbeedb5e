"""Decides about one turn from what the two searches found; no I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lithify.gatekeeper.gated_turn import GatedTurn
from lithify.gatekeeper.neighbours import NearMemory, repeated_scores
from lithify.gatekeeper.turn import StoredTurn
from lithify.memory.gating.gate import GateConfig, GateDecision, gate, make_config, restates
from lithify.memory.gating.gate_profile import GateProfile
from lithify.memory.gating.spoken_evidence import weigh_words
from lithify.memory.gating.worth import Worth
from lithify.memory.languages import ENGLISH, Language, detect_language, find_readings, is_foreign
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.vectors.background import USUAL, to_usual

# What the gate looks for where nothing was learned: the set its original threshold was made for (spec 04 §4).
FALLBACK: Final = "gp1"
# What tells technical turns from talk beside a learned worth.
LEARNED_PATTERNS: Final = "gp2"


@dataclass(frozen=True, slots=True)
class TurnGate:
    """Joins a promoted turn to the memory it only repeats, from a similarity of `merge_at` on; unset, never.

    Similarities are cosines, moved from the `background` of the model to the usual one.
    """

    config: GateConfig
    merge_at: float | None
    analyser: LexicalAnalyser
    worth: Worth | None = None
    background: float = USUAL
    # For turns of languages that the worth was not learned from; unset, they are gated like English ones.
    foreign: GateConfig | None = None

    def decide(self, turn: StoredTurn, turn_cosines: Sequence[float], found: Sequence[NearMemory]) -> GatedTurn:
        """Decides whether a turn is promoted, and into which memory; `found` are durable memories, best first.

        The scores of both are cosines, as a store gives them.
        """
        turn_scores = [to_usual(cosine, self.background) for cosine in turn_cosines]
        near = [replace(memory, score=to_usual(memory.score, self.background)) for memory in found]
        known = repeated_scores(near, turn.event_id, self.config.limits)
        decision = self._gate_foreign(turn.text) or self._gate_known(turn, turn_scores, known)
        # Merged by a delivery whose record of it is lost: it stays promoted, whatever is known by now.
        merged = next((memory.id for memory in near if turn.event_id in memory.mentions), None)
        if merged is not None or not decision.promote:
            return GatedTurn(turn, decision, merged)
        return GatedTurn(turn, decision, self._find_repeated(turn.text, near) or turn.memory_id)

    def _gate_known(self, turn: StoredTurn, turn_scores: Sequence[float], known: Sequence[float]) -> GateDecision:
        if self.worth is None:
            return gate(turn.text, turn_scores, known, config=self.config)
        worth = self.worth(turn.text, turn.vector)
        return gate(turn.text, turn_scores, known, config=self.config, worth=worth, source=self.worth.source)

    def _gate_foreign(self, text: str) -> GateDecision | None:
        """Decides by the words of a turn whose language was not learned; None if it was.

        Its neighbours are not asked: a model of another language puts all such turns close together.
        """
        if self.foreign is None:
            return None
        languages = self._find_unlearned(text)
        if not languages:
            return None
        worth = max(weigh_words(text, language) for language in languages)
        return gate(text, (), (), config=self.foreign, worth=worth, source="words")

    def _find_unlearned(self, text: str) -> tuple[Language | None, ...]:
        """Returns the languages a turn may be in, None for one without a file; nothing if one of them was learned."""
        learned = frozenset({ENGLISH}) if self.worth is None else self.worth.languages
        language = detect_language(text)
        if language is not None:
            return () if language.code in learned else (language,)
        if is_foreign(text):
            return (None,)
        readings = find_readings(text)
        return () if any(one.code in learned for one in readings) else readings

    def _find_repeated(self, text: str, near: Iterable[NearMemory]) -> str | None:
        if self.merge_at is None:
            return None
        close = (memory for memory in near if memory.score >= self.merge_at)
        return next((memory.id for memory in close if self._restates(text, memory.text)), None)

    def _restates(self, said: str, known: str) -> bool:
        return restates(said, known, self.analyser.tokens(said), self.analyser.tokens(known))


def gate_config(profile: GateProfile, worth: Worth | None) -> GateConfig:
    """Returns the weights and threshold that belong to the evidence; `learned` is gp1 where no worth was learned."""
    if profile.evidence != "learned":
        return make_config(profile.patterns, profile.evidence, profile.neighbours)
    if worth is None:
        return make_config(profile.patterns, FALLBACK, profile.neighbours)
    return make_config(profile.learned, LEARNED_PATTERNS, profile.neighbours)


def foreign_config(profile: GateProfile) -> GateConfig | None:
    """Returns the gate of turns in languages that were not learned; None where evidence is a set of patterns."""
    return make_config(profile.learned, LEARNED_PATTERNS, profile.neighbours) if profile.evidence == "learned" else None
