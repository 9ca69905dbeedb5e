"""The ablation tables as a page of the documentation, with everything needed to make it again."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lithify.evaluation.ablation import Ablation, VariantScores
from lithify.evaluation.report import share
from lithify.evaluation.selector import Shares

CUTS: Final = ("1", "5", "10")
DECISIVE: Final = "10"
SELECTOR: Final = (
    "Questions about time that pass the selector's guard, in an assembled context of so many tokens, without → with the"
    " selector. For all others the context is the same either way."
)


def ablation_page(command: str, profile_sha256: str, ablations: Sequence[Ablation]) -> str:
    """A section for each model, with columns for each data set; `command` is the line that made the page."""
    models = dict.fromkeys(one.model for one in ablations)
    parts = [_head(command, profile_sha256, ablations)]
    for model in models:
        parts += _section(model, ablations)
    return "\n\n".join(parts) + "\n"


def _head(command: str, profile_sha256: str, ablations: Sequence[Ablation]) -> str:
    datasets = {one.dataset.name: one.dataset for one in ablations}
    return "\n".join(
        (
            "# What each part of the search is worth",
            "",
            "Made by `lithify eval ablate`; do not edit. Each row changes one thing and leaves the rest as it is. For"
            " each data set: R@1/5/10 (`fraction` of [evaluation.md](evaluation.md)) and the difference of R@10 to the"
            " first row.",
            "",
            f"- command: `{command}`",
            f"- profile recall, sha256 `{profile_sha256}`",
            *(
                f"- {name}: {len(data.conversations)} conversations, {len(data.turns)} turns,"
                f" n = {len(data.questions)}, sha256 `{data.sha256}`"
                for name, data in datasets.items()
            ),
        )
    )


def _section(model: str, ablations: Sequence[Ablation]) -> Iterator[str]:
    own = [one for one in ablations if one.model == model]
    yield f"## {model}"
    yield "\n".join(_search_table(own, [one for one in ablations if one.model != model]))
    if any(one.selector for one in own):
        yield SELECTOR
        yield "\n".join(_selector_table(own))


def _search_table(own: Sequence[Ablation], others: Sequence[Ablation]) -> Iterator[str]:
    """Yields a row for each variant of any set, and one for each other model with the unchanged profile."""
    names = [one.dataset.name for one in own]
    yield _line(["variant", *(cell for name in names for cell in (f"{name} R@1/5/10", f"{name} Δ@10"))])
    yield f"|---|{'---:|' * (2 * len(names))}"
    for variant in dict.fromkeys(row.name for one in own for row in one.rows):
        found = [next((row for row in one.rows if row.name == variant), None) for one in own]
        yield _line([variant, *_cells(own, found)])
    for model in dict.fromkeys(one.model for one in others):
        first = {one.dataset.name: one.rows[0] for one in others if one.model == model}
        yield _line([f"model {model} instead", *_cells(own, [first.get(name) for name in names])])


def _cells(own: Sequence[Ablation], found: Sequence[VariantScores | None]) -> Iterator[str]:
    """Yields the figures of one row, set by set; empty where a set has none."""
    for one, row in zip(own, found, strict=True):
        if row is None:
            yield from ("", "")
            continue
        recall = row.scores["fraction"]
        yield "/".join(share(recall[cut]) for cut in CUTS)
        yield f"{recall[DECISIVE] - one.rows[0].scores['fraction'][DECISIVE]:+.3f}"


def _selector_table(own: Iterable[Ablation]) -> Iterator[str]:
    yield _line(["set", "category", "questions", "tokens", "fraction", "all evidence"])
    yield "|---|---|---:|---:|---:|---:|"
    for one in own:
        for row in one.selector:
            cells = [_change(row.off, row.on, measure) for measure in ("fraction", "all")]
            yield _line([one.dataset.name, row.category, f"{row.questions} of {row.of}", str(row.budget), *cells])


def _change(off: Shares, on: Shares, measure: str) -> str:
    return f"{share(getattr(off, measure))} → {share(getattr(on, measure))}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
