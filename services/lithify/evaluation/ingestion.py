"""Sends a data set's turns to a node and waits until all of them can be recalled."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from lithify.batching import batched_by_weight
from lithify.client import BatchResult, Memory, Turn
from lithify.errors import Invalid, Unavailable
from lithify.evaluation.datasets import Conversation, Dataset
from lithify.events.turn import MAX_BATCH

Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and of how much."""

# An eighth of the gateway's default limit of a body: JSON escapes and UTF-8 make a text longer than it is.
MAX_BATCH_CHARS: Final = 2**20
POLL_S: Final = 0.2
# A worker that restarts is back within seconds; a queue that stands still for minutes will not move by waiting.
STALLED_S: Final = 300.0


def ingest(memory: Memory, dataset: Dataset, progress: Progress) -> None:
    """Returns when everything is stored; sending again is harmless. Raises Invalid for a turn the gateway refuses."""
    turns = [turn for conversation in dataset.conversations for turn in sent_turns(conversation)]
    for batch in batched_by_weight(turns, count_characters, MAX_BATCH_CHARS, MAX_BATCH):
        refuse_rejected(memory.ingest_batch(batch))
    wait_until_stored(memory, len(turns), progress)


def sent_turns(conversation: Conversation) -> Iterator[Turn]:
    for turn in conversation.turns:
        yield {
            "event_id": turn.event_id,
            "user": conversation.id,
            "session": turn.session,
            "role": turn.role,
            "text": turn.text,
            "ts": turn.ts,
            "seq": turn.seq,
        }


def count_characters(turn: Turn) -> int:
    return len(turn["text"])


def refuse_rejected(answer: BatchResult) -> None:
    for item in answer.results:
        if item.status in ("invalid", "conflict"):
            reasons = "; ".join(f"{error.field}: {error.message}" for error in item.errors or ())
            raise Invalid(f"turn {item.event_id!r} was refused ({item.status}) {reasons}".rstrip())


def wait_until_stored(memory: Memory, total: int, progress: Progress) -> None:
    """Raises Unavailable when the queues stand still or turns were given up: the memory would be incomplete."""
    seen, since = -1, time.monotonic()
    while waiting := (status := memory.status())["unfinished"]:
        progress("ingest", max(total - waiting, 0), total)
        if waiting != seen:
            seen, since = waiting, time.monotonic()
        elif time.monotonic() - since > STALLED_S:
            raise Unavailable(f"{waiting} deliveries have been waiting for {STALLED_S:.0f} s; see the node's log")
        time.sleep(POLL_S)
    if status["dead_letters"]:
        raise Unavailable(f"{status['dead_letters']} turns were given up by the pipeline; see the node's log")
    progress("ingest", total, total)
