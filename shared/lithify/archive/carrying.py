"""Carries over from the former collection what no archive can give: derived records, and what was said about turns."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from lithify.events import EVERY_TENANT
from lithify.store import LEXICAL, TIER_NAMES, Record, VectorStore, Where
from lithify.store.pieces import is_piece, where_pieces
from lithify.store.reading import every_record
from lithify.telemetry.progress import StageProgress

# Set by compaction and the gate on turns that are stored already; everything else about a turn comes from its event.
# What a turn supersedes is in its event, but the gate drops it if the user has no such memory.
STATE: Final = ("active", "compacted_into", "gating_score", "superseded_by", "superseded_by_turn", "supersedes")
# What of it the pieces of a turn share.
VISIBILITY: Final = ("active", "compacted_into")
VECTORS: Final = (*TIER_NAMES, LEXICAL)
PAGE: Final = 256


async def pages(store: VectorStore, collection: str, *, vectors: bool = False) -> AsyncIterator[list[Record]]:
    after: str | None = None
    while True:
        names = VECTORS if vectors else ()
        page = await store.scroll(EVERY_TENANT, collection, Where(), limit=PAGE, after=after, with_vectors=names)
        yield page.records
        if page.next is None:
            return
        after = page.next


def merge_state(made: Mapping[str, Any], former: Mapping[str, Any]) -> dict[str, Any]:
    """Completes a payload made from the event by the former record's state and whatever else was added to it."""
    return {**former, **{key: value for key, value in made.items() if key not in STATE}}


@dataclass(frozen=True, slots=True)
class Carrier:
    """Copies between two collections of one model. May be repeated."""

    store: VectorStore
    source: str
    target: str
    progress: StageProgress

    async def carry(self, *, live: bool) -> Counter[str]:
        """Copies what the target lacks, and brings the state of its turns up to date; counted by kind, and as `state`.

        In a live target what is there is left alone: it may be ahead of its source.
        """
        counts: Counter[str] = Counter()
        looked_at = 0
        total = await self.store.count(EVERY_TENANT, self.source, Where())
        async for page in pages(self.store, self.source, vectors=True):
            # Pieces come with their parent: those of one that was made anew are made anew, too.
            wholes = [record for record in page if not is_piece(record)]
            twins = await self._in_target(wholes, () if live else VECTORS)
            missing = [record for record in wholes if record.id not in twins]
            outdated = [] if live else [*complete_payloads(wholes, twins)]
            if missing or outdated:
                pieces = [*await self._read_pieces(missing), *await self._update_pieces(outdated)]
                await self.store.upsert(EVERY_TENANT, self.target, [*pieces, *missing, *outdated])
            counts.update(str(record.payload.get("kind")) for record in missing)
            counts["state"] += len(outdated)
            looked_at += len(page)
            self.progress(looked_at, total)
        return counts

    async def _read_pieces(self, missing: Iterable[Record]) -> list[Record]:
        """Reads the pieces of records that are copied."""
        return await self._pieces(self.source, [record.id for record in missing if record.payload.get("divided")])

    async def _update_pieces(self, outdated: Iterable[Record]) -> list[Record]:
        """Reads the pieces of records whose state is brought up to date, with the same state."""
        states = {
            record.id: {name: record.payload[name] for name in VISIBILITY if name in record.payload}
            for record in outdated
            if record.payload.get("divided")
        }
        pieces = await self._pieces(self.target, list(states))
        return [replace(piece, payload={**piece.payload, **states[piece.payload["parent"]]}) for piece in pieces]

    async def _pieces(self, collection: str, parents: Sequence[str]) -> list[Record]:
        if not parents:
            return []
        found = every_record(self.store, EVERY_TENANT, collection, where_pieces(parents), with_vectors=VECTORS)
        return [record async for record in found]

    async def _in_target(self, page: Sequence[Record], vectors: Sequence[str]) -> dict[str, Record]:
        ids = [record.id for record in page]
        found = await self.store.fetch(EVERY_TENANT, self.target, ids, with_vectors=vectors)
        return {record.id: record for record in found}


def complete_payloads(former: Iterable[Record], made: Mapping[str, Record]) -> Iterator[Record]:
    """Yields the made records that lack something their former ones know, with that added."""
    for record in former:
        twin = made.get(record.id)
        if twin is not None and (payload := merge_state(twin.payload, record.payload)) != twin.payload:
            yield replace(twin, payload=payload)
