"""Reads the turns around what was found: a reply often holds the answer, but not the words, of a question."""

from collections.abc import Sequence

from lithify.events import TenantScope
from lithify.memory.ranking.passages import Window
from lithify.store import LEXICAL, Hit, Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, position_of


async def read_around(
    store: VectorStore,
    scope: TenantScope,
    where: Where,
    hits: Sequence[Hit],
    window: Window,
    passages: int | None,
    tier: str,
) -> list[Record]:
    """Reads the hits, best first, and those neighbours of the first `passages` that `where` allows; each once."""
    names = (tier, LEXICAL)
    positions = positions_around([hit for hit in hits if is_placed(hit)], window, passages)
    alone = [hit.id for hit in hits if not is_placed(hit)]
    records = await store.fetch(scope, COLLECTION, alone, with_vectors=names) if alone else []
    if positions:
        # A position names one turn; a copy that carries it too must not push another turn off the page.
        around = where.equals("kind", "turn").any_of("position", positions)
        page = await store.scroll(scope, COLLECTION, around, limit=len(positions), with_vectors=names)
        records += page.records
    return records


def is_placed(hit: Hit) -> bool:
    """Says whether a hit can have neighbours: what was promoted, summarised or authored stands alone."""
    return hit.payload["kind"] == "turn" and hit.payload.get("seq") is not None


def positions_around(turns: Sequence[Hit], window: Window, passages: int | None = None) -> list[str]:
    """Returns the positions of the turns and of those beside them, sorted: the same is always asked the same way."""
    best = turns if passages is None else turns[:passages]
    alone = {_place_beside(turn, 0) for turn in turns}
    around = {_place_beside(turn, distance) for turn in best for distance in window.shares}
    return [position_of(*place) for place in sorted(alone | around)]


def _place_beside(turn: Hit, distance: int) -> tuple[str, str, int]:
    return turn.payload["user"], turn.payload["session"], turn.payload["seq"] + distance
