"""The receipt of a search or assemble: all that decided, every candidate and every cut, as plain data (spec 08 §7)."""

from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from lithify.assembly.prompt.builder import BuiltContext
from lithify.assembly.prompt.context import Context, summaries_of
from lithify.assembly.prompt.docs_block import PromptDocuments
from lithify.assembly.recall.caches import profile_digest
from lithify.assembly.recall.search import SearchResult
from lithify.assembly.schema import AssembleRequest, SearchRequest
from lithify.memory.prompt.composition import Item, Limit
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.cues import keywords
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.scoring import Scored

COMPONENTS = Scored._fields[1:]


class Verdict(StrEnum):
    """Says why a candidate is in the prompt or not: the heart of a receipt."""

    INJECTED = "injected"
    SHOWN = "shown"  # it stands in the recent tail anyway
    WEAK = "weak"  # below the similarity floor, or beyond the coarse list
    COPY = "copy"  # a better copy of the same turn competes
    OUTRANKED = "outranked"  # beyond the final list
    CUT_RETRIEVAL = "cut_retrieval"  # it won its place, but the budget of recall was used up
    CUT_GUIDANCE = "cut_guidance"
    CUT_DEGRADED = "cut_degraded"  # rules and newest turns alone overrun the budget
    SUMMARISED = "summarised"  # it won its place, but there was no room, and a summary stands for it
    COVERED = "covered"  # a summary, of turns that are found themselves


CUTS = {
    Limit.RETRIEVAL: Verdict.CUT_RETRIEVAL,
    Limit.GUIDANCE: Verdict.CUT_GUIDANCE,
    Limit.DEGRADED: Verdict.CUT_DEGRADED,
    Limit.SUMMARY: Verdict.SUMMARISED,
}


def search_receipt(
    request: SearchRequest, result: SearchResult, profile: Profile, fingerprint: str, *, now_ms: int
) -> dict[str, Any]:
    return {
        "kind": "search",
        **conditions(profile, fingerprint, now_ms),
        "request": request.model_dump(mode="json", exclude={"query"}),
        "query": request.query,
        "candidates": len(result.found.candidates),
        "tiers": [asdict(tier) for tier in result.found.tiers],
        "hits": [{"id": hit.id, "score": hit.score, **hit.components} for hit in result.hits],
        "degraded": result.found.degraded,
    }


def assemble_receipt(request: AssembleRequest, result: BuiltContext, fingerprint: str) -> dict[str, Any]:
    """Returns the receipt of an assembly, without texts: what a user asks to forget must not live on in receipts."""
    context = result.context
    terms, fixed = context.planned.terms, context.composition.fixed
    receipt = {
        "kind": "assemble",
        **conditions(terms.profile, fingerprint, terms.now_ms),
        "counter": terms.counter.name,
        "packing": terms.profile.packing,
        "request": request.model_dump(mode="json", exclude={"messages", "query"}),
        "query": result.query,
        "keywords": keywords(result.query),
        "token_budget": request.token_budget,
        "rules_generation": result.generation,
        "budgets": asdict(fixed.budgets)
        | {"reasons": context.reasons, "retrieval": fixed.budgets.retrieval(fixed.tail_cost)},
        "tiers": [asdict(tier) for tier in result.tiers],
        "temporal": temporal_row(context),
        "hard_rules": prices(fixed.hard),
        "soft_rules": prices(fixed.soft),
        "tail": prices(fixed.tail),
        "host_shows": sorted(result.hidden),
        "guidance": prices(context.composition.guidance),
        "recalled": prices(context.composition.recalled),
        "considered": list(candidate_rows(context)),
        "cut": cut_rows(context),
        "flags": {
            "degraded": fixed.budgets.is_degraded,
            "over_budget": context.is_over_budget,
            "bundle_split": context.planned.bundle_split,
            "cache_hit": result.cached,
        },
        "documents": documents_receipt(result.documents),
        "tokens": result.tokens,
        "degraded": result.degraded,
    }
    return receipt if result.stable is None else add_stable(receipt, result.stable)


def add_stable(receipt: dict[str, Any], stable: Context) -> dict[str, Any]:
    """Adds the stable part of a split prompt to the receipt of its fresh one, which has neither rules nor guidance."""
    fixed = stable.composition.fixed
    limits = {name: getattr(fixed.budgets, name) for name in ("hard", "soft_limit", "soft", "soft_count")}
    reasons = [*stable.reasons, *receipt["budgets"]["reasons"]]
    limits |= {"guidance_share": fixed.budgets.guidance(0.0), "reasons": reasons}
    return receipt | {
        "budgets": receipt["budgets"] | limits,
        "hard_rules": prices(fixed.hard),
        "soft_rules": prices(fixed.soft),
        "guidance": prices(stable.composition.guidance),
        "considered": [*candidate_rows(stable), *receipt["considered"]],
        "cut": [*cut_rows(stable), *receipt["cut"]],
    }


