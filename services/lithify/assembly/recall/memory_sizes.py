"""How many records a search looks at: counted seldom, for only its order of magnitude matters."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.store import VectorStore, Where
from lithify.store.memory_record import COLLECTION

KEPT: Final = 1024
# A memory that grows by one record a second is at most a fiftieth larger than it was counted.
SECONDS_PER_RECORD: Final = 0.02
LONGEST_S: Final = 3600.0


@dataclass(slots=True)
class MemorySizes:
    """Remembers sizes; the least recently used goes first."""

    clock: Callable[[], float] = time.monotonic
    _sizes: OrderedDict[tuple[TenantScope, Where], tuple[int, float]] = field(default_factory=OrderedDict)

    async def read(self, store: VectorStore, scope: TenantScope, where: Where, least: int) -> int:
        """Returns how many records match, and at least as many as were seen, should the store not say it."""
        key = (scope, where)
        size, until = self._sizes.get(key, (0, 0.0))
        if self.clock() < until:
            self._sizes.move_to_end(key)
            return max(size, least)
        try:
            size = await store.count(scope, COLLECTION, where)
        except LithifyError:
            return least
        self._sizes[key] = (size, self.clock() + min(size * SECONDS_PER_RECORD, LONGEST_S))
        if len(self._sizes) > KEPT:
            self._sizes.popitem(last=False)
        return max(size, least)
