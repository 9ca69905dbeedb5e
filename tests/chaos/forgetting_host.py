"""Asks to forget in the middle of the load, sends again what was forgotten, and looks whether it comes back."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from itertools import count
from random import Random
from typing import Any, Final
from urllib.parse import quote

import httpx

from lithify.embedding.hash_embedder import HashEmbedder
from lithify.store import point_id
from tests.chaos.driver import Sender
from tests.chaos.forgetting import Target, TargetKind, Wish
from tests.chaos.host import ANSWER_TIMEOUT_S, Decision, Host
from tests.chaos.ledger import TENANTS, Acceptance, Forgetting, Ledger, Turn, find_marks
from tests.chaos.lives import subject_of
from tests.chaos.plan import revive

# Of what a forgetting took: so many are sent again at once, and so many after its receipt with other content.
RESENT: Final = 6
POLL_S: Final = 0.5
# A turn may be forgotten only once it is in the store.
PATIENCE_S: Final = 20.0


class ForgettingHost:
    """Carries out wishes; on return of `run` every forgetting has its receipt, or the patience is over."""

    def __init__(
        self, ledger: Ledger, assemblies: Sequence[str], gateways: Sequence[str], api_keys: Mapping[str, str]
    ) -> None:
        self._ledger = ledger
        self._assemblies = assemblies
        self._gateways = gateways
        self._api_keys = api_keys

    async def run(self, wishes: Sequence[Wish], seed: int, patience_s: float) -> None:
        async with httpx.AsyncClient(timeout=ANSWER_TIMEOUT_S) as http, asyncio.TaskGroup() as tasks:
            for wish in wishes:
                tenant = TENANTS[wish.number % len(TENANTS)]
                random = Random(f"{seed}/{wish}")  # noqa: S311 - repeatable on purpose
                tasks.create_task(self._fulfil(http, tenant, wish, random, patience_s), name=str(wish))

    async def _fulfil(
        self, http: httpx.AsyncClient, tenant: str, wish: Wish, random: Random, patience_s: float
    ) -> None:
        await asyncio.sleep(wish.at_s)
        asking = Host(http, self._assemblies, self._api_keys[tenant], self._ledger.errors)
        sending = Sender(
            Host(http, self._gateways, self._api_keys[tenant], self._ledger.errors, count(wish.choice)), self._ledger
        )
        target = self._choose(tenant, wish)
        asked = None if target is None else await self._ask(asking, target)
        if target is None or asked is None:
            return
        job_id = asked.answer.json()["id"]
        self._ledger.forgettings.append(Forgetting(target, job_id, asked.sent_at, asked.told_at))
        doomed = self._find_doomed(target, asked)
        random.shuffle(doomed)
        await self._send_again(sending, doomed[:RESENT], same_content=True)
        if await self._await_receipt(asking, job_id, patience_s):
            await self._look_for(asking, doomed)
            await self._send_again(sending, doomed[RESENT : 2 * RESENT], same_content=False)

    def _choose(self, tenant: str, wish: Wish) -> Target | None:
        """Means somebody who has said something: the owner, session, source or event of one of the accepted turns."""
        said = [turn for name, turn in self._ledger.turns.items() if name[0] == tenant and turn.role != "tool"]
        if wish.kind is TargetKind.SOURCE:
            said = [turn for turn in said if turn.source_ref]
        if not said:
            return None
        # The older half: a turn that is not in the store yet cannot be forgotten by itself.
        turn = said[wish.choice % (len(said) // 2 + 1)]
        match wish.kind:
            case TargetKind.USER:
                return Target(tenant, wish.kind, turn.user)
            case TargetKind.SESSION:
                return Target(tenant, wish.kind, turn.user, turn.session)
            case TargetKind.SOURCE:
                return Target(tenant, wish.kind, None, turn.source_ref or "")
            case TargetKind.EVENT:
                return Target(tenant, wish.kind, turn.user, turn.event_id)

    async def _ask(self, host: Host, target: Target) -> Decision | None:
        """Returns None for a turn that is not in the store in time, or has been forgotten already."""
        given_up = time.monotonic() + PATIENCE_S
        while time.monotonic() < given_up:
            asked = await host.insist("DELETE", path_of(target))
            if asked.answer.status_code in (HTTPStatus.OK, HTTPStatus.ACCEPTED):
                return asked
            if target.kind is not TargetKind.EVENT or asked.answer.status_code != HTTPStatus.NOT_FOUND:
                self._ledger.misjudged.append(f"forgetting {target} was answered {asked.answer.status_code}")
                return None
            await asyncio.sleep(POLL_S)
        return None

    def _find_doomed(self, target: Target, asked: Decision) -> list[Acceptance]:
        """Returns what was told accepted before the forgetting was asked for."""
        told = [one for one in self._ledger.acceptances if one.told_at < asked.sent_at]
        return [one for one in told if target in subject_of(one).targets()]

    async def _send_again(self, sender: Sender, doomed: Sequence[Acceptance], *, same_content: bool) -> None:
        ledger = self._ledger
        for one in doomed:
            # Of an event with a stray request nobody can tell which content comes first.
            if one.name in ledger.under_way | ledger.uncertain | ledger.resent:
                continue
            ledger.resent.add(one.name)
            turn = ledger.turns[one.name]
            await sender.send(turn if same_content else revive(turn))

    async def _await_receipt(self, host: Host, job_id: str, patience_s: float) -> bool:
        given_up = time.monotonic() + patience_s
        while time.monotonic() < given_up:
            answer = (await host.insist("GET", f"/v1/forgettings/{job_id}")).answer
            if answer.status_code == HTTPStatus.OK and answer.json()["receipt"]:
                return True
            await asyncio.sleep(POLL_S)
        return False

    async def _look_for(self, host: Host, doomed: Sequence[Acceptance]) -> None:
        """Asks for what was forgotten, by its own words; nothing of it may be answered."""
        ledger = self._ledger
        gone = [one for one in doomed if one.name not in ledger.resent | ledger.uncertain | ledger.under_way]
        for one in gone[:2]:
            answered = await ask(host, ledger, one.facts.tenant, ledger.turns[one.name])
            if one.marks & find_marks(answered):
                ledger.recalled_answers.append(f"{one.name} in an answer after its forgetting was verified")


async def ask(host: Host, ledger: Ledger, tenant: str, about: Turn) -> str:
    """Asks as a tenant for what was said, maybe by another, in a search and an assembly; returns both answers.

    Words of another tenant in them are noted. The mark of the turn is not part of the question.
    """
    words = about.text.partition(" ")[2][:200]
    question: dict[str, Any] = {"user": about.user, "query": words}
    answered = ""
    for path, more in (("/v1/search", {}), ("/v1/assemble", {"session": about.session, "token_budget": 2_000})):
        answer = (await host.insist("POST", path, {**question, **more})).answer
        ledger.questions += 1
        if answer.status_code != HTTPStatus.OK:
            ledger.misjudged.append(f"a question was answered {answer.status_code}")
        answered += answer.text
    foreign = [mark for mark in find_marks(answered) if mark.tenant != tenant]
    ledger.crossed_answers += [f"{mark} in an answer to {tenant}" for mark in foreign]
    return answered


def path_of(target: Target) -> str:
    name = quote(target.name, safe="")
    user = quote(target.user or "", safe="")
    match target.kind:
        case TargetKind.USER:
            return f"/v1/users/{user}"
        case TargetKind.SESSION:
            return f"/v1/sessions/{name}?user={user}"
        case TargetKind.SOURCE:
            return f"/v1/sources/{name}"
        case TargetKind.EVENT:
            family = HashEmbedder().manifest.family
            return f"/v1/memories/{point_id(target.tenant, 'turn', target.name, family)}"
