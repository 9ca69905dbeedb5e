"""Reads the turns around what was found: a reply often holds the answer, but not the words, of a question."""

from collections.abc import Sequence
from dataclasses import dataclass

from lithify.assembly.recall.legs import is_piece
from lithify.events import TenantScope
from lithify.memory.ranking.passages import Window
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import LEXICAL, Hit, Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, PIECE, position_of


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Names the records to read for one reach of a search: turns by their positions, everything else by its id."""

    positions: frozenset[str] = frozenset()
    alone: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()  # of long ones among them, as they were found

    def holds(self, record: Record) -> bool:
        if record.payload["kind"] == PIECE:
            return record.id in self.pieces
        return record.id in self.alone or record.payload.get("position") in self.positions


def find_surroundings(hits: Sequence[Hit], window: Window, passages: int | None) -> Surroundings:
    """Names the hits, best first, and the neighbours of the first `passages` of them."""
    placed = [hit for hit in hits if is_placed(hit)]
    alone = tuple(dict.fromkeys(name_whole(hit) for hit in hits if not is_placed(hit)))
    pieces = tuple(hit.id for hit in hits if is_piece(hit))
    return Surroundings(frozenset(positions_around(placed, window, passages)), alone, pieces)


def name_whole(hit: Hit) -> str:
    """Returns the id of a hit, of a piece that of the record it is cut from."""
    return str(hit.payload["parent"]) if is_piece(hit) else hit.id


async def read_around(
    store: VectorStore, scope: TenantScope, where: Where, around: Sequence[Surroundings]
) -> list[Record]:
    """Reads the records of all surroundings, as far as `where` allows neighbours; each once."""
    # Whole vectors: the middle prefix would spare a tenth of the time and cost .012 of recall (BEAM, R@10).
    names = (FULL_TIER, LEXICAL)
    alone = list(dict.fromkeys(record for one in around for record in (*one.alone, *one.pieces)))
    records = await store.fetch(scope, COLLECTION, alone, with_vectors=names) if alone else []
    # Sorted, so that the same is always asked the same way.
    positions = sorted(frozenset[str]().union(*(one.positions for one in around)))
    if positions:
        # A position names one turn; a copy that carries it too must not push another turn off the page.
        placed = where.equals("kind", "turn").any_of("position", positions)
        page = await store.scroll(scope, COLLECTION, placed, limit=len(positions), with_vectors=names)
        records += page.records
    return records


def is_placed(hit: Hit) -> bool:
    """Says whether a hit can have neighbours: what was promoted, summarised or authored stands alone."""
    return hit.payload["kind"] in ("turn", PIECE) and hit.payload.get("seq") is not None


def positions_around(turns: Sequence[Hit], window: Window, passages: int | None = None) -> list[str]:
    """Returns the positions of the turns and of those beside them, sorted."""
    alone = dict.fromkeys(_place_beside(turn, 0) for turn in turns)
    best = list(alone) if passages is None else list(alone)[:passages]
    around = {(user, session, seq + distance) for user, session, seq in best for distance in window.shares}
    return [position_of(*place) for place in sorted(around.union(alone))]


def _place_beside(turn: Hit, distance: int) -> tuple[str, str, int]:
    return turn.payload["user"], turn.payload["session"], turn.payload["seq"] + distance
