"""The summariser on a real ONNX graph that can be decoded by hand."""

from pathlib import Path

import numpy as np
import pytest

from lithify.errors import Invalid, Misconfigured
from lithify.memory.compaction.draft import Abstractive, draft_cluster
from lithify.memory.turn import Turn
from lithify.summarising import Cancelled, OnnxSummariser, load_summariser
from lithify.summarising.summariser import log_probability
from tests.unit.compactor.session_store import bag_of_words
from tests.unit.summarising.tiny_export import WORDS, encoder, follows, logits_after, write_export

INPUT = ["summarize", ":", "ships", "far", "</s>"]  # what the model sees of the texts "ships" and "far"


@pytest.fixture
def summariser(tmp_path: Path) -> OnnxSummariser:
    return load_summariser(write_export(tmp_path), threads=1)


def test_it_writes_the_likeliest_words_with_their_probability(summariser: OnnxSummariser) -> None:
    written = summariser.write(["ships", "far"], 64)
    assert written.text == "ships sail far"
    steps = (("<pad>", "ships"), ("ships", "sail"), ("sail", "far"))
    expected = [
        log_probability(logits_after(before, INPUT).astype(np.float64), WORDS.index(after)) for before, after in steps
    ]
    assert written.confidence == pytest.approx(np.exp(np.mean(expected)), rel=1e-5)
    assert 0.0 < written.confidence < 1.0


def test_the_input_decides_what_is_written(summariser: OnnxSummariser) -> None:
    assert summariser.write(["storms"], 64).text == "storms break"


def test_the_output_limit_is_kept(summariser: OnnxSummariser) -> None:
    assert summariser.write(["ships"], 2).text == "ships sail"


def test_a_merged_decoder_writes_the_same(tmp_path: Path, summariser: OnnxSummariser) -> None:
    merged = load_summariser(write_export(tmp_path / "merged", merged=True), threads=1)
    assert merged.write(["ships", "far"], 64) == summariser.write(["ships", "far"], 64)


def test_the_same_texts_always_give_the_same_words(summariser: OnnxSummariser) -> None:
    assert len({summariser.write(["ships", "far"], 64) for _ in range(3)}) == 1


def test_input_up_to_the_context_fits_and_one_token_more_does_not(tmp_path: Path) -> None:
    """X30; the task's two words and the end token count too, the tokenizer's own cut at three does not."""
    summariser = load_summariser(write_export(tmp_path, n_positions=16), threads=1)
    assert summariser.fits(["ships"] * 13)
    assert not summariser.fits(["ships"] * 14)
    with pytest.raises(Invalid, match="17 tokens are more than the summariser's context of 16"):
        summariser.write(["ships"] * 14, 64)


def test_config_overrules_the_names_of_the_special_tokens(tmp_path: Path) -> None:
    folder = write_export(tmp_path, decoder_start_token_id=WORDS.index("ships"), eos_token_id=WORDS.index("far"))
    assert load_summariser(folder, threads=1).write(["ships"], 64).text == "sail"


def test_it_is_what_compaction_asks_for(summariser: OnnxSummariser) -> None:
    backend: Abstractive = summariser
    assert (backend.method, backend.ready) == ("t5", True)


def test_a_faithful_text_of_its_own_passes_the_gate(summariser: OnnxSummariser) -> None:
    turns = [Turn(f"t{i}", float(i), "user", "ships sail far and ships sail far", gating_score=0.9) for i in range(2)]
    draft = draft_cluster(turns, (), bag_of_words, summariser).draft
    assert draft is not None
    assert (draft.method, draft.text) == ("t5", "ships sail far")


def test_a_cancelled_summary_stops(summariser: OnnxSummariser) -> None:
    with pytest.raises(Cancelled):
        summariser.write(["ships"], 64, is_cancelled=lambda: True)


def test_half_a_surrogate_pair_is_refused(summariser: OnnxSummariser) -> None:
    with pytest.raises(Invalid, match="not valid Unicode"):
        summariser.fits(["\ud800"])


def test_special_tokens_nobody_names_are_asked_for(tmp_path: Path) -> None:
    folder = write_export(tmp_path)
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("</s>", "[end]"))
    with pytest.raises(Misconfigured, match="add decoder_start_token_id and eos_token_id"):
        load_summariser(folder, threads=1)


@pytest.mark.parametrize("name", ["encoder_model.onnx", "decoder_model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_export(tmp_path)
    (folder / name).write_bytes(b"damaged")
    with pytest.raises(Misconfigured, match=name):
        load_summariser(folder, threads=1)


def test_graphs_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    folder = write_export(tmp_path)
    narrow = follows()[:, :3]
    (folder / "encoder_model.onnx").write_bytes(encoder(narrow).SerializeToString())
    with pytest.raises(Misconfigured, match="does not run"):
        load_summariser(folder, threads=1)


def test_a_graph_without_the_expected_output_is_named(tmp_path: Path) -> None:
    folder = write_export(tmp_path)
    (folder / "decoder_model.onnx").write_bytes((folder / "encoder_model.onnx").read_bytes())
    with pytest.raises(Misconfigured, match=r"decoder_model\.onnx has no output 'logits'; it has last_hidden_state"):
        load_summariser(folder, threads=1)
