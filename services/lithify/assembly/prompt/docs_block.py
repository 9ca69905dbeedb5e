"""Documents in an assembled prompt: a bounded share of the budget, quoted, and left out rather than in the way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from lithify.assembly.deadlines import Deadline, attempt
from lithify.assembly.prompt.context import Draft, Ingredients, Terms, draft
from lithify.assembly.prompt.token_counter import Counter
from lithify.assembly.schema import Block, Entry, IncludeDocs
from lithify.docs.block import TRUSTED, DocsPart, render_docs_block
from lithify.docs.query import DocQuery
from lithify.docs.search import DocHit, DocResults, DocSearch
from lithify.events import TenantScope
from lithify.memory.prompt.rendering import RECALLED, TokenCounter

DOCUMENT_ROLE: Final = "document"
NOTHING: Final = DocsPart("", 0, (), 0)
NO_ROOM: Final = "documents were left out: rules and newest turns need the whole budget"


@dataclass(frozen=True, slots=True)
class Documents:
    """What was found for a prompt; `limit` are the tokens it may cost, `missing` says what could not be had."""

    part: DocsPart = NOTHING
    limit: int = 0
    missing: tuple[str, ...] = ()

    def left_out(self, reason: str) -> "Documents":
        cut = len(self.part.hits) + self.part.cut
        return Documents(replace(NOTHING, cut=cut), self.limit, (*self.missing, reason))


NO_DOCUMENTS: Final = Documents()


async def read_documents(
    search: DocSearch, scope: TenantScope, wanted: IncludeDocs, query: str, terms: Terms, deadline: Deadline
) -> Documents:
    """Never raises because documents are down or slow; `missing` says so."""
    limit = int(min(wanted.share * terms.tau, terms.tau if wanted.tokens is None else wanted.tokens))
    if not query or limit <= 0:
        return Documents(limit=limit)
    found, missing = await attempt(
        ask(search, scope, wanted, query, terms, deadline), deadline, None, "documents cannot be read"
    )
    part = NOTHING if found is None else render_docs_block(found.hits, limit, price_of(terms.counter))
    return Documents(part, limit, (*missing, *partly(found)))


async def ask(
    search: DocSearch, scope: TenantScope, wanted: IncludeDocs, query: str, terms: Terms, deadline: Deadline
) -> DocResults | None:
    question = DocQuery(query, repos=wanted.repos, limit=wanted.limit)
    # Half of the time for the model: at the end of all of it, words must still be able to answer.
    return await search.find(scope, question, terms.now_ms, deadline_s=deadline.left() / 2)


def partly(found: DocResults | None) -> Iterator[str]:
    if found is not None:
        yield from (f"documents were searched in part, {reason}" for reason in found.degraded)


def price_of(counter: Counter) -> TokenCounter:
    """By the estimator line by line: it judges a text by its script, and documents mix them."""
    if counter.exact:
        return counter.count
    return lambda text: sum(counter.count(line) for line in text.splitlines(keepends=True))


def draft_beside(ingredients: Ingredients, terms: Terms, documents: Documents) -> tuple[Draft, Documents]:
    """The draft for what documents leave of the budget. Hard rules and the newest turns outrank every document."""
    if not documents.part.hits:
        return draft(ingredients, terms), documents
    planned = draft(ingredients, replace(terms, tau=terms.tau - documents.part.tokens))
    if not planned.fixed.budgets.degraded:
        return planned, documents
    return draft(ingredients, terms), documents.left_out(NO_ROOM)


def document_blocks(documents: Documents, counter: Counter) -> list[Block]:
    """As data: trusted ones under their own name, the others under that of recalled memory, as in the text."""
    trusted = [hit for hit in documents.part.hits if hit.chunk.trust == "trusted"]
    others = [hit for hit in documents.part.hits if hit.chunk.trust != "trusted"]
    named = ((TRUSTED.name, trusted), (RECALLED.name, others))
    return [Block(name=name, entries=[entry(hit, counter) for hit in hits]) for name, hits in named if hits]


def entry(hit: DocHit, counter: Counter) -> Entry:
    chunk = hit.chunk
    return Entry(
        id=chunk.record_ref,
        event_id=None,
        text=chunk.text,
        role=DOCUMENT_ROLE,
        source="document",
        tokens=counter.count(chunk.text),
        score=hit.scored.score,
    )


def receipt_of(documents: Documents) -> dict[str, Any]:
    part = documents.part
    rows = [{"ref": one.chunk.record_ref, "trust": one.chunk.trust, "score": one.scored.score} for one in part.hits]
    return {"limit": documents.limit, "tokens": part.tokens, "hits": rows, "cut": part.cut}


def broken_documents(documents: Documents) -> Iterator[str]:
    """What the checker of assembled contexts says about this part, in its numbers (spec 08 §8)."""
    part = documents.part
    if part.tokens > documents.limit:
        yield f"6: documents cost {part.tokens} tokens, their share is {documents.limit}"
    if part.text.count("</entry>") != len(part.hits) or part.text.count("<entry ") != len(part.hits):
        yield "14: a document is missing or has been broken out of"
    if any(hit.chunk.trust != "trusted" for hit in part.hits) and RECALLED.framing not in part.text:
        yield "14: an untrusted document is not framed as untrusted"
