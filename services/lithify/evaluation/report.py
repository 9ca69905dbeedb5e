"""The figures of a run: plain data, which `--json` writes, and tables for people."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from lithify.evaluation.answers import BASELINES, BUDGETS, SEARCH, SESSIONS, PackedContext, RecordedAnswer
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.metrics import CUTS, MEASURES, first_places, fraction, mean, mean_scores, percentile

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EvaluationSetup:
    """Names what answered, in every report: figures without it cannot be compared."""

    profile: str
    profile_sha256: str
    model: str
    model_fingerprint: str
    ingest_seconds: float | None

    @property
    def label(self) -> str:
        """Names the parameters in the file of answers: other parameters answer anew."""
        return f"{self.profile}-{self.profile_sha256[:12]}"


def make_figures(dataset: Dataset, answers: Mapping[str, RecordedAnswer], setup: EvaluationSetup) -> Figures:
    """Every question of the data set must have its answer."""
    pairs = [(question, answers[question.id]) for question in dataset.questions]
    return {
        **describe_setup(dataset, setup),
        "search": ranking_figures(dataset, pairs, SEARCH, SESSIONS),
        "baselines": {name: ranking_figures(dataset, pairs, name, name) for name in BASELINES},
        "assemble": {str(budget): packed_figures(pairs, budget)["fraction"] for budget in BUDGETS},
        "assemble_details": {str(budget): packed_figures(pairs, budget) for budget in BUDGETS},
        "degraded": sum(bool(answer.degraded) for _, answer in pairs),
    }


def describe_setup(dataset: Dataset, setup: EvaluationSetup) -> Figures:
    """Returns what was asked and what answered."""
    return {
        "dataset": dataset.name,
        "file_sha256": dataset.sha256,
        "n": len(dataset.questions),
        "skipped": dataset.skipped,
        "dangling_evidence": dataset.dangling,
        "conversations": len(dataset.conversations),
        "turns": len(dataset.turns),
        "cut_turns": dataset.cut_turns,
        "profile": setup.profile,
        "profile_sha256": setup.profile_sha256,
        "model": setup.model,
        "model_fingerprint": setup.model_fingerprint,
        "ingest_seconds": setup.ingest_seconds,
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
        "evidence_words": mean([mean(list(a.packed[budget].words.values())) for q, a in pairs if q.evidence]),
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


def tables(report: Figures) -> Iterator[Table]:
    found, baselines = report["search"], report["baselines"]
    yield score_table("Evidence turns among the first k", {"search": found, **baselines})
    yield score_table("The same by category", {f"{name} ({row['n']})": row for name, row in categories(report)})
    sessions = {"search": found["sessions"], **{name: row["sessions"] for name, row in baselines.items()}}
    yield score_table("Evidence sessions among the first k sessions", sessions)
    yield context_table(report["assemble_details"])


def categories(report: Figures) -> Iterator[tuple[str, Figures]]:
    yield from report["search"]["by_category"].items()


def score_table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    table = plain_table(title, "", "measure")
    for cut in CUTS:
        table.add_column(f"@{cut}", justify="right")
    for name, row in rows.items():
        for measure in MEASURES:
            label = name if measure == MEASURES[0] else ""
            table.add_row(label, measure, *(share(row[measure][str(cut)]) for cut in CUTS))
    return table


def context_table(details: Mapping[str, Figures]) -> Table:
    headings = ("budget", "fraction", "any", "all", "words", "tokens", "over budget", "p50 ms", "p95 ms")
    table = plain_table("Evidence turns inside an assembled context", *headings)
    for budget, row in details.items():
        shares = [share(row[measure]) for measure in ("fraction", "any", "all", "evidence_words")]
        times = [f"{row['latency_ms'][name]:.1f}" for name in ("p50", "p95")]
        table.add_row(budget, *shares, f"{row['tokens']:.0f}", str(row["over_budget"]), *times)
    return table


def plain_table(title: str, *headings: str) -> Table:
    return Table(*headings, title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))


def foreign_table(report: Figures) -> Table:
    headings = ("questions", "n", "memory tokens", "without memory", "evidence")
    table = plain_table(f"Memory injected into {report['budget']} tokens", *headings)
    for name, evidence in (("own", share(report["evidence"])), ("foreign", "")):
        row = report[name]
        table.add_row(name, str(row["n"]), f"{row['tokens']:.1f}", share(row["without_memory"]), evidence)
    return table


def summary(report: Figures) -> str:
    rows = {
        "data": f"{report['dataset']} sha256 {report['file_sha256']}",
        "questions": f"n = {report['n']}; {report['skipped']} more have no evidence and were not asked",
        "turns": f"{report['turns']} in {report['conversations']} conversations; {report['cut_turns']} were cut",
        "profile": f"{report['profile']} sha256 {report['profile_sha256']}",
        "model": f"{report['model']} {report['model_fingerprint']}",
        "ingest": f"{report['ingest_seconds']:.1f} s",
    }
    if "search" in report:
        latency = report["search"]["latency_ms"]
        rows["search"] = f"p50 {latency['p50']:.1f} ms, p95 {latency['p95']:.1f} ms"
    return "\n".join(f"{name:<11}{value}" for name, value in rows.items())


def share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
