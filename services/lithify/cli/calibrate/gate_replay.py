"""Turns through the real gate in their order, from an empty memory, without servers: what calibration looks at."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lithify.cli.calibrate.corpus.labelled import LabelledTurn
from lithify.embedding import Embedder
from lithify.errors import Invalid
from lithify.gatekeeper.gated_turn import GatedTurn
from lithify.gatekeeper.neighbours import BatchMemory
from lithify.gatekeeper.turn import StoredTurn
from lithify.gatekeeper.turn_gate import TurnGate
from lithify.indexing import embed_tiers
from lithify.memory.gating.worth import Worth, learn_worth
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Record, Vector


@dataclass(frozen=True, slots=True)
class EmbeddedTurn:
    """A turn with its full vector."""

    turn: LabelledTurn
    vector: Vector


def embed_turns(turns: Sequence[LabelledTurn], embedder: Embedder) -> list[EmbeddedTurn]:
    tiers = embed_tiers([turn.text for turn in turns], embedder)
    return [EmbeddedTurn(turn, tier[FULL_TIER]) for turn, tier in zip(turns, tiers, strict=True)]


def replay(spoken: Sequence[EmbeddedTurn], gates: Mapping[str, TurnGate]) -> list[GatedTurn]:
    """Decides about every turn in its order; each user has a memory of their own, and a gate."""
    memory = BatchMemory()
    decided: list[GatedTurn] = []
    said: defaultdict[str, list[Vector]] = defaultdict(list)
    for number, one in enumerate(spoken):
        turn = make_stored_turn(number, one)
        earlier = said[one.turn.user]
        scores = sorted((float(np.dot(one.vector, other)) for other in earlier), reverse=True)
        gated = gates[one.turn.user].decide(
            turn, scores[: gates[one.turn.user].config.limits.turns], memory.find_nearest(turn, ())
        )
        memory.add(gated)
        earlier.append(one.vector)
        decided.append(gated)
    return decided


def make_stored_turn(number: int, spoken: EmbeddedTurn) -> StoredTurn:
    turn = spoken.turn
    payload = {"tenant": "", "user": turn.user, "event_id": str(number), "text": turn.text, "ts": number}
    return StoredTurn(Record(f"turn {number}", payload, {FULL_TIER: spoken.vector}), f"memory {number}")


def learn_from(spoken: Sequence[EmbeddedTurn], family: str) -> Worth:
    """Learns from the labels what is worth keeping. Raises Invalid if a turn has none."""
    labels = [one.turn.keep for one in spoken if one.turn.keep is not None]
    if len(labels) < len(spoken):
        raise Invalid(f"{len(spoken) - len(labels)} of {len(spoken)} turns have no label; learning needs all of them")
    return learn_worth(family, [one.turn.text for one in spoken], [one.vector for one in spoken], labels)


def learn_from_others(spoken: Sequence[EmbeddedTurn], family: str) -> dict[str, Worth]:
    """Learns for each user from the other users: nothing is judged by what it was learned from."""
    users = {one.turn.user for one in spoken}
    if len(users) < 2:
        raise Invalid("turns of at least two users are needed to judge each by what the others teach")
    return {user: learn_from([one for one in spoken if one.turn.user != user], family) for user in sorted(users)}
