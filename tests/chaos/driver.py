"""Sends the load over HTTP as agent hosts do: several connections, each insisting on an answer for every turn."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import count
from typing import Any, Final

import httpx

from tests.chaos.ledger import Ledger, Turn
from tests.chaos.plan import Parcel, parcels

CONNECTIONS: Final = 6
# Shorter than the gateway's own patience with Redis (5 s): some retries overtake the request they repeat.
ANSWER_TIMEOUT_S: Final = 4.0
PAUSE_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Load:
    seed: int
    turns: int
    seconds: float


async def drive(load: Load, gateways: Sequence[str], ledger: Ledger) -> None:
    """Returns when every turn is accepted. Whatever is refused is in the ledger."""
    shares = [load.turns // CONNECTIONS + (n < load.turns % CONNECTIONS) for n in range(CONNECTIONS)]
    async with httpx.AsyncClient(timeout=ANSWER_TIMEOUT_S) as http, asyncio.TaskGroup() as tasks:
        for number, share in enumerate(shares):
            connection = Connection(http, gateways, ledger, number)
            tasks.create_task(connection.run(load, share), name=f"connection {number}")


class Connection:
    def __init__(self, http: httpx.AsyncClient, gateways: Sequence[str], ledger: Ledger, number: int) -> None:
        self._http = http
        self._gateways = gateways
        self._ledger = ledger
        self._number = number
        self._tries = count(number)

    async def run(self, load: Load, turns: int) -> None:
        clock = asyncio.get_running_loop().time
        started = clock()
        for parcel in parcels(load.seed, self._number, turns, load.seconds):
            await asyncio.sleep(max(0.0, started + parcel.due_s - clock()))
            for _ in range(2 if parcel.again else 1):
                await self._deliver(parcel)
            if parcel.forged:
                await self._forge(parcel.turns[0])

    async def _deliver(self, parcel: Parcel) -> None:
        if parcel.single:
            answer = await self._insist("/v1/turns", parcel.turns[0].body())
            self._ledger.answer(parcel.turns, [judged(answer)])
            return
        answer = await self._insist("/v1/turns:batch", {"turns": [turn.body() for turn in parcel.turns]})
        results = answer.json().get("results", [judged(answer)] * len(parcel.turns))
        self._ledger.answer(parcel.turns, results)

    async def _forge(self, turn: Turn) -> None:
        answer = await self._insist("/v1/turns", replace(turn, text=f"forged {turn.text}").body())
        self._ledger.refuse(turn, judged(answer)["status"])

    async def _insist(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """Repeat the same request, at whichever gateway is next, until one takes a decision."""
        while True:
            gateway = self._gateways[next(self._tries) % len(self._gateways)]
            try:
                answer = await self._http.post(f"{gateway}{path}", json=body)
            except httpx.TransportError as error:
                self._ledger.errors[type(error).__name__] += 1
            else:
                if answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and answer.status_code != 429:
                    return answer
                self._ledger.errors[f"HTTP {answer.status_code}"] += 1
            await asyncio.sleep(PAUSE_S)


def judged(answer: httpx.Response) -> dict[str, Any]:
    """A decision about one turn in the words of a batch's results."""
    if answer.status_code in (HTTPStatus.OK, HTTPStatus.ACCEPTED):
        accepted: dict[str, Any] = answer.json()
        return accepted
    status = "conflict" if answer.status_code == HTTPStatus.CONFLICT else f"HTTP {answer.status_code}"
    return {"event_id": None, "status": status}
