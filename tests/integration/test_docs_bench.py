"""The shipped benchmark of docs memory, with the real model and without any."""

from pathlib import Path
from typing import Any

import pytest

from lithify.cli.docs.bench import measure_shipped, score_table
from lithify.embedding import Embedder
from lithify.settings import Settings


@pytest.fixture(scope="module")
def shipped(models_dir: Path) -> dict[str, Any]:
    return measure_shipped(Settings(models_dir=models_dir, embedding_threads=2))


def test_both_lists_together_find_more_than_words_or_meaning_alone(
    default_model: Embedder, shipped: dict[str, Any]
) -> None:
    assert shipped["model"] == default_model.manifest.name
    fused, words, meaning = (shipped["scores"][mode]["all"] for mode in ("fused", "lexical", "dense"))
    assert fused["hit1"] >= max(words["hit1"], meaning["hit1"])
    assert fused["hit5"] > max(words["hit5"], meaning["hit5"])
    assert fused["hint_rate"] < min(words["hint_rate"], meaning["hint_rate"])
    assert score_table(shipped["scores"]).row_count == len(shipped["scores"]["fused"]["categories"]) + 1


def test_no_kind_of_question_is_found_worse_than_by_words(shipped: dict[str, Any]) -> None:
    """spec 10 §11 asks it of identifiers"""
    scores = shipped["scores"]
    kinds = scores["lexical"]["categories"]
    assert {"identifier", "date", "hash", "path", "quote", "decision"} <= kinds.keys()
    for name, words in kinds.items():
        fused = scores["fused"]["categories"][name]
        assert (fused["hit1"] >= words["hit1"], fused["hit5"] >= words["hit5"]) == (True, True), name


def test_without_a_model_words_alone_answer(tmp_path: Path) -> None:
    told = measure_shipped(Settings(models_dir=tmp_path))
    assert told["model"] is None
    assert "models" in told["without_model"]
    assert told["scores"].keys() == {"lexical", "fused"}
    assert told["scores"]["lexical"] == told["scores"]["fused"]
    assert told["scores"]["lexical"]["all"]["hit5"] >= 0.95
