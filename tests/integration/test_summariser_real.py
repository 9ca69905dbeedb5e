"""A real flan-t5 export: it decodes, and the preservation gate turns down what it makes of a chat."""

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import pytest

from lithify.embedding import Embedder
from lithify.memory.compaction.draft import draft_cluster
from lithify.memory.compaction.limits import SEED_COMPACTION
from lithify.memory.compaction.preservation import measure
from lithify.memory.turn import Turn
from lithify.summarising import Cancelled, OnnxSummariser, load_summariser

CHAT = (
    "I moved from Lisbon to Porto in March because my sister lives there.",
    "My cat Biscuit hates the new flat and hides under the sofa all day.",
    "We are looking for a vet near Boavista who speaks English.",
)
OTHER = ("The cat sat on the mat.",)


@lru_cache(maxsize=1)
def real() -> OnnxSummariser:
    """The export as its package ships it: `encoder.onnx`, `decoder.onnx`, a tokenizer that cuts at 48 tokens."""
    return load_summariser(Path(str(files("traceforge_title_model"))) / "data" / "span", threads=1)


def scored(texts: tuple[str, ...]) -> list[Turn]:
    return [Turn(f"t{i}", 100.0 + i, "user", text, gating_score=0.9) for i, text in enumerate(texts)]


def test_it_decodes_words_that_depend_on_the_input() -> None:
    one, other = real().write(CHAT, 64), real().write(OTHER, 64)
    assert one.text != other.text
    assert len(one.text.split()) > 2
    assert 0.0 < one.confidence <= 1.0


def test_decoding_is_deterministic() -> None:
    assert real().write(CHAT, 64) == real().write(CHAT, 64)


def test_a_shorter_limit_gives_the_beginning_of_the_same_text() -> None:
    whole, beginning = real().write(CHAT, 64).text, real().write(CHAT, 3).text
    assert whole.startswith(beginning)
    assert len(beginning) < len(whole)


def test_its_context_is_512_tokens_although_its_tokenizer_cuts_at_48() -> None:
    assert real().fits(CHAT * 5)
    assert not real().fits(CHAT * 15)


def test_an_off_topic_title_is_turned_down_by_the_gate(default_model: Embedder) -> None:
    """spec 05.5 on real models; the extract takes its place and keeps what the decoder thought of itself."""
    written = real().write(CHAT, 64)
    vectors = default_model.embed_documents([*CHAT, written.text])
    level = default_model.manifest.background.documents
    assert measure(vectors[-1:], vectors[:-1], level).align < SEED_COMPACTION.preserve_align

    draft = draft_cluster(scored(CHAT), (), default_model.embed_documents, real(), background=level).draft
    assert draft is not None
    assert draft.method == "extractive"
    assert draft.conf_decoder == pytest.approx(written.confidence)
    assert all(sentence in " ".join(CHAT) for sentence in draft.text.split(". "))


def test_cancelling_ends_the_draft_not_only_the_attempt(default_model: Embedder) -> None:
    with pytest.raises(Cancelled):
        draft_cluster(scored(CHAT), (), default_model.embed_documents, real(), is_cancelled=lambda: True)
