"""Sends the load over HTTP as agent hosts do: several connections, each insisting on an answer for every turn."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from itertools import count
from typing import Any, Final

import httpx

from tests.chaos.host import ANSWER_TIMEOUT_S, Decision, Host
from tests.chaos.ledger import TENANTS, Ledger, Turn
from tests.chaos.plan import Load, Parcel, forge, parcels, tenant_of

CONNECTIONS: Final = 3 * len(TENANTS)


async def drive(load: Load, gateways: Sequence[str], api_keys: Mapping[str, str], ledger: Ledger) -> None:
    """Returns when every turn is accepted. Whatever is refused is in the ledger."""
    shares = [load.turns // CONNECTIONS + (n < load.turns % CONNECTIONS) for n in range(CONNECTIONS)]
    async with httpx.AsyncClient(timeout=ANSWER_TIMEOUT_S) as http, asyncio.TaskGroup() as tasks:
        for number, share in enumerate(shares):
            host = Host(http, gateways, api_keys[tenant_of(number)], ledger.errors, count(number))
            tasks.create_task(run_connection(Sender(host, ledger), load, number, share), name=f"connection {number}")


async def run_connection(sender: "Sender", load: Load, number: int, turns: int) -> None:
    clock = asyncio.get_running_loop().time
    started = clock()
    for parcel in parcels(load, number, turns):
        await asyncio.sleep(max(0.0, started + parcel.due_s - clock()))
        with sender.under_way(parcel):
            for _ in range(2 if parcel.again else 1):
                await sender.deliver(parcel)
            if parcel.forged:
                await sender.forge(parcel.turns[0])


class Sender:
    """Sends turns of one tenant and keeps the ledger of them."""

    def __init__(self, host: Host, ledger: Ledger) -> None:
        self._host = host
        self._ledger = ledger

    async def deliver(self, parcel: Parcel) -> None:
        if parcel.single:
            await self.send(parcel.turns[0])
            return
        body = {"turns": [turn.body() for turn in parcel.turns]}
        decision = await self._host.insist("POST", "/v1/turns:batch", body)
        results = decision.answer.json().get("results", [read_result(decision.answer)] * len(parcel.turns))
        self._note(parcel.turns, results, decision)

    async def send(self, turn: Turn) -> str:
        """Sends one turn and returns the decision about it in a word."""
        decision = await self._host.insist("POST", "/v1/turns", turn.body())
        result = read_result(decision.answer)
        self._note((turn,), [result], decision)
        return str(result["status"])

    def _note(self, turns: Sequence[Turn], results: Sequence[dict[str, Any]], decision: Decision) -> None:
        if decision.attempts > 1:
            self._ledger.uncertain.update(turn.name for turn in turns)
        self._ledger.answer(turns, results, decision.sent_at, decision.told_at)

    async def forge(self, turn: Turn) -> None:
        """Sends other content under the id of a turn, which is a conflict unless the turn was forgotten meanwhile."""
        forged = forge(turn)
        decision = await self._host.insist("POST", "/v1/turns", forged.body())
        if decision.attempts > 1:
            self._ledger.uncertain.add(turn.name)
        self._ledger.refuse(forged, read_result(decision.answer), decision.sent_at, decision.told_at)

    @contextmanager
    def under_way(self, parcel: Parcel) -> Iterator[None]:
        """Keeps others from sending the same events meanwhile: nobody could tell whose content came first."""
        names = {turn.name for turn in parcel.turns}
        self._ledger.under_way |= names
        yield
        self._ledger.under_way -= names


def read_result(answer: httpx.Response) -> dict[str, Any]:
    """Returns a decision about one turn in the words of a batch's results."""
    if answer.status_code in (HTTPStatus.OK, HTTPStatus.ACCEPTED):
        accepted: dict[str, Any] = answer.json()
        return accepted
    status = "conflict" if answer.status_code == HTTPStatus.CONFLICT else f"HTTP {answer.status_code}"
    return {"event_id": None, "status": status}
