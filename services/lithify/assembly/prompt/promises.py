"""Checks every finished context against the promises of spec 08 §8; on in tests and under `check_invariants`."""

from lithify.assembly.prompt.context import Context
from lithify.assembly.prompt.docs_block import NO_DOCUMENTS, Documents, broken_documents
from lithify.errors import LithifyError
from lithify.memory.prompt.invariants import violations


class BrokenPromise(LithifyError):
    """An assembled context breaks one of its invariants."""


def broken(context: Context, documents: Documents = NO_DOCUMENTS) -> tuple[str, ...]:
    """One sentence per broken promise; the budget of the context is what documents left of it."""
    terms = context.draft.terms
    found = violations(context.evidence, context.composition, terms.counter.count)
    if context.text and not context.reasons and context.tokens > terms.tau:
        found += (f"6: the text costs {context.tokens} tokens, the budget is {terms.tau:g}",)
    return (*found, *broken_documents(documents))


def check(context: Context, documents: Documents = NO_DOCUMENTS) -> None:
    """Raises BrokenPromise: it is a fault of ours, and someone asked to hear of it."""
    if sentences := broken(context, documents):
        raise BrokenPromise(f"the assembled context breaks its promises: {'; '.join(sentences)}")
