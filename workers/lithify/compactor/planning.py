"""Plans the compaction of one session: work for a processor, done beside the loop, without any I/O.

What the mathematics needs of the model is computed here, from the vectors the store has wherever it has them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import structlog

from lithify.compactor.session import Session
from lithify.embedding import Embedder
from lithify.errors import Unavailable
from lithify.events import Role
from lithify.memory.bounds import FloatArray
from lithify.memory.compaction.cluster_geometry import as_matrix, cosines
from lithify.memory.compaction.clustering import RELATED, Cluster, CohesionGuard, likeness
from lithify.memory.compaction.draft import Embed
from lithify.memory.compaction.guidance import PROTOTYPES, STABILITY, has_hint, is_guidance
from lithify.memory.compaction.plan import CompactionPlan, CompactionPolicy, Trigger, plan_compaction
from lithify.memory.guidance import is_standing_instruction
from lithify.memory.prompt.composition import spoken_item
from lithify.memory.prompt.rendering import TokenCounter
from lithify.memory.rulebook.deontic import modality
from lithify.memory.tokens import estimate_lines
from lithify.memory.turn import Turn
from lithify.memory.vectors.background import UNRELATED_TEXTS, USUAL, to_usual
from lithify.memory.vectors.tiers import FULL_TIER, tier_vector

log = structlog.get_logger(__name__)


class KnownVectors:
    """Embeds texts, but asks the model only for those the store has no vector of, such as sanitised turns and drafts.

    It remembers what it was given, so use it in one thread at a time.
    """

    def __init__(self, session: Session, embedder: Embedder) -> None:
        self._embedder = embedder
        self._rows: dict[str, FloatArray] = {
            session.memories[turn].text: np.asarray(vector, np.float64)
            for turn, point in session.points.items()
            if (vector := point.vectors.get(FULL_TIER)) is not None
        }

    def __call__(self, texts: Sequence[str]) -> FloatArray:
        """Returns one row per text, all regularised alike. Raises what the model raises."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if unknown:
            rows = tier_vector(self._embedder.embed_documents(unknown), self._embedder.manifest.dimensions)
            self._rows.update(zip(unknown, rows, strict=True))
        return np.stack([self._rows[text] for text in texts])


def plan_session(
    session: Session,
    embed: Embed,
    *,
    policy: CompactionPolicy,
    trigger: Trigger,
    cohesion: float | None = RELATED,
    count: TokenCounter = estimate_lines,
) -> CompactionPlan:
    """Plans by the mathematics, then cuts what does not cohere and names the turns to protect.

    Raises Unavailable, before anything is written, if the model does not answer.
    """
    plan = plan_compaction(session.view, partial(rendered_cost, count=count), policy, trigger)
    coherent = [part for cluster in plan.clusters for part in split_cluster(cluster, embed, cohesion)]
    return replace(plan, clusters=tuple(protect_guidance(cluster, session, embed, policy) for cluster in coherent))


def rendered_cost(turn: Turn, count: TokenCounter = estimate_lines) -> float:
    """Returns what assembly pays for the turn in the recent tail, so that both see the same tail (X38)."""
    return spoken_item(turn, count).cost


def split_cluster(cluster: Cluster, embed: Embed, cohesion: float | None) -> list[Cluster]:
    """Cuts the cluster until each part is about something; turns that cannot be embedded stay together.

    Without a `cohesion` to reach nothing is cut, as the sources have it.

    Raises Unavailable if the model does not answer.
    """
    background = measure_background(embed)
    if cohesion is None:
        return [cluster]
    guard = CohesionGuard(background, cohesion)
    try:
        vectors = embed([turn.text for turn in cluster.turns])
    except Exception:  # noqa: BLE001 - drafting meets it again, reports it, and no other cluster is lost by it (X27)
        return [cluster]
    return guard.split(cluster.turns, vectors)


def measure_background(embed: Embed) -> float:
    """Asks the model, not its health, which speaks of the latest call: without calls it would never get well."""
    try:
        vectors = embed(UNRELATED_TEXTS)
    except Exception as error:
        raise Unavailable(f"the extractive summariser is not ready: {type(error).__name__}") from error
    return likeness(vectors)


def protect_guidance(cluster: Cluster, session: Session, embed: Embed, policy: CompactionPolicy) -> Cluster:
    """Protects the turns that are standing instructions, to be kept word for word (spec 11)."""
    if policy.guidance == "off":
        return cluster
    stabilities = {turn.id: session.memories[turn.id].stability for turn in cluster.turns}
    if policy.guidance == "authored":
        background = measure_background(embed)
        rules = [turn for turn in cluster.turns if is_instruction(turn.text, stabilities[turn.id], embed, background)]
    else:
        settled = [turn for turn in cluster.turns if stabilities[turn.id] >= STABILITY]
        rules = [turn for turn in settled if turn.role == Role.USER and is_standing_instruction(turn.text)]
    return replace(cluster, protected=tuple(rules))


def is_instruction(text: str, stability: float, embed: Embed, background: float = USUAL) -> bool:
    """Tells what the sources take for guidance, as profile `seed` does.

    Asks the rule detector first, and the model only where a hint makes its answer matter.
    """
    mask = modality(text)
    cosine = to_usual(_prototype_cosine(text, embed), background) if not mask and has_hint(text) else 0.0
    return is_guidance(text, stability, mask, cosine)


def _prototype_cosine(text: str, embed: Embed) -> float:
    """Returns the best cosine with a prototype; 0 if it cannot be had, so a failing model stops nothing."""
    try:
        rows = as_matrix(embed([text, *PROTOTYPES]))
    except Exception as error:  # noqa: BLE001 - whatever a model throws, the detector's finds are kept
        log.warning("guidance_not_compared", error=type(error).__name__)
        return 0.0
    return float(cosines(rows[1:], rows[0]).max())
