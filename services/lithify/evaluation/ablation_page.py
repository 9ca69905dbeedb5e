"""The ablation tables as a page of the documentation, with everything needed to make it again."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lithify.evaluation.ablation import Ablation, VariantScores
from lithify.evaluation.report import share
from lithify.evaluation.selector import SelectorGain, Shares

COLUMNS: Final = (("fraction", "5"), ("fraction", "10"), ("all", "10"), ("ndcg", "10"))
SELECTOR: Final = (
    "Questions about time that pass the selector's guard, in an assembled context of so many tokens, without → with the"
    " selector. For all others the context is the same either way."
)


def ablation_page(command: str, profile_sha256: str, ablations: Sequence[Ablation]) -> str:
    """A section for each model and data set; `command` is the line that made the page."""
    parts = [_head(command, profile_sha256), *(part for one in ablations for part in _section(one))]
    return "\n\n".join(parts) + "\n"


def _head(command: str, profile_sha256: str) -> str:
    return "\n".join(
        (
            "# What each part of the search is worth",
            "",
            "Made by `lithify eval ablate`; do not edit. Each row changes one thing and leaves the rest as it is; the"
            " columns are explained in [evaluation.md](evaluation.md).",
            "",
            f"- command: `{command}`",
            f"- profile recall, sha256 `{profile_sha256}`",
        )
    )


def _section(ablation: Ablation) -> Iterator[str]:
    data = ablation.dataset
    yield f"## {ablation.model}, {len(data.conversations)} conversations"
    yield f"{data.name}, {len(data.turns)} turns, n = {len(data.questions)}, sha256 `{data.sha256}`."
    yield "\n".join(_search_table(ablation.rows))
    if ablation.selector:
        yield SELECTOR
        yield "\n".join(_selector_table(ablation.selector))


def _search_table(rows: Sequence[VariantScores]) -> Iterator[str]:
    """The differences are to the fraction at 10 of the first row."""
    whole = rows[0].scores["fraction"]["10"]
    headings = [f"{measure}@{cut}" for measure, cut in COLUMNS]
    yield _line(["variant", *headings, "Δ fraction@10"])
    yield f"|---|{'---:|' * (len(headings) + 1)}"
    for row in rows:
        cells = [share(row.scores[measure][cut]) for measure, cut in COLUMNS]
        yield _line([row.name, *cells, f"{row.scores['fraction']['10'] - whole:+.3f}"])


def _selector_table(measure_selector: Iterable[SelectorGain]) -> Iterator[str]:
    yield _line(["category", "questions", "tokens", "fraction", "all evidence"])
    yield "|---|---:|---:|---:|---:|"
    for row in measure_selector:
        cells = [_change(row.off, row.on, measure) for measure in ("fraction", "all")]
        yield _line([row.category, f"{row.questions} of {row.of}", str(row.budget), *cells])


def _change(off: Shares, on: Shares, measure: str) -> str:
    return f"{share(getattr(off, measure))} → {share(getattr(on, measure))}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
