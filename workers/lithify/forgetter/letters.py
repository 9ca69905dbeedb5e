"""The dead letters: messages that were given up, with all that was said in them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from lithify.forgetter.case import Case
from lithify.streams import DeadLetters, Letter, LetterId
from lithify.streams.dead_letters import PAGE


@dataclass(frozen=True, slots=True)
class Letters:
    """A letter that cannot be read names nobody; only the operator's purge removes it."""

    dead_letters: DeadLetters
    name: str = "dead_letters"

    async def clear(self, case: Case) -> int:
        purged = 0
        async for found in self._doomed(case):
            await case.drop_receipts({letter.event.event_id for letter in found if letter.event})
            purged += await self.dead_letters.purge(case.target.scope, [letter.id for letter in found])
        return purged

    async def left(self, case: Case) -> int:
        return sum([len(found) async for found in self._doomed(case)])

    async def _doomed(self, case: Case) -> AsyncIterator[list[Letter]]:
        last: LetterId | None = None
        while page := await self.dead_letters.newest(case.target.scope, PAGE, last):
            meant = [letter for letter in page if letter.event and case.target.covers(letter.event)]
            doomed = await case.doomed_events([letter.event for letter in meant if letter.event])
            if found := [letter for letter in meant if letter.event and letter.event.event_id in doomed]:
                yield found
            last = page[-1].id
