"""The figures of a run as plain data: what `--json` writes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lithify.evaluation.answers import BASELINES, BUDGETS, SEARCH, SESSIONS, PackedContext, RecordedAnswer
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.metrics import first_places, fraction, mean, mean_scores, percentile

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EvaluationSetup:
    """Names what answered, in every report: figures without it cannot be compared."""

    profile: str
    profile_sha256: str
    model: str
    model_fingerprint: str
    ingest_seconds: float | None


def make_figures(dataset: Dataset, answers: Mapping[str, RecordedAnswer], setup: EvaluationSetup) -> Figures:
    """Every question of the data set must have its answer."""
    pairs = [(question, answers[question.id]) for question in dataset.questions]
    return {
        "dataset": dataset.name,
        "file_sha256": dataset.sha256,
        "n": len(pairs),
        "skipped": dataset.skipped,
        "dangling_evidence": dataset.dangling,
        "conversations": len(dataset.conversations),
        "turns": len(dataset.turns),
        "profile": setup.profile,
        "profile_sha256": setup.profile_sha256,
        "model": setup.model,
        "model_fingerprint": setup.model_fingerprint,
        "search": ranking_figures(dataset, pairs, SEARCH, SESSIONS),
        "baselines": {name: ranking_figures(dataset, pairs, name, name) for name in BASELINES},
        "assemble": {str(budget): packed_figures(pairs, budget)["fraction"] for budget in BUDGETS},
        "assemble_details": {str(budget): packed_figures(pairs, budget) for budget in BUDGETS},
        "ingest_seconds": setup.ingest_seconds,
        "degraded": sum(bool(answer.degraded) for _, answer in pairs),
    }


Pairs = Sequence[tuple[EvidenceQuestion, RecordedAnswer]]


def ranking_figures(dataset: Dataset, pairs: Pairs, turns: str, sessions: str) -> Figures:
    """Scores the ranking named `turns`; the order of sessions comes from the (deeper) one named `sessions`."""
    return {
        **_turn_scores(pairs, turns),
        "by_category": by_category(pairs, turns),
        "sessions": session_scores(dataset, pairs, sessions),
        "latency_ms": latency([answer.rankings[turns].ms for _, answer in pairs]),
    }


def by_category(pairs: Pairs, name: str) -> Figures:
    groups = defaultdict(list)
    for question, answer in pairs:
        groups[question.category].append((question, answer))
    return {
        category: {"n": len(groups[category]), **_turn_scores(groups[category], name)} for category in sorted(groups)
    }


def session_scores(dataset: Dataset, pairs: Pairs, name: str) -> Figures:
    homes = {turn.event_id: turn.session for turn in dataset.turns}
    rankings = [
        (first_places(answer.rankings[name].turns, homes), question.sessions)
        for question, answer in pairs
        if question.sessions
    ]
    return {"n": len(rankings), **mean_scores(rankings)}


def packed_figures(pairs: Pairs, budget: int) -> Figures:
    contexts = [answer.packed[budget] for _, answer in pairs]
    found = _shares(pairs, budget)
    return {
        "fraction": mean(found),
        "any": mean([float(share > 0.0) for share in found]),
        "all": mean([float(share == 1.0) for share in found]),
        "tokens": mean([context.tokens for context in contexts]),
        "over_budget": sum(_is_over(context, budget) for context in contexts),
        "latency_ms": latency([context.ms for context in contexts]),
    }


def latency(milliseconds: Sequence[float]) -> dict[str, float]:
    return {"p50": percentile(milliseconds, 0.50), "p95": percentile(milliseconds, 0.95)}


def _turn_scores(pairs: Pairs, name: str) -> Figures:
    return {**mean_scores([(a.rankings[name].turns, q.evidence) for q, a in pairs if q.evidence])}


def _shares(pairs: Pairs, budget: int) -> list[float]:
    return [fraction(a.packed[budget].turns, q.evidence) for q, a in pairs if q.evidence]


def _is_over(context: PackedContext, budget: int) -> bool:
    return context.tokens > budget
