"""Dead letters in a row: whether they speak against the messages, or against the worker that gives them up."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class DeadRow:
    """The messages given up since the last one that went well.

    A tenant may send nothing but what is bad, and must not stop the work of others by it: what the commonest tenant
    has in the row counts for nothing. A message nobody can read was not made by a tenant, and always counts.
    """

    limit: int
    _by_tenant: Counter[str | None] = field(default_factory=Counter)

    def add(self, tenant: str | None) -> None:
        """Counts one more; None where the message cannot be read."""
        self._by_tenant[tenant] += 1

    def end(self) -> None:
        self._by_tenant.clear()

    @property
    def beyond(self) -> int:
        """Says how many more there are than tell of a broken worker; below 0 while there is no reason to think so."""
        commonest = max((count for tenant, count in self._by_tenant.items() if tenant is not None), default=0)
        return self._by_tenant.total() - commonest - self.limit

    @property
    def trouble(self) -> str | None:
        if self.beyond < 0:
            return None
        return f"{self._by_tenant.total()} dead letters in a row, of several tenants: this worker is probably broken"
