"""The shipped benchmark of docs memory, with the real model and without any."""

from pathlib import Path

from lithify.cli.docs.bench import measure_shipped, score_table
from lithify.embedding import Embedder
from lithify.settings import Settings


def test_the_shipped_questions_find_their_documents(default_model: Embedder, models_dir: Path) -> None:
    told = measure_shipped(Settings(models_dir=models_dir, embedding_threads=2))
    scores = told["scores"]
    assert told["model"] == default_model.manifest.name
    assert scores["fused"]["all"]["hit5"] >= 0.97
    assert scores["fused"]["all"]["hit1"] >= 0.85
    for metric in ("hit1", "hit5"):
        by_both, by_words = (scores[mode]["categories"]["identifier"][metric] for mode in ("fused", "lexical"))
        assert by_both >= by_words
    assert score_table(scores).row_count == len(scores["fused"]["categories"]) + 1


def test_without_a_model_words_alone_answer(tmp_path: Path) -> None:
    told = measure_shipped(Settings(models_dir=tmp_path))
    assert told["model"] is None
    assert "models" in told["without_model"]
    assert told["scores"].keys() == {"lexical", "fused"}
    assert told["scores"]["lexical"] == told["scores"]["fused"]
    assert told["scores"]["lexical"]["all"]["hit5"] >= 0.95
