"""The figures of a run for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from lithify.evaluation.metrics import CUTS, MEASURES
from lithify.evaluation.report import Figures


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
    headings = ("budget", "fraction", "any", "all", "tokens", "over budget", "p50 ms", "p95 ms")
    table = plain_table("Evidence turns inside an assembled context", *headings)
    for budget, row in details.items():
        shares = [share(row[measure]) for measure in ("fraction", "any", "all")]
        times = [f"{row['latency_ms'][name]:.1f}" for name in ("p50", "p95")]
        table.add_row(budget, *shares, f"{row['tokens']:.0f}", str(row["over_budget"]), *times)
    return table


def plain_table(title: str, *headings: str) -> Table:
    return Table(*headings, title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))


def summary(report: Figures) -> str:
    latency = report["search"]["latency_ms"]
    rows = {
        "data": f"{report['dataset']} sha256 {report['file_sha256']}",
        "questions": f"n = {report['n']}; {report['skipped']} more have no evidence and were not asked",
        "turns": f"{report['turns']} in {report['conversations']} conversations",
        "profile": f"{report['profile']} sha256 {report['profile_sha256']}",
        "model": f"{report['model']} {report['model_fingerprint']}",
        "search": f"p50 {latency['p50']:.1f} ms, p95 {latency['p95']:.1f} ms",
        "ingest": f"{report['ingest_seconds']:.1f} s",
    }
    return "\n".join(f"{name:<11}{value}" for name, value in rows.items())


def share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
