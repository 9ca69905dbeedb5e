"""Reads the best hits again, with their vectors and with the turns that stand around them."""

from collections.abc import Sequence

from lithify.events import TenantScope
from lithify.memory.ranking.passages import Window
from lithify.store import LEXICAL, Hit, Record, VectorStore, Where
from lithify.store.memory import COLLECTION, position_of


async def read_around(
    store: VectorStore,
    scope: TenantScope,
    where: Where,
    hits: Sequence[Hit],
    window: Window,
    passages: int | None,
    tier: str,
) -> list[Record]:
    """The hits, best first, and those neighbours of the first `passages` that `where` allows; each once."""
    names = (tier, LEXICAL)
    positions = positions_around([hit for hit in hits if is_placed(hit)], window, passages)
    alone = [hit.id for hit in hits if not is_placed(hit)]
    records = await store.fetch(scope, COLLECTION, alone, with_vectors=names) if alone else []
    if positions:
        # A position names one turn; a copy that carries it too must not push another turn off the page.
        around, limit = where.equals("kind", "turn").any_of("position", positions), len(positions)
        records += (await store.scroll(scope, COLLECTION, around, limit=limit, with_vectors=names)).records
    return records


def is_placed(hit: Hit) -> bool:
    """Only turns have neighbours: what was promoted, summarised or authored stands alone."""
    return hit.payload["kind"] == "turn" and hit.payload.get("seq") is not None


def positions_around(turns: Sequence[Hit], window: Window, passages: int | None = None) -> list[str]:
    """Of the turns themselves too, sorted, so that the same question is always asked the same way."""
    best = turns if passages is None else turns[:passages]
    alone = {place_of(turn, 0) for turn in turns}
    around = {place_of(turn, distance) for turn in best for distance in window.shares}
    return [position_of(*place) for place in sorted(alone | around)]


def place_of(turn: Hit, distance: int) -> tuple[str, str, int]:
    return turn.payload["user"], turn.payload["session"], turn.payload["seq"] + distance
