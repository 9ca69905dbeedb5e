"""`lithify calibrate tiers` and `lithify bench cascade` on a few words and the hash embedder."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from lithify.cli.bench.cascade import cascade, measure
from lithify.cli.calibrate.tier_data import embed_dataset, make_synthetic_data
from lithify.cli.calibrate.tiers import calibrate, tiers
from lithify.embedding import HashEmbedder
from lithify.embedding.tier_calibration import TIERS_FILE, read_calibration
from lithify.errors import Invalid
from lithify.memory.vectors.cascade import Cascade

WORDS = ("tram", "boat", "lunch", "cello", "staging", "hazelnut", "squash", "paint")
app = typer.Typer()
app.command()(tiers)
app.command()(cascade)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sixty-four texts of two words, and a question for each."""
    texts = [f"{one} {other}" for one in WORDS for other in WORDS]
    turns = [
        {"conv": "c", "id": f"t{n}", "session": "s", "speaker": "user", "text": text} for n, text in enumerate(texts)
    ]
    asked = [
        {"conv": "c", "qid": f"q{n}", "question": f"{text} today", "evidence": [f"t{n}"]}
        for n, text in enumerate(texts)
    ]
    source = tmp_path / "words"
    source.mkdir()
    for name, rows in (("turns.jsonl", turns), ("questions.jsonl", asked)):
        (source / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return source


@pytest.fixture
def models_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "models" / "hash").mkdir(parents=True)
    monkeypatch.setenv("LITHIFY_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("LITHIFY_EMBEDDING_PROFILE", "hash")
    return tmp_path / "models"


def test_thresholds_are_written_beside_the_model_with_their_evidence(folder: Path, models_dir: Path) -> None:
    result = CliRunner().invoke(app, ["tiers", "--data", str(folder), "--json"])
    assert result.exit_code == 0, result.output
    written = read_calibration(models_dir / "hash")
    assert written is not None
    assert json.loads(result.stdout) == written.model_dump(mode="json")
    assert (written.data, written.documents, written.questions) == ("words", 64, 64)
    assert [tier.dims for tier in written.tiers] == [64, 128]
    # The hash repeats itself after 32 components: a prefix of 64 ranks like the whole.
    assert all(tier.exits > 0.9 and (tier.overlap or 0.0) >= written.target for tier in written.tiers)


def test_the_bench_compares_both_ways_on_the_calibrated_thresholds(folder: Path, models_dir: Path) -> None:
    refused = CliRunner().invoke(app, ["cascade", "--data", str(folder)])
    assert isinstance(refused.exception, Invalid)
    assert "lithify calibrate tiers" in str(refused.exception)

    table = CliRunner().invoke(app, ["tiers", "--data", str(folder)])
    assert (table.exit_code, (models_dir / "hash" / TIERS_FILE).exists()) == (0, True)
    result = CliRunner().invoke(app, ["cascade", "--data", str(folder), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["documents"], report["questions"]) == (64, 64)
    assert report["exits"]["l1"] > 0.9
    assert report["overlap"] > 0.97
    assert report["full_p50_ms"] > 0
    assert report["cascade_p95_ms"] >= report["cascade_p50_ms"] > 0


async def test_a_cascade_that_never_exits_agrees_with_full_search() -> None:
    report = await measure(make_synthetic_data(600, 48), Cascade((8, 16, 48), (1.0, 1.0)))
    assert report.overlap == 1.0
    assert report.exits == {"l1": 0.0, "l2": 0.0, "l3": 1.0}


def test_synthetic_data_is_the_same_in_every_run() -> None:
    first, second = make_synthetic_data(300, 48), make_synthetic_data(300, 48)
    assert first.sha256 == second.sha256
    assert (first.documents, first.groups[0].documents.shape) == (300, (300, 48))


def test_a_model_without_tiers_has_nothing_to_calibrate(folder: Path) -> None:
    embedder = HashEmbedder(32)
    with pytest.raises(Invalid, match="no prefix tiers"):
        calibrate(embedder, embed_dataset(folder, embedder), 0.98)
