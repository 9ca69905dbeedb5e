"""The light profile on its real weights."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lithify.cli import models
from lithify.cli.bench.embed import bench_embed
from lithify.embedding import Embedder, load_embedder
from lithify.embedding.building.installation import read_reference
from lithify.embedding.building.profiles import MINILM, build_profile
from lithify.embedding.manifest import profile_assets
from lithify.embedding.vectors import load_rotation
from lithify.errors import Misconfigured
from lithify.settings import load_settings
from tests.integration.facts import STATEMENTS, embedded, recall_at
from tests.silent_progress import SilentProgress

AWESOME, GREAT = "The new movie is awesome", "The new movie is so great"
# Every machine has to get these; if a change to the graphs is meant, raise RECIPE and replace them.
FINGERPRINTS = {
    "fp32": "dd255fd5b0960364dcb3234fa2d1b8a621c73f5ece47aad73b3273aff617591c",
    "int8": "91c5dda70c403cff0dd943cf872b6964145bf966cea794626f693da11ee415b0",
}


@pytest.fixture(scope="module")
def exact(models_dir: Path) -> Embedder:
    return load_embedder(models_dir, MINILM, variant="fp32", threads=2)


def test_a_known_pair_has_its_known_cosine(exact: Embedder, minilm: Embedder) -> None:
    for embedder, error in ((exact, 0.0005), (minilm, 0.02)):
        one, other = embedder.embed_documents([AWESOME, GREAT])
        assert one @ other == pytest.approx(0.894, abs=error)


def test_vectors_are_those_of_other_software_once_the_rotation_is_undone(exact: Embedder) -> None:
    reference = read_reference(profile_assets(MINILM))
    back = load_rotation(profile_assets(MINILM) / "rotation.npy", 384).T
    found = exact.embed_documents([*reference.documents, *reference.queries]) @ back
    np.testing.assert_allclose(found, reference.vectors, atol=1e-5)


def test_the_rotation_leaves_full_cosines_alone(exact: Embedder) -> None:
    reference = read_reference(profile_assets(MINILM))
    found = exact.embed_documents([*reference.documents, *reference.queries])
    np.testing.assert_allclose(found @ found.T, reference.vectors @ reference.vectors.T, atol=1e-5)


def test_the_byte_variant_stays_within_its_stated_error(exact: Embedder, minilm: Embedder) -> None:
    """docs/models.md: .99 for whole sentences, .975 for the shortest of texts."""
    cosines = np.einsum("ij,ij->i", exact.embed_documents(STATEMENTS), minilm.embed_documents(STATEMENTS))
    assert cosines.min() > 0.99
    assert exact.embed_query("No.") @ minilm.embed_query("No.") > 0.975


@pytest.mark.parametrize("variant", ["fp32", "int8"])
def test_every_tier_recalls_the_facts(models_dir: Path, variant: str) -> None:
    embedder = load_embedder(models_dir, MINILM, variant=variant, threads=2)
    documents, queries = embedded(embedder)
    assert [recall_at(3, documents, queries, dims) for dims in embedder.manifest.tiers] == [1.0, 1.0, 1.0]
    assert recall_at(1, documents, queries, 384) == 1.0


def test_a_turn_of_5000_words_is_not_cut_at_the_models_limit(minilm: Embedder) -> None:
    """spec 03.11: windows of the real model, joined to one vector of length 1."""
    opening = "the quarterly figures were discussed at length and nothing was decided " * 15
    turn = opening + "My sister plays the harpsichord in Vienna. " * 700
    assert len(turn.split()) > 5000
    start, whole = minilm.embed_documents([opening, turn])
    query = minilm.embed_query("Which instrument does my sister play?")
    assert query @ whole > query @ start + 0.3
    assert np.linalg.norm(whole) == pytest.approx(1.0, abs=1e-5)


def test_a_text_has_one_vector_whatever_it_is_batched_with(minilm: Embedder) -> None:
    together = minilm.embed_documents([*STATEMENTS, "long " * 100])[: len(STATEMENTS)]
    alone = np.vstack([minilm.embed_documents([text]) for text in STATEMENTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_batches_and_queries_may_run_at_the_same_time(minilm: Embedder) -> None:
    documents, queries = embedded(minilm)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(embedded, minilm) for _ in range(6)]
        for run in runs:
            np.testing.assert_allclose(run.result()[0], documents, atol=1e-5)
            np.testing.assert_allclose(run.result()[1], queries, atol=1e-5)


@pytest.mark.parametrize("variant", FINGERPRINTS)
def test_every_machine_builds_the_same_space(models_dir: Path, variant: str) -> None:
    embedder = load_embedder(models_dir, MINILM, variant=variant, threads=1)
    assert embedder.fingerprint == FINGERPRINTS[variant]
    assert embedder.health().ready
    assert embedder.health().mode == "primary"


def test_building_again_does_nothing(models_dir: Path) -> None:
    before = (models_dir / MINILM / "model.int8.onnx").stat()
    built = build_profile(MINILM, models_dir, SilentProgress())
    assert not built.fresh
    assert (models_dir / MINILM / "model.int8.onnx").stat() == before


def test_a_damaged_model_is_refused(models_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / MINILM
    shutil.copytree(models_dir / MINILM, folder, ignore=shutil.ignore_patterns("model.fp32.onnx"))
    path = folder / "model.int8.onnx"
    path.write_bytes(path.read_bytes()[:1_000_000])
    with pytest.raises(Misconfigured, match="cannot be loaded as an ONNX model"):
        load_embedder(tmp_path, MINILM, threads=1)


def test_the_command_line_lists_and_builds(models_dir: Path) -> None:
    runner = CliRunner()
    built = runner.invoke(models.app, ["build", "--profile", MINILM, "--models-dir", str(models_dir), "--json"])
    assert json.loads(built.stdout) == {"profile": MINILM, "folder": str(models_dir / MINILM), "built": False}
    listed = runner.invoke(models.app, ["list", "--models-dir", str(models_dir), "--json"])
    row = json.loads(listed.stdout)[0]
    assert (row["profile"], row["ready"], row["dimensions"], row["tiers"]) == (MINILM, True, 384, [64, 128, 384])
    assert row["variants"] == ["fp32", "int8"]


def test_the_bench_measures_both_sides(models_dir: Path) -> None:
    report = bench_embed(load_settings(models_dir=models_dir, embedding_profile=MINILM), texts=4)
    assert (report.profile, report.variant, report.texts) == (MINILM, "int8", 4)
    assert min(report.ours, report.raw, report.ratio, report.query_ms, report.tokens) > 0
