"""The embedder on any local ONNX model, shown on one small enough to compute by hand."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from lithify.embedding import Embedder, load_embedder
from lithify.embedding.manifest import profile_assets, read_manifest
from lithify.embedding.vectors import save_rotation
from lithify.errors import Invalid, LithifyError
from tests.unit.embedding.tiny_model import DIMENSIONS, mean_of, write_folder


def load(folder: Path, batch_tokens: int = 1024) -> Embedder:
    return load_embedder(folder.parent, folder.name, threads=1, batch_tokens=batch_tokens)


@pytest.fixture
def tiny(tmp_path: Path) -> Embedder:
    return load(write_folder(tmp_path / "tiny"))


def test_a_pooled_output_is_taken_as_it_is(tiny: Embedder) -> None:
    vectors = tiny.embed_documents(["red green"])
    np.testing.assert_allclose(vectors[0], mean_of("[CLS]", "red", "green", "[SEP]"), atol=1e-6)
    assert vectors.dtype == np.float32


def test_token_vectors_without_a_word_on_pooling_are_averaged_over_attended_tokens(tmp_path: Path) -> None:
    embedder = load(write_folder(tmp_path / "tiny", output="last_hidden_state", outputName="last_hidden_state"))
    short, long = embedder.embed_documents(["red", "red green blue x"])
    np.testing.assert_allclose(short, mean_of("[CLS]", "red", "[SEP]"), atol=1e-6)
    np.testing.assert_allclose(long, mean_of("[CLS]", "red", "green", "blue", "x", "[SEP]"), atol=1e-6)


def test_cls_pooling_takes_the_first_token(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", output="last_hidden_state", outputName="last_hidden_state", pooling="cls")
    np.testing.assert_allclose(load(folder).embed_query("red green"), mean_of("[CLS]"), atol=1e-6)


def test_inputs_go_by_the_names_and_number_the_model_wants(tmp_path: Path) -> None:
    names = ("tokens", "attended")
    folder = write_folder(tmp_path / "tiny", inputs=names, inputNames=list(names))
    np.testing.assert_allclose(load(folder).embed_query("blue"), mean_of("[CLS]", "blue", "[SEP]"), atol=1e-6)


def test_token_types_are_not_sent_to_a_model_that_does_not_ask_for_them(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", inputs=("input_ids", "attention_mask"))
    np.testing.assert_allclose(load(folder).embed_query("blue"), mean_of("[CLS]", "blue", "[SEP]"), atol=1e-6)


def test_special_tokens_can_be_left_out(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", addSpecialTokens=False)
    np.testing.assert_allclose(load(folder).embed_query("red blue"), mean_of("red", "blue"), atol=1e-6)


@pytest.mark.parametrize(
    ("profile", "document", "query"),
    [
        ("nomic-embed-text-v1.5", ("search_document", ":", "x"), ("search_query", ":", "x")),
        ("all-minilm-l6-v2", ("x",), ("x",)),
    ],
)
def test_the_model_sees_the_prefixes_of_its_profile(
    tmp_path: Path, profile: str, document: tuple[str, ...], query: tuple[str, ...]
) -> None:
    """spec 03.12: nomic sees a prefix before documents and another before queries, MiniLM sees the bare text."""
    prefixes = read_manifest(profile_assets(profile)).prefixes.model_dump()
    embedder = load(write_folder(tmp_path / "tiny", prefixes=prefixes))
    np.testing.assert_allclose(embedder.embed_documents(["x"])[0], mean_of("[CLS]", *document, "[SEP]"), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("x"), mean_of("[CLS]", *query, "[SEP]"), atol=1e-6)


def test_order_is_kept_whatever_the_lengths_and_batches(tmp_path: Path) -> None:
    texts = ["red " * 9, "blue", "green green x", "x", "red blue red blue", "green"]
    embedder = load(write_folder(tmp_path / "tiny"), batch_tokens=16)
    alone = np.vstack([embedder.embed_documents([text]) for text in texts])
    np.testing.assert_allclose(embedder.embed_documents(texts), alone, atol=1e-6)


def test_no_texts_give_no_vectors(tiny: Embedder) -> None:
    assert tiny.embed_documents([]).shape == (0, DIMENSIONS)


def test_a_long_document_is_read_to_its_end_in_windows(tiny: Embedder) -> None:
    """spec 03.11: the mean of the windows' unit vectors, brought back to length 1."""
    text = "red " * 14 + "blue " * 6  # 14 words fit between the special tokens, 8 are read twice
    first = mean_of("[CLS]", *["red"] * 14, "[SEP]")
    second = mean_of("[CLS]", *["red"] * 8, *["blue"] * 6, "[SEP]")
    mean = (first + second) / 2
    vector = tiny.embed_documents([text])[0]
    np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


def test_a_query_is_cut_at_the_limit_and_never_windowed(tiny: Embedder) -> None:
    within = "red " * 14
    np.testing.assert_array_equal(tiny.embed_query(within + "blue " * 50), tiny.embed_query(within))


def test_a_rotation_is_applied_and_changes_no_cosine(tmp_path: Path) -> None:
    plain = load(write_folder(tmp_path / "plain"))
    folder = write_folder(tmp_path / "turned", rotation="rotation.npy")
    save_rotation(folder / "rotation.npy", np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0])
    texts = ["red", "green blue", "x " * 40, "red x"]
    before, after = plain.embed_documents(texts), load(folder).embed_documents(texts)
    assert np.abs(before - after).max() > 0.1
    np.testing.assert_allclose(after @ after.T, before @ before.T, atol=1e-5)


def test_vectors_keep_their_length_where_the_manifest_asks_for_it(tmp_path: Path) -> None:
    raw = load(write_folder(tmp_path / "tiny", normalize=False)).embed_query("red")
    assert np.linalg.norm(raw) != pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(raw / np.linalg.norm(raw), mean_of("[CLS]", "red", "[SEP]"), atol=1e-6)


def test_tokens_are_counted_without_frame_prefix_or_cut(tiny: Embedder) -> None:
    assert tiny.count_tokens("red green blue") == 3
    assert tiny.count_tokens("red " * 100) == 100


def test_a_text_without_tokens_is_refused_if_nothing_frames_it(tmp_path: Path, tiny: Embedder) -> None:
    np.testing.assert_allclose(tiny.embed_documents([""])[0], mean_of("[CLS]", "[SEP]"), atol=1e-6)
    bare = load(write_folder(tmp_path / "bare", addSpecialTokens=False))
    with pytest.raises(Invalid, match="without a single token"):
        bare.embed_documents(["red", " "])


def test_concurrent_callers_get_the_vectors_they_asked_for(tiny: Embedder) -> None:
    texts = [[word, f"{word} x", f"{word} " * 30] for word in ("red", "green", "blue", "x")] * 8
    expected = [tiny.embed_documents(batch) for batch in texts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(tiny.embed_documents, texts))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_health_follows_the_latest_call(tiny: Embedder) -> None:
    assert tiny.health().ready
    assert tiny.health().mode == "onnx-local"
    with pytest.raises(LithifyError, match="the embedding model failed on 1 × 3 tokens"):
        tiny.embed_documents(["beyond"])
    assert not tiny.health().ready
    assert tiny.health().mode == "unavailable"
    assert "the embedding model failed" in (tiny.health().reason or "")
    tiny.embed_query("red")
    assert tiny.health().ready
