"""Follows coverage edges from a summary back to its raw turns, for audit and recovery only (spec 05 §10)."""

from collections.abc import Callable, Iterable

from lithify.memory.compaction.summary_id import Edge

MAX_DEPTH = 3


def expand(summary: str, edges_of: Callable[[str], Iterable[Edge]], max_depth: int = MAX_DEPTH) -> tuple[str, ...]:
    """Ids of the raw turns within `max_depth` edges, nearest level first, each once."""
    raw: dict[str, None] = {}
    visited = {summary}
    level = [summary]
    for _ in range(max_depth):
        edges = [edge for parent in level for edge in sorted(edges_of(parent), key=lambda edge: edge.order)]
        raw.update((edge.child, None) for edge in edges if edge.child_kind != "summary")
        summaries = dict.fromkeys(edge.child for edge in edges if edge.child_kind == "summary")
        # Ids are hashes of what they cover, so a cycle needs damaged data; the guard makes that harmless.
        level = [child for child in summaries if child not in visited]
        visited.update(level)
    return tuple(raw)
