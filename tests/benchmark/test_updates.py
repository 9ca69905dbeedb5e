"""Pairs of statements of one user: which later one takes the place of the earlier, and which leaves it standing.

`dev` was written before the rules, `test` after a first tuning, `unseen` after a second; the first run on each is in
docs/gating.md. `messy` are statements as people write them, in several languages: few of its updates are marked, but
the newer stands first (tests/answers).
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from lithify.memory.updates import is_updated, read_claims

FOLDER: Final = Path(__file__).parent / "updates"
LEAST_UPDATES: Final = 0.95
MOST_OTHERS: Final = 0.02


def read_pairs(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def is_marked(pair: dict[str, Any]) -> bool:
    earlier = read_claims(pair["earlier"])
    later = read_claims(pair["later"])
    return any(is_updated(before, after) for before in earlier for after in later)


@pytest.mark.parametrize("name", ["dev", "test", "unseen"])
def test_true_updates_are_marked(name: str) -> None:
    updates = [pair for pair in read_pairs(name) if pair["label"] == "update"]
    missed = [pair["id"] for pair in updates if not is_marked(pair)]
    assert len(missed) <= (1 - LEAST_UPDATES) * len(updates), missed


@pytest.mark.parametrize("name", ["dev", "test", "unseen", "messy"])
def test_repetitions_and_what_may_both_hold_are_left_alone(name: str) -> None:
    others = [pair for pair in read_pairs(name) if pair["label"] != "update"]
    backwards = [pair | {"earlier": pair["later"], "later": pair["earlier"]} for pair in others]
    wrong = [pair["id"] for pair in (*others, *backwards) if is_marked(pair)]
    assert len(set(wrong)) <= MOST_OTHERS * len(others), wrong


def test_there_are_enough_pairs_of_each_kind() -> None:
    labels = [pair["label"] for name in ("dev", "test", "unseen", "messy") for pair in read_pairs(name)]
    assert len(labels) >= 120
    assert min(labels.count(label) for label in ("update", "same", "both")) >= 40