def cut_rows(context: Context) -> list[dict[str, Any]]:
    return [{"id": cut.id, "cost": cut.cost, "limit": cut.limit} for cut in context.composition.cut]


def conditions(profile: Profile, fingerprint: str, now_ms: int) -> dict[str, Any]:
    """Returns what, with the same store and request, gives the same answer again."""
    return {
        "now": now_ms,
        "profile": {"name": profile.name, "digest": profile_digest(profile)},
        "embedding": fingerprint,
    }


def temporal_row(context: Context) -> dict[str, Any]:
    query, projection = context.planned.temporal, context.projection
    return {
        "xi": query.xi,
        "labels": query.labels,
        "slots": query.slots,
        "guard": {"applies": query.guard.applies, "reason": query.guard.reason},
        "picks": [asdict(pick) for pick in projection.picks],
        "recovered": projection.recovered,
    }


def prices(items: tuple[Item, ...]) -> list[dict[str, Any]]:
    return [{"id": item.id, "cost": item.cost, "excerpt": item.is_excerpt} for item in items]


def candidate_rows(context: Context) -> Iterator[dict[str, Any]]:
    """Yields a row per candidate in the order of packing, then by score, then what never got a score."""
    planned = context.planned
    reasons = verdicts(context)
    rows = {row.candidate.id: row for row in (*planned.considered, *planned.advice)}
    places = {item.candidate.id: item for item in context.projection.order}
    read = planned.ingredients
    found = {candidate.id: candidate for candidate in read.candidates}
    found = {candidate.id: candidate for candidate in (*read.general, *summaries_of(planned))} | found
    linked = {key: item.candidate for key, item in places.items()}
    for key in dict.fromkeys((*places, *rows, *found)):
        row = candidate_row(found.get(key) or linked[key], reasons.get(key, Verdict.OUTRANKED))
        if key in rows:
            row.update(zip(COMPONENTS, rows[key][1:], strict=True))
        if key in places:
            row.update(sigma=places[key].sigma, parents=places[key].parents)
        yield row


def candidate_row(candidate: Candidate, verdict: Verdict) -> dict[str, Any]:
    signals = candidate.signals.by_name()
    # Receipts of an assemble have always called it so; those of a search, like their components, `session`.
    signals["session_prior"] = signals.pop("session")
    return {
        "id": candidate.id,
        "event_id": candidate.source_turn,
        "kind": candidate.kind,
        "scope": candidate.scope,
        "verdict": verdict,
        "injected": verdict is Verdict.INJECTED,
        "access_count": candidate.access_count,
        **signals,
    }


def verdicts(context: Context) -> dict[str, Verdict]:
    """Returns verdicts by record id; the steps of the assembly speak in their order, and the last word wins."""
    return {record: verdict for step in _steps(context) for record, verdict in step}


def _steps(context: Context) -> Iterator[Iterator[tuple[str, Verdict]]]:
    planned, composition = context.planned, context.composition
    tail = {item.id for item in composition.fixed.tail}
    ranked = [row.candidate for row in (*planned.considered, *planned.advice)]
    chosen = [item.candidate for item in context.projection.order] + [row.candidate for row in planned.advice]
    best = {candidate.source_turn: candidate.id for candidate in chosen if candidate.source_turn}
    yield ((c.id, Verdict.WEAK) for c in planned.ingredients.candidates)
    yield ((c.id, Verdict.COVERED) for c in summaries_of(planned))
    yield ((c.id, Verdict.SHOWN) for c in planned.ingredients.candidates if c.source_turn in tail)
    yield ((c.id, Verdict.OUTRANKED) for c in ranked)
    yield ((c.id, Verdict.COPY) for c in ranked if best.get(c.source_turn or "", c.id) != c.id)
    yield ((cut.id, CUTS[cut.limit]) for cut in composition.cut if cut.limit in CUTS)
    yield ((item.id, Verdict.INJECTED) for item in composition.guidance + composition.recalled)


def documents_receipt(documents: PromptDocuments) -> dict[str, Any]:
    part = documents.part
    rows = [{"ref": one.chunk.record_ref, "trust": one.chunk.trust, "score": one.scored.score} for one in part.hits]
    return {"limit": documents.limit, "tokens": part.tokens, "hits": rows, "cut": part.cut}
