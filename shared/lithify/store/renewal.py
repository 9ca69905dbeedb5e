"""Records whose event was accepted anew: they count as accepted then, and a forgetting of before spares them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from lithify.events import EVERY_TENANT
from lithify.store.contract import VectorStore
from lithify.store.memory_record import COLLECTION
from lithify.store.pieces import where_pieces
from lithify.store.records import Record
from lithify.store.where import NO_RECORD, Where

ACCEPTED: Final = "accepted"


def accepted_at(record: Record) -> int:
    """Returns when what a record says was accepted last, in ms; 0 where an earlier release did not note it."""
    return record.payload.get(ACCEPTED) or 0


def accepted_before(where: Where, moment: int | None) -> Where:
    """Leaves out what was accepted anew after that moment; without one nothing is left out."""
    return where if moment is None else where.up_to(ACCEPTED, moment)


def where_earlier(records: Sequence[Record]) -> Where:
    """Selects what was accepted before all of these, to be replaced by them; nothing if they do not say when they were.

    It says something else than they do, or `renew_same` would have kept it, and may be forgotten at any moment.
    """
    earliest = min((accepted_at(record) for record in records), default=0)
    return accepted_before(Where(), earliest - 1) if earliest else NO_RECORD


async def renew_same(store: VectorStore, made: Mapping[str, Record], known: Iterable[Record | None]) -> None:
    """Lets stored records count as accepted with what was made anew under their ids, if they say the same.

    What says something else keeps its moment: it must not outlive a forgetting under the name of other words.
    """
    same = [one for one in known if one and one.payload.get("text") == made[one.id].payload.get("text")]
    moments = {one.id: accepted_at(made[one.id]) for one in same}
    await renew_acceptance(store, {one.id: moments[one.id] for one in same if accepted_at(one) < moments[one.id]})


async def renew_acceptance(store: VectorStore, accepted: Mapping[str, int]) -> None:
    """Sets when records and their pieces were accepted last, in ms by their ids; a later moment that is stored stays.

    A record that is gone is not brought back: whoever needs it adds it afterwards, and then nothing of it can be lost.
    """
    by_moment: defaultdict[int, list[str]] = defaultdict(list)
    for id_, moment in accepted.items():
        by_moment[moment].append(id_)
    for moment, ids in by_moment.items():
        for where in (where_pieces(ids), Where().ids(ids)):
            await store.set_payload(EVERY_TENANT, COLLECTION, accepted_before(where, moment), {ACCEPTED: moment})
