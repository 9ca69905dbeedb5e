"""The HTTP surface of dead letters, for the operator's command line and dashboard."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from lithify.events import AnyTenant, Clock, EveryTenant, TenantScope
from lithify.http import JsonRoute
from lithify.http.authorization import Access
from lithify.monitoring.letters import find_letter, payload_of
from lithify.operations.letter_schema import (
    MAX_PAGE,
    LetterDetail,
    LetterPage,
    LetterSummary,
    Purged,
    PurgeSelection,
    Redriven,
    Selection,
)
from lithify.streams import DeadLetters, Letter, LetterId
from lithify.streams.dead_letters import Outcome


def dead_letter_router(letters: DeadLetters, access: Access, clock: Clock) -> APIRouter:
    """Answers administrators only: letters hold what users said."""
    router = APIRouter(prefix="/v1", tags=["operations"], route_class=JsonRoute)
    admin = Depends(access.needs_admin())

    @router.get("/dead-letters")
    async def list_letters(
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
        before: Annotated[str | None, Query(max_length=64, description="`next` of the page before.")] = None,
        tenant: Annotated[str | None, Query(max_length=256, description="Whose letters; of all if left out.")] = None,
        scope: AnyTenant = admin,
    ) -> LetterPage:
        """Messages that were given up, the newest first."""
        found = await letters.newest(narrow(scope, tenant), limit, LetterId.parse(before) if before else None)
        last = str(found[-1].id) if len(found) == limit else None
        return LetterPage(letters=[LetterSummary(**summarise(letter)) for letter in found], next=last)

    @router.get("/dead-letters/{letter_id}", responses={404: {}})
    async def show_letter(letter_id: str, scope: AnyTenant = admin) -> LetterDetail:
        """One of them with its original payload."""
        letter = await find_letter(letters, scope, letter_id)
        return LetterDetail(**summarise(letter), payload=payload_of(letter))

    @router.post("/dead-letters:redrive")
    async def redrive(selection: Selection, scope: AnyTenant = admin) -> Redriven:
        """Put letters back onto their streams; repeating the call doubles nothing."""
        chosen = selection.letter_ids()
        return count_outcomes(await letters.redrive(scope, await letters.ids(scope) if chosen is None else chosen))

    @router.post("/dead-letters:purge")
    async def purge(selection: PurgeSelection, scope: AnyTenant = admin) -> Purged:
        """Delete letters for good."""
        chosen = selection.letter_ids()
        if chosen is None:
            age_s = selection.older_than_s
            chosen = await letters.ids(scope, None if age_s is None else clock() - age_s * 1000)
        return Purged(purged=await letters.purge(scope, chosen))

    return router


def narrow(scope: AnyTenant, tenant: str | None) -> AnyTenant:
    """Returns what an operator wants to see; anyone else may name no tenant but their own, and sees that anyway."""
    return TenantScope(tenant) if tenant and isinstance(scope, EveryTenant) else scope


def count_outcomes(outcomes: Mapping[LetterId, Outcome]) -> Redriven:
    def having(wanted: Outcome) -> list[str]:
        return [str(letter_id) for letter_id, outcome in outcomes.items() if outcome == wanted]

    return Redriven(redriven=len(having("redriven")), gone=having("gone"), superseded=having("superseded"))


def summarise(letter: Letter) -> dict[str, Any]:
    shown = ("reason", "attempts", "first_seen", "last_seen", "group", "stream", "stream_id")
    named = ("event_id", "tenant", "user", "session")
    return {
        "id": str(letter.id),
        **{name: getattr(letter, name) for name in shown},
        **{name: getattr(letter.event, name, None) for name in named},
    }
