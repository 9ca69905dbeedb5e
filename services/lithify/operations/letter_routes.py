"""The HTTP surface of dead letters, for the operator's command line and dashboard."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from lithify.events import AnyTenant, Clock
from lithify.http import JsonRoute, NotFound
from lithify.http.authorization import Access
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


def dead_letter_router(access: Access, letters: DeadLetters, clock: Clock) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["operations"], route_class=JsonRoute)
    admin = Depends(access.needs_admin())

    @router.get("/dead-letters")
    async def list_letters(
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
        before: Annotated[str | None, Query(max_length=64, description="`next` of the page before.")] = None,
        scope: AnyTenant = admin,
    ) -> LetterPage:
        """Messages that were given up, the newest first."""
        found = await letters.newest(scope, limit, LetterId.parse(before) if before else None)
        last = str(found[-1].id) if len(found) == limit else None
        return LetterPage(letters=[LetterSummary(**summary(letter)) for letter in found], next=last)

    @router.get("/dead-letters/{letter_id}", responses={404: {}})
    async def show_letter(letter_id: str, scope: AnyTenant = admin) -> LetterDetail:
        """One of them with its original payload."""
        letter = await letters.find(scope, LetterId.parse(letter_id))
        if letter is None:
            raise NotFound(f"id: there is no dead letter {letter_id}; it was redriven or purged, or never was")
        return LetterDetail(**summary(letter), payload=payload(letter))

    @router.post("/dead-letters:redrive")
    async def redrive(selection: Selection, scope: AnyTenant = admin) -> Redriven:
        """Put letters back onto their streams; repeating the call doubles nothing."""
        chosen = selection.letter_ids()
        return told(await letters.redrive(scope, await letters.ids(scope) if chosen is None else chosen))

    @router.post("/dead-letters:purge")
    async def purge(selection: PurgeSelection, scope: AnyTenant = admin) -> Purged:
        """Delete letters for good."""
        chosen = selection.letter_ids()
        if chosen is None:
            age_s = selection.older_than_s
            chosen = await letters.ids(scope, None if age_s is None else clock() - age_s * 1000)
        return Purged(purged=await letters.purge(scope, chosen))

    return router


def told(outcomes: Mapping[LetterId, Outcome]) -> Redriven:
    def having(wanted: Outcome) -> list[str]:
        return [str(letter_id) for letter_id, outcome in outcomes.items() if outcome == wanted]

    return Redriven(redriven=len(having("redriven")), gone=having("gone"), superseded=having("superseded"))


def summary(letter: Letter) -> dict[str, Any]:
    shown = ("reason", "attempts", "first_seen", "last_seen", "group", "stream", "stream_id")
    named = ("event_id", "tenant", "user", "session")
    return {
        "id": str(letter.id),
        **{name: getattr(letter, name) for name in shown},
        **{name: getattr(letter.event, name, None) for name in named},
    }


def payload(letter: Letter) -> dict[str, str]:
    return {
        name.decode(errors="backslashreplace"): value.decode(errors="backslashreplace")
        for name, value in letter.fields.items()
    }
