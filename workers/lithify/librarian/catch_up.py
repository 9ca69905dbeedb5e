"""The job that follows a sync: embeds until nothing is left, however much was written while it ran."""

from collections import Counter
from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

from lithify.jobs import JobContext
from lithify.librarian.vectors import VectorParts, embed_docs


async def catch_up(context: JobContext[VectorParts]) -> JsonValue:
    """Passes until one embeds nothing: a sync writes behind a pass that has begun, and while the job runs it cannot
    be asked for again. A process that stops leaves the rest to the schedule. Counts what was `embedded` and what the
    last pass left `remaining`.
    """
    embedded = 0
    while True:
        told: Counter[str] = Counter(cast("Mapping[str, int]", await embed_docs(context)))
        embedded += told["embedded"]
        if not told["embedded"] or context.ending():
            return {"embedded": embedded, "remaining": told["remaining"]}
