"""The receipt of a search or assemble: every candidate, component, budget and cut, as plain data."""

from dataclasses import asdict
from typing import Any

from lithify.assembly.assemble import Assembled
from lithify.assembly.schema import AssembleRequest, SearchRequest
from lithify.assembly.search import SearchResult
from lithify.memory.ranking.keywords import keywords
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.ranking import Scored


def search_receipt(request: SearchRequest, result: SearchResult, profile: Profile, now_ms: int) -> dict[str, Any]:
    return {
        "kind": "search",
        "now": now_ms,
        "profile": {"name": profile.name, "digest": profile.digest()},
        "request": request.model_dump(mode="json"),
        "candidates": len(result.found.candidates),
        "hits": [{"id": hit.id, "score": hit.score, **hit.components} for hit in result.hits],
        "degraded": result.found.degraded,
    }


def assemble_receipt(request: AssembleRequest, result: Assembled, profile: Profile, now_ms: int) -> dict[str, Any]:
    composition = result.context.composition
    fixed = composition.fixed
    injected = {item.id for item in composition.recalled}
    return {
        "kind": "assemble",
        "now": now_ms,
        "profile": {"name": profile.name, "digest": profile.digest()},
        "query": result.query,
        "keywords": keywords(result.query),
        "token_budget": request.token_budget,
        "budgets": asdict(fixed.budgets)
        | {"reasons": result.context.reasons, "retrieval": fixed.budgets.retrieval(fixed.tail_cost)},
        "tail": [{"id": item.id, "cost": item.cost} for item in fixed.tail],
        "considered": [considered(scored, scored.candidate.id in injected) for scored in result.context.considered],
        "cut": [asdict(cut) for cut in composition.cut],
        "tokens": result.context.tokens,
        "degraded": result.degraded,
    }


def considered(scored: Scored, injected: bool) -> dict[str, Any]:
    numbers = {name: value for name, value in scored._asdict().items() if name != "candidate"}
    signals = {"dense": scored.candidate.dense, "lexical": scored.candidate.lexical}
    return {"id": scored.candidate.id, "injected": injected, **signals, **numbers}
