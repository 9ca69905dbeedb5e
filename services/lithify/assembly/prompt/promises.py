"""Checks every finished context against the promises of spec 08 §8; on in tests and under `check_invariants`."""

from collections.abc import Iterator

from lithify.assembly.prompt.context import Context, rule_items
from lithify.assembly.prompt.docs_block import NO_DOCUMENTS, PromptDocuments
from lithify.docs.block import UNTRUSTED, quote, render_hits
from lithify.errors import LithifyError
from lithify.memory.prompt.invariants import Evidence, find_violations, has_open_line


class BrokenPromise(LithifyError):
    """An assembled context breaks one of its invariants."""


def check_promises(context: Context, documents: PromptDocuments = NO_DOCUMENTS) -> None:
    """Raises BrokenPromise: it is a fault of ours, and someone asked to hear of it."""
    if sentences := broken_promises(context, documents):
        raise BrokenPromise(f"the assembled context breaks its promises: {'; '.join(sentences)}")


def broken_promises(context: Context, documents: PromptDocuments = NO_DOCUMENTS) -> tuple[str, ...]:
    """Returns a sentence per broken promise; the budget of the context is what documents left of it."""
    terms = context.planned.terms
    found = find_violations(evidence_of(context), context.composition, terms.counter.count)
    return (*found, *broken_document_promises(documents))


def evidence_of(context: Context) -> Evidence:
    """Returns what the checker of spec 08 §8 compares a composition with."""
    planned = context.planned
    return Evidence(
        tau=planned.terms.tau,
        profile=planned.terms.profile,
        hard=rule_items(planned.ingredients.hard, planned.terms.counter),
        soft=rule_items(planned.ingredients.soft, planned.terms.counter),
        base=planned.base,
        scored=[*planned.considered, *planned.advice],
        projected=context.projection.order,
        text=context.text,
    )


def broken_document_promises(documents: PromptDocuments) -> Iterator[str]:
    """Yields what is wrong with the documents of a prompt, in the numbers of spec 08 §8."""
    part = documents.part
    if part.tokens > documents.limit:
        yield f"6: documents cost {part.tokens} tokens, their share is {documents.limit}"
    if part.text != render_hits(part.hits) or any(has_open_line(quote(hit).body) for hit in part.hits):
        yield "14: a document is missing or has been broken out of"
    if any(hit.chunk.trust != "trusted" for hit in part.hits) and UNTRUSTED.framing not in part.text:
        yield "14: an untrusted document is not framed as untrusted"
