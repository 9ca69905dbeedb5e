"""The ablation table as a page of the documentation, with everything needed to make it again."""

from collections.abc import Sequence
from typing import Final

from lithify.evaluation.ablation import Row
from lithify.evaluation.datasets import Dataset
from lithify.evaluation.tables import share

COLUMNS: Final = (("fraction", "5"), ("fraction", "10"), ("all", "10"), ("ndcg", "10"))


def ablation_page(dataset: Dataset, rows: Sequence[Row], profile_sha256: str, model: str) -> str:
    """`rows` begin with the unchanged profile; the differences are to its fraction at 10."""
    whole = rows[0].scores["fraction"]["10"]
    headings = [f"{measure}@{cut}" for measure, cut in COLUMNS]
    lines = [
        f"| variant | {' | '.join(headings)} | Δ fraction@10 |",
        f"|---|{'---:|' * (len(headings) + 1)}",
        *(_line(row, row.scores["fraction"]["10"] - whole) for row in rows),
    ]
    return f"{_head(dataset, profile_sha256, model)}\n\n{chr(10).join(lines)}\n"


def _head(dataset: Dataset, profile_sha256: str, model: str) -> str:
    return "\n".join(
        (
            "# What each part of the search is worth",
            "",
            "Made by `lithify eval ablate`; do not edit. Each row changes one thing and leaves the rest as it is.",
            "",
            f"- command: `lithify eval ablate --dataset {dataset.name} --data PATH --out docs/ablation.md`",
            f"- data: {dataset.name}, sha256 `{dataset.sha256}`",
            f"- {len(dataset.conversations)} conversations, {len(dataset.turns)} turns, n = {len(dataset.questions)}",
            f"- profile sha256 `{profile_sha256}`, model {model}",
        )
    )


def _line(row: Row, difference: float) -> str:
    cells = [share(row.scores[measure][cut]) for measure, cut in COLUMNS]
    return f"| {row.name} | {' | '.join(cells)} | {difference:+.3f} |"
