"""The consumer groups of the pipeline: their names in Redis, their order, and what people call them."""

from typing import Final

EMBED: Final = "embed"
"""Reads accepted turns and makes them searchable."""

ARCHIVE: Final = "archive"
"""Reads accepted turns and appends them to the segments."""

GATE: Final = "gate"
"""Reads stored turns and decides which become durable memory."""

COMPACT: Final = "compact"
"""Reads stored turns and asks for the compaction of sessions that have grown."""

LABELS: Final = {EMBED: "Embedding", ARCHIVE: "Archive", GATE: "Gating", COMPACT: "Compaction trigger"}
"""The label of every group, in the order in which an event meets them."""

_ORDER: Final = tuple(LABELS)


def label_of(group: str) -> str:
    """Returns what people call a group; a group of somebody else's is called by its name."""
    return LABELS.get(group, group)


def order_of(group: str) -> tuple[int, str]:
    """Returns a key to sort groups by: ours in the order of the pipeline, then all others by name."""
    return (_ORDER.index(group) if group in LABELS else len(_ORDER), group)
