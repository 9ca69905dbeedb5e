"""Embedded texts and questions about them, on which tiers are calibrated and measured."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from lithify.batching import batched
from lithify.cli.progress import count_items
from lithify.embedding import Embedder, Vectors
from lithify.evaluation.datasets import load_dataset

BATCH: Final = 256
TOPICS: Final = 1_000
SYNTHETIC_QUESTIONS: Final = 300
# So the first 64 and 128 components hold 50 and 69 % of a vector's square; of MiniLM's rotated ones it is 46 and 70 %.
SPECTRUM_SHIFT: Final = 16
TOPIC_WEIGHT: Final = 0.4
# The best score of a question lies between these, as nine of ten do on LoCoMo.
NEAREST: Final = (0.5, 0.75)


@dataclass(frozen=True, slots=True)
class TierGroup:
    """Questions are asked about the texts of their own group only."""

    name: str
    documents: Vectors
    questions: Vectors


@dataclass(frozen=True, slots=True)
class TierData:
    """Vectors of texts and questions; the digest names what they were made of."""

    name: str
    sha256: str
    groups: tuple[TierGroup, ...]

    @property
    def documents(self) -> int:
        return sum(len(group.documents) for group in self.groups)

    @property
    def questions(self) -> int:
        return sum(len(group.questions) for group in self.groups)


def embed_dataset(folder: Path, embedder: Embedder) -> TierData:
    """Embeds a benchmark in the prepared form, or LoCoMo's own file."""
    dataset = load_dataset("locomo", folder)
    groups = []
    with count_items("embedding", len(dataset.conversations)) as advance:
        for conversation in dataset.conversations:
            texts = [turn.text for turn in conversation.turns]
            asked = [question.text for question in dataset.questions if question.conversation == conversation.id]
            if asked:
                questions = np.stack([embedder.embed_query(text) for text in asked])
                groups.append(TierGroup(conversation.id, _embed(texts, embedder), questions))
            advance(1)
    return TierData(folder.name, dataset.sha256, tuple(groups))


def _embed(texts: list[str], embedder: Embedder) -> Vectors:
    parts = [embedder.embed_documents(batch) for batch in batched(texts, BATCH)]
    return np.concatenate(parts)


def make_synthetic_data(points: int, dimensions: int) -> TierData:
    """Draws random texts about random topics with the spectrum of a real model, the same in every run."""
    random = np.random.default_rng(3)
    topics = _directions(random, TOPICS, dimensions)
    own = np.concatenate([*_draw(random, points, dimensions)])
    about = topics[random.integers(TOPICS, size=points)]
    documents = _unit(np.sqrt(TOPIC_WEIGHT) * about + np.sqrt(1 - TOPIC_WEIGHT) * own)
    near = random.uniform(*NEAREST, size=(SYNTHETIC_QUESTIONS, 1))
    meant = documents[random.integers(points, size=SYNTHETIC_QUESTIONS)]
    noise = _directions(random, SYNTHETIC_QUESTIONS, dimensions)
    questions = _unit(near * meant + np.sqrt(1 - near**2) * noise)
    digest = hashlib.sha256(documents.tobytes() + questions.tobytes()).hexdigest()
    return TierData("synthetic", digest, (TierGroup("synthetic", documents, questions),))


def _draw(random: np.random.Generator, points: int, dimensions: int) -> Iterator[Vectors]:
    """Draws in portions: float64 on the way would double the memory."""
    for start in range(0, points, 10_000):
        yield _directions(random, min(10_000, points - start), dimensions)


def _directions(random: np.random.Generator, count: int, dimensions: int) -> Vectors:
    spread = (np.arange(dimensions) + SPECTRUM_SHIFT) ** -0.5
    return _unit(random.standard_normal((count, dimensions)) * spread)


def _unit(vectors: npt.NDArray[np.floating]) -> Vectors:
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit
