"""The connection both clients are made with: where, with which key, how patiently."""

from dataclasses import dataclass, field
from typing import Final, TypedDict, TypeVar

import httpx

from lithify.client.call import Call
from lithify.errors import Unavailable

DEFAULT_URL: Final = "http://127.0.0.1:8420"
# Connecting is quick or hopeless.
CONNECT_S: Final = 5.0

T = TypeVar("T")


class Options(TypedDict, total=False):
    """The options of a client; their defaults are those of `Connection`."""

    api_key: str | None
    timeout_s: float
    tries: int
    fails_soft: bool


@dataclass(frozen=True, slots=True)
class Connection:
    """The address and behaviour of both clients.

    With `fails_soft`, recall answers with nothing and the reason, ingest says `unsent`, instead of raising.
    Refusals (a wrong key, a bad request) are raised all the same: they are mistakes, not outages.
    """

    url: str
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 30.0
    # An outage of about a second is not noticed.
    tries: int = 4
    fails_soft: bool = False

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise ValueError(f"tries must be at least 1, not {self.tries}")

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}

    def timeout(self) -> httpx.Timeout:
        return httpx.Timeout(self.timeout_s, connect=min(CONNECT_S, self.timeout_s))

    def fall_back(self, call: Call[T], error: Unavailable) -> T:
        """Returns what stands in for an answer after the last try failed; raises the error unless it may fail soft."""
        if not self.fails_soft or call.fallback is None:
            raise error
        return call.fallback(str(error))
