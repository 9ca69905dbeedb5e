"""Documents in an assembled prompt: a bounded share of the budget, quoted, and left out rather than in the way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from lithify.assembly.deadlines import Deadline, attempt
from lithify.assembly.prompt.context import PlannedContext, plan_context
from lithify.assembly.prompt.ingredients import Ingredients, Terms
from lithify.assembly.schema import IncludeDocs
from lithify.docs.block import DocsPart, render_docs_block
from lithify.docs.query import DocQuery
from lithify.docs.search import DocResults, DocSearch
from lithify.events import TenantScope
from lithify.memory.prompt.losses import name_loss

NOTHING: Final = DocsPart("", 0, (), 0)
NO_ROOM: Final = "documents were left out: rules and newest turns need the whole budget"


@dataclass(frozen=True, slots=True)
class PromptDocuments:
    """The documents of a prompt: `limit` are the tokens it may cost, `missing` says what could not be had."""

    part: DocsPart = NOTHING
    limit: int = 0
    missing: tuple[str, ...] = ()

    @property
    def complaints(self) -> tuple[str, ...]:
        """Says what could not be had, and how many documents the share of the budget kept out."""
        is_told = NO_ROOM in self.missing or not self.part.cut
        return self.missing if is_told else (*self.missing, name_loss(self.part.cut, "documents without room"))

    def leave_out(self, reason: str) -> "PromptDocuments":
        """Returns the same without any document, for a reason that is told."""
        cut = len(self.part.hits) + self.part.cut
        return PromptDocuments(replace(NOTHING, cut=cut), self.limit, (*self.missing, reason))


NO_DOCUMENTS: Final = PromptDocuments()


async def read_documents(
    search: DocSearch, scope: TenantScope, wanted: IncludeDocs, query: str, *, terms: Terms, deadline: Deadline
) -> PromptDocuments:
    """Finds documents for a prompt. Never raises because documents are down or slow; `missing` says so."""
    limit = int(min(wanted.share * terms.tau, terms.tau if wanted.tokens is None else wanted.tokens))
    if not query or limit <= 0:
        return PromptDocuments(limit=limit)

    async def find() -> DocResults | None:
        # In here, because a repository that cannot be is a reason to do without documents, too.
        question = DocQuery(query, repos=wanted.repos, limit=wanted.limit)
        # Half of the time for the model: at the end of all of it, words must still be able to answer.
        return await search.find(scope, question, terms.now_ms, deadline_s=deadline.seconds_left() / 2)

    found, missing = await attempt(find(), deadline, None, "documents cannot be read")
    part = NOTHING if found is None else render_docs_block(found.hits, limit, terms.counter.count)
    return PromptDocuments(part, limit, (*missing, *partial_reasons(found)))


def partial_reasons(found: DocResults | None) -> Iterator[str]:
    """Yields why documents were searched in part only."""
    if found is not None:
        yield from (f"documents were searched in part, {reason}" for reason in found.degraded)


def plan_beside(
    ingredients: Ingredients, terms: Terms, documents: PromptDocuments
) -> tuple[PlannedContext, PromptDocuments]:
    """Plans the context for what documents leave of the budget; hard rules and newest turns outrank every document."""
    if not documents.part.hits:
        return plan_context(ingredients, terms), documents
    planned = plan_context(ingredients, replace(terms, tau=terms.tau - documents.part.tokens))
    if not planned.fixed.budgets.is_degraded:
        return planned, documents
    return plan_context(ingredients, terms), documents.leave_out(NO_ROOM)
