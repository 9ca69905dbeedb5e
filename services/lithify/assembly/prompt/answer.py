"""Puts an assembled context into the forms hosts want: blocks as data, and messages with the memory among them."""

from collections.abc import Iterable, Mapping
from typing import Final

from lithify.assembly.prompt.builder import BuiltContext
from lithify.assembly.prompt.context import Context, speaker_of, summaries_of
from lithify.assembly.prompt.docs_block import PromptDocuments
from lithify.assembly.prompt.messages import SYSTEM, insert_memory
from lithify.assembly.prompt.token_counter import PromptCounter
from lithify.assembly.schema import AssembleRequest, AssembleResponse, Block, Entry
from lithify.docs.block import TRUSTED
from lithify.docs.search import DocHit
from lithify.memory.prompt.composition import Item
from lithify.memory.prompt.mark import spoken_role
from lithify.memory.prompt.rendering import AUTHORED, GUIDANCE, RECALLED, TAIL
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.turn import Turn

# An authored rule is the operator speaking.
RULE_ROLE: Final = SYSTEM
DOCUMENT_ROLE: Final = "document"


def make_response(request: AssembleRequest, built: BuiltContext, trace_id: str) -> AssembleResponse:
    is_split = request.form == "split"
    among = request.form == "messages"
    return AssembleResponse(
        text=built.text if request.form == "addition" else "",
        stable=built.stable.text if built.stable else "",
        fresh=built.text if is_split else "",
        blocks=answer_blocks(built),
        messages=insert_memory(request.messages, built.text) if among else list(request.messages),
        tokens=built.tokens,
        over_budget=built.is_over_budget,
        degraded=list(built.degraded),
        trace_id=trace_id,
    )


def answer_blocks(built: BuiltContext) -> list[Block]:
    """Returns everything that the text says as data, in its order."""
    counter = built.context.planned.terms.counter
    stable = [] if built.stable is None else [without_scores(block) for block in context_blocks(built.stable)]
    return [*stable, *context_blocks(built.context), *document_blocks(built.documents, counter)]


def without_scores(block: Block) -> Block:
    """Returns the block as nobody has compared it with a question."""
    return Block(name=block.name, entries=[entry.model_copy(update={"score": None}) for entry in block.entries])


def context_blocks(context: Context) -> list[Block]:
    """Returns the blocks of a context as data, for hosts that render by themselves."""
    composition, planned = context.composition, context.planned
    turns = {turn.id: turn for turn in planned.ingredients.turns}
    session = planned.ingredients.session
    memories = chosen_candidates(context)
    sigmas = {item.candidate.id: item.sigma for item in context.projection.order}
    sigmas |= {row.candidate.id: row.score for row in planned.advice if row.score}
    named = (
        (AUTHORED.name, [rule_entry(item) for item in composition.fixed.hard + composition.fixed.soft]),
        (TAIL.name, [tail_entry(item, turns[item.id], session) for item in composition.fixed.tail]),
        (GUIDANCE.name, recalled_entries(composition.guidance, memories, sigmas)),
        (RECALLED.name, recalled_entries(composition.recalled, memories, sigmas)),
    )
    return [Block(name=name, entries=entries) for name, entries in named if entries]


def chosen_candidates(context: Context) -> dict[str, Candidate]:
    projected = (item.candidate for item in context.projection.order)
    advice = (row.candidate for row in context.planned.advice)
    return {candidate.id: candidate for candidate in (*projected, *advice, *summaries_of(context.planned))}


def rule_entry(item: Item) -> Entry:
    return Entry(
        id=item.id,
        event_id=None,
        memory_id=item.id,
        text=item.text,
        role=RULE_ROLE,
        source="authored",
        kind="rule",
        tokens=item.cost,
    )


def tail_entry(item: Item, turn: Turn, session: str | None) -> Entry:
    return Entry(
        id=item.id,
        event_id=turn.id,
        memory_id=turn.memory_id or None,
        text=item.text,
        role=spoken_role(turn.role),
        source="session",
        kind="turn",
        session=session,
        ts=int(turn.ts),
        excerpt=item.is_excerpt,
        tokens=item.cost,
    )


def recalled_entries(
    items: Iterable[Item], memories: Mapping[str, Candidate], sigmas: Mapping[str, float]
) -> list[Entry]:
    """Returns the entries of memories; what nobody has compared with the question has no score."""
    return [recalled_entry(item, memories[item.id], sigmas.get(item.id)) for item in items]


def recalled_entry(item: Item, candidate: Candidate, score: float | None) -> Entry:
    return Entry(
        id=item.id,
        event_id=candidate.source_turn,
        memory_id=item.id,
        text=item.text,
        role=speaker_of(candidate),
        source="recalled",
        kind=candidate.kind.value,
        session=candidate.session,
        ts=None if candidate.ts is None else int(candidate.ts),
        excerpt=item.is_excerpt,
        superseded_by=candidate.superseded_by,
        tokens=item.cost,
        score=score if candidate.signals.helpful is None else candidate.signals.helpful,
    )


def document_blocks(documents: PromptDocuments, counter: PromptCounter) -> list[Block]:
    """Returns trusted documents under their own name, the others under that of recalled memory, as in the text."""
    trusted = [hit for hit in documents.part.hits if hit.chunk.trust == "trusted"]
    others = [hit for hit in documents.part.hits if hit.chunk.trust != "trusted"]
    named = ((TRUSTED.name, trusted), (RECALLED.name, others))
    return [Block(name=name, entries=[document_entry(hit, counter) for hit in hits]) for name, hits in named if hits]


def document_entry(hit: DocHit, counter: PromptCounter) -> Entry:
    chunk = hit.chunk
    return Entry(
        id=chunk.record_ref,
        event_id=None,
        text=chunk.text,
        role=DOCUMENT_ROLE,
        source="document",
        kind="document",
        tokens=counter.count(chunk.text),
        score=hit.scored.score,
    )
