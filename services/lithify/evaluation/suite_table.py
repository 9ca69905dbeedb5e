"""The figures of many data sets as one table of Markdown, which terminals and the documentation show alike."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from lithify.evaluation.answers import BUDGETS
from lithify.evaluation.report import Figures, share
from lithify.evaluation.suite import find_previous

CUTS: Final = ("1", "5", "10")
LEGS: Final = {"bm25": "words leg", "dense": "meaning leg"}
# Beyond it a question's evidence is a stretch of talk, of which no short list can hold more than a part.
LONG_EVIDENCE: Final = 5.0
HEADINGS: Final = (
    "set",
    "ranking",
    *(f"R@{cut}" for cut in CUTS),
    *(f"in {budget // 1000}k" for budget in BUDGETS),
    "foreign tokens",
    "p50 ms",
    "p95 ms",
    "n",
)
TEXT_COLUMNS: Final = 2

Row = tuple[str, ...]


def suite_table(suite: Figures, earlier: Sequence[Mapping[str, Any]] = ()) -> str:
    """Returns a row for each set and ranking; what a ranking was not asked for stays empty."""
    rows = [row for name, figures in suite["sets"].items() for row in set_rows(name, figures, earlier)]
    return "\n".join(align_rows([HEADINGS, *rows]))


def set_rows(name: str, figures: Figures, earlier: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    yield make_row(name, "shipped", figures, "fraction")
    is_long = figures["evidence_per_question"] > LONG_EVIDENCE
    if is_long:
        yield make_row("", "shipped, any", figures, "any")
    for leg, label in LEGS.items():
        yield leg_row(label, figures["baselines"][leg], "fraction")
        if is_long:
            yield leg_row(f"{label}, any", figures["baselines"][leg], "any")
    if previous := find_previous(figures, earlier):
        yield make_row("", "previous", previous, "fraction")
        if is_long:
            yield make_row("", "previous, any", previous, "any")


def make_row(name: str, label: str, figures: Figures, measure: str) -> Row:
    contexts = [share(figures["assemble_details"][str(budget)][measure]) for budget in BUDGETS]
    foreign = figures.get("foreign")
    tokens = f"{foreign['tokens']:.0f}" if foreign else ""
    found = figures["search"]
    return (name, label, *search_cells(found, measure), *contexts, tokens, *latency_cells(found), str(figures["n"]))


def leg_row(label: str, leg: Figures, measure: str) -> Row:
    return ("", label, *search_cells(leg, measure), *("" for _ in BUDGETS), "", *latency_cells(leg), "")


def search_cells(ranking: Figures, measure: str) -> Iterator[str]:
    return (share(ranking[measure][cut]) for cut in CUTS)


def latency_cells(ranking: Figures) -> Iterator[str]:
    return (f"{ranking['latency_ms'][name]:.0f}" for name in ("p50", "p95"))


def align_rows(rows: Sequence[Row]) -> Iterator[str]:
    """Yields lines of Markdown whose columns stand under each other in plain text as well."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if place < TEXT_COLUMNS else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{'|'.join(mark_column(place, width) for place, width in enumerate(widths))}|"


def mark_column(place: int, width: int) -> str:
    return "-" * (width + 2) if place < TEXT_COLUMNS else "-" * (width + 1) + ":"
