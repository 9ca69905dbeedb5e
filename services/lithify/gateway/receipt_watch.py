"""Waits for receipts in the place of many requests: one look at all that are waited for, however many they are."""

import asyncio
import time
from typing import Final

from lithify.batching import batched
from lithify.streams import Receipts

# Short enough not to be felt by one who waits alone.
SHORTEST_S: Final = 0.01
# At most a fifth of the time goes into looking, unless nobody would be told anything for longer than this.
LOOKING_TO_RESTING: Final = 0.25
LONGEST_S: Final = 0.25
# Receipts in one call, so that none keeps Redis from its other callers.
AT_ONCE: Final = 512


class ReceiptWatch:
    """Tells waiting requests what became of their events. It looks only while somebody waits."""

    def __init__(self, receipts: Receipts) -> None:
        self._receipts = receipts
        self._waiting: dict[asyncio.Future[bool], tuple[str, str]] = {}
        self._looking: asyncio.Task[None] | None = None

    async def wait_searchable(self, tenant: str, event_id: str, limit_ms: int) -> bool:
        """Returns true as soon as recall can find the event; false when the limit passed or it never becomes memory.

        Raises Unavailable if Redis did not answer.
        """
        told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[told] = (tenant, event_id)
        self._begin()
        try:
            async with asyncio.timeout(limit_ms / 1000):
                return await told
        except TimeoutError:
            return False
        finally:
            del self._waiting[told]
            self._end()

    def _begin(self) -> None:
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_on(), name="receipt watch")

    def _end(self) -> None:
        """Ends looking with the last who waited."""
        if self._looking is not None and not self._waiting:
            self._looking.cancel()
            self._looking = None

    async def _look_on(self) -> None:
        # Asked for by name, for a cancellation may be swallowed: see `end_tasks` of the connection.
        own = asyncio.current_task()
        try:
            while self._looking is own:
                started = time.monotonic()
                await self._look()
                await asyncio.sleep(rest_s(time.monotonic() - started))
        except Exception as error:  # noqa: BLE001 - whoever waits is told, and nobody else could act
            if self._looking is own:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._looking = None
        for told in self._waiting:
            if not told.done():
                told.set_exception(error)

    async def _look(self) -> None:
        for events in batched(list(dict.fromkeys(self._waiting.values())), AT_ONCE):
            outcomes = dict(zip(events, await self._receipts.read_outcomes(events), strict=True))
            for told, event in self._waiting.items():
                outcome = outcomes.get(event)
                if outcome is not None and not told.done():
                    told.set_result(outcome)


def rest_s(took_s: float) -> float:
    """Returns the pause after a look that took some time."""
    return min(max(SHORTEST_S, took_s / LOOKING_TO_RESTING), LONGEST_S)
