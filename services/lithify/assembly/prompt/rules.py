"""The authored rules an assembly must show, wherever they come from, and what was last known of them."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from lithify.events import TenantScope

# Tenants whose rules one process remembers; the least recently asked is forgotten first.
REMEMBERED: Final = 1024


class Rule(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...


class Rules(Protocol):
    """In the order of injection: by document, then by place in it."""

    @property
    def hard(self) -> Sequence[Rule]: ...

    @property
    def soft(self) -> Sequence[Rule]: ...

    @property
    def generation(self) -> int: ...


class RuleSource(Protocol):
    async def rules(self, scope: TenantScope, /) -> Rules:
        """The rules of the scope's tenant as they are now. Raises Unavailable if they cannot be read."""


@dataclass(frozen=True, slots=True)
class NoRules:
    hard: tuple[Rule, ...] = ()
    soft: tuple[Rule, ...] = ()
    generation: int = 0


class Lawless:
    """The source of a deployment without authored documents."""

    async def rules(self, _: TenantScope, /) -> Rules:
        return NoRules()


class KnownRules:
    """Remembers what was last read: a hard rule binds even while its source is away."""

    def __init__(self, source: RuleSource) -> None:
        self._source = source
        self._last: OrderedDict[str, Rules] = OrderedDict()

    async def rules(self, scope: TenantScope, /) -> Rules:
        read = await self._source.rules(scope)
        self._last[scope.tenant] = read
        self._last.move_to_end(scope.tenant)
        if len(self._last) > REMEMBERED:
            self._last.popitem(last=False)
        return read

    def last(self, scope: TenantScope, /) -> Rules | None:
        return self._last.get(scope.tenant)
