"""The nomic profile on its real weights, for whoever has the official file."""

import os
from pathlib import Path

import numpy as np
import pytest

from lithify.embedding import Embedder, load_embedder
from lithify.embedding.building.installation import read_reference
from lithify.embedding.building.profiles import NOMIC, import_nomic, pull_profile
from lithify.embedding.manifest import profile_assets
from lithify.memory.vectors.tiers import tier_vector
from tests.integration.facts import STATEMENTS, embedded, recall_at
from tests.silent_progress import SilentProgress
from tests.unit.embedding.building.file_server import serving

GGUF = os.environ.get("LITHIFY_NOMIC_GGUF")

pytestmark = [
    pytest.mark.nomic,
    pytest.mark.skipif(not GGUF, reason="LITHIFY_NOMIC_GGUF does not name a nomic-embed-text-v1.5.f16.gguf"),
]

FINGERPRINTS = {
    "fp32": "3191c78e8626feebbb52e5d33474c0b5d760e1148e72cb832130f5fb0da403fb",
    "int8": "7f91fe355732ca8f7acbb1760b241c2252cbcf71a1d0a3ee1e41f8b9d3711d9c",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    models_dir = tmp_path_factory.mktemp("models")
    import_nomic(models_dir, SilentProgress(), Path(GGUF or ""))
    return models_dir


@pytest.fixture(scope="module")
def exact(folder: Path) -> Embedder:
    return load_embedder(folder, NOMIC, variant="fp32", threads=2)


@pytest.fixture(scope="module")
def nomic(folder: Path) -> Embedder:
    return load_embedder(folder, NOMIC, variant="int8", threads=2)


def test_known_pairs_have_their_known_cosines(exact: Embedder, nomic: Embedder) -> None:
    statement, question = (
        "My sister moved to Lisbon in May and takes the tram to work.",
        "Where does my sister live now?",
    )
    for embedder, error in ((exact, 0.0005), (nomic, 0.03)):
        awesome, great = embedder.embed_documents(["The new movie is awesome", "The new movie is so great"])
        assert awesome @ great == pytest.approx(0.905, abs=error)
        answer = embedder.embed_documents([statement])[0] @ embedder.embed_query(question)
        assert answer == pytest.approx(0.652, abs=error)


def test_vectors_are_those_of_other_software(exact: Embedder) -> None:
    reference = read_reference(profile_assets(NOMIC))
    found = [*exact.embed_documents(reference.documents), *(exact.embed_query(text) for text in reference.queries)]
    np.testing.assert_allclose(np.stack(found), reference.vectors, atol=2e-5)


def test_documents_and_queries_get_different_prefixes(nomic: Embedder) -> None:
    """spec 03.12 on the real weights"""
    text = "My sister lives in Lisbon."
    document, query = nomic.embed_documents([text])[0], nomic.embed_query(text)
    assert document @ query < 0.95


def test_the_byte_variant_stays_within_its_stated_error(exact: Embedder, nomic: Embedder) -> None:
    """docs/models.md: .992 was the least of 2,760 turns."""
    cosines = np.einsum("ij,ij->i", exact.embed_documents(STATEMENTS), nomic.embed_documents(STATEMENTS))
    assert cosines.min() > 0.985


@pytest.mark.parametrize("variant", FINGERPRINTS)
def test_tiers_recall_and_keep_similarities(folder: Path, variant: str) -> None:
    """The sanity bounds of spec 03 §5; one pair in a hundred may miss the one for 256 dimensions."""
    embedder = load_embedder(folder, NOMIC, variant=variant, threads=2)
    documents, queries = embedded(embedder)
    assert min(recall_at(3, documents, queries, dims) for dims in (64, 256, 768)) >= 0.9
    everything = np.vstack([documents, queries])
    pairs = np.triu_indices(len(everything), 1)
    full = (everything @ everything.T)[pairs]
    for dims, least in ((256, 0.90), (64, 0.70)):
        prefix = tier_vector(everything, dims)
        ratios = ((prefix @ prefix.T)[pairs] / full)[np.abs(full) >= 0.05]
        assert np.percentile(ratios, 1) >= least


@pytest.mark.parametrize("variant", FINGERPRINTS)
def test_every_machine_builds_the_same_space(folder: Path, variant: str) -> None:
    embedder = load_embedder(folder, NOMIC, variant=variant, threads=1)
    assert embedder.fingerprint == FINGERPRINTS[variant]
    assert embedder.health().ready


def test_a_long_document_is_read_to_its_end(nomic: Embedder) -> None:
    opening = "the quarterly figures were discussed at length and nothing was decided " * 55
    start, whole = nomic.embed_documents([opening, opening + "My sister plays the harpsichord in Vienna. " * 60])
    query = nomic.embed_query("Which instrument does my sister play?")
    assert nomic.count_tokens(opening) > 512
    assert query @ whole > query @ start + 0.05
    assert np.linalg.norm(whole) == pytest.approx(1.0, abs=1e-5)


def test_pulling_gives_the_same_folder_as_importing(folder: Path, tmp_path: Path) -> None:
    with serving(Path(GGUF or "").read_bytes()) as server:
        server.break_after = 100_000_000
        built = pull_profile(NOMIC, tmp_path, SilentProgress(), server.url)
        assert built.fresh
        assert len(server.asked) == 2
        assert not pull_profile(NOMIC, tmp_path, SilentProgress(), server.url).fresh
        assert len(server.asked) == 2
    assert {path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")} == {NOMIC}
    for path in (folder / NOMIC).iterdir():
        assert (tmp_path / NOMIC / path.name).read_bytes() == path.read_bytes()
