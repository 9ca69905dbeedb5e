"""The embedder on a local ONNX model: prefixes, windows, batches and rotation around the bare inference."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lithify.embedding.contract import Health, Mode, Vectors
from lithify.embedding.inference import EncoderModel, plan_batches
from lithify.embedding.manifest import Manifest, content_fingerprint
from lithify.embedding.tokenizer import Row, TextTokenizer
from lithify.embedding.vectors import load_rotation, unit_rows, window_means
from lithify.errors import Invalid, LithifyError, Misconfigured
from lithify.memory.vectors.background import UNRELATED_TEXTS, USUAL_BACKGROUND, Background, measure_background

PROBE = "The quick brown fox jumps over the lazy dog."


class OnnxEmbedder:
    """Implements Embedder on a model folder. Raises Misconfigured at construction unless a probe text gets a vector."""

    def __init__(self, folder: Path, manifest: Manifest, mode: Mode, *, threads: int, batch_tokens: int) -> None:
        self._manifest = manifest
        self._mode: Mode = mode
        self._batch_tokens = batch_tokens
        self._failure: str | None = None
        self._tokenizer = _load_tokenizer(folder, manifest)
        self._rotation = load_rotation(folder / manifest.rotation, manifest.dimensions) if manifest.rotation else None
        self._model = EncoderModel(folder / manifest.model, manifest, threads)
        self._fingerprint = content_fingerprint(manifest, folder)
        self._probe()
        if "background" not in manifest.model_fields_set:
            self._manifest = manifest.model_copy(update={"background": self._measure_background()})

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self._manifest.dimensions), np.float32)
        windows = [self.windows(text) for text in texts]
        vectors = self._embed([row for rows in windows for row in rows])
        means = window_means(vectors, [len(rows) for rows in windows])
        return self._rotate(means)

    def embed_query(self, text: str) -> Vectors:
        row = self._tokenizer.head(self._manifest.prefixes.query + text, self._manifest.max_tokens)
        vector: Vectors = self._rotate(self._embed([row]))[0]
        return vector

    def windows(self, text: str) -> list[Row]:
        """Returns the token rows a document is read by."""
        manifest = self._manifest
        return self._tokenizer.windows(manifest.prefixes.document + text, manifest.window, manifest.overlap)

    def count_tokens(self, text: str) -> int:
        return self._tokenizer.count(text)

    def health(self) -> Health:
        """Speaks of the latest call, so a model that stops answering shows, and one that recovers does too."""
        failure = self._failure
        return Health(True, self._mode) if failure is None else Health(False, "unavailable", failure)

    def _embed(self, rows: Sequence[Row]) -> Vectors:
        """Returns one unit vector per row, in order."""
        if not all(rows):
            raise Invalid("a text without a single token has no embedding")
        vectors = np.empty((len(rows), self._manifest.dimensions), np.float32)
        for batch in plan_batches([len(row) for row in rows], self._batch_tokens):
            vectors[batch] = self._run([rows[i] for i in batch])
        return self._normalise(vectors)

    def _run(self, rows: Sequence[Row]) -> Vectors:
        try:
            vectors = self._model.run(rows)
        except LithifyError as error:
            self._failure = str(error)
            raise
        self._failure = None
        return vectors

    def _normalise(self, vectors: Vectors) -> Vectors:
        return unit_rows(vectors) if self._manifest.normalize else vectors

    def _rotate(self, vectors: Vectors) -> Vectors:
        """Rotates and normalises: windows shorten their mean and float32 the rotation, and both end at length 1."""
        rotated = vectors if self._rotation is None else vectors @ self._rotation
        return self._normalise(rotated)

    def _measure_background(self) -> Background:
        """Returns the level of the model's cosines; the usual one for a model that cannot read plain sentences."""
        prefix = self._manifest.prefixes.query
        limit = self._manifest.max_tokens
        try:
            questions = self._embed([self._tokenizer.head(prefix + text, limit) for text in UNRELATED_TEXTS])
            return measure_background(self.embed_documents(UNRELATED_TEXTS), self._rotate(questions))
        except LithifyError:
            return USUAL_BACKGROUND

    def _probe(self) -> None:
        rows = [self._tokenizer.head(self._manifest.prefixes.document + PROBE, self._manifest.max_tokens)]
        try:
            vectors = self._model.run(rows)
        except LithifyError as error:
            raise Misconfigured(f"{self._manifest.name}: {error}") from error
        if vectors.shape != (1, self._manifest.dimensions):
            raise Misconfigured(
                f"{self._manifest.name}: the model gives vectors of {vectors.shape[-1]} components; "
                f"the manifest says {self._manifest.dimensions}"
            )
        if not (np.isfinite(vectors).all() and vectors.any()):
            raise Misconfigured(f"{self._manifest.name}: the model's vector of a probe text is empty or not finite")


def _load_tokenizer(folder: Path, manifest: Manifest) -> TextTokenizer:
    path = folder / manifest.tokenizer
    try:
        definition = path.read_bytes()
    except OSError as error:
        raise Misconfigured(f"{manifest.name}: the tokenizer cannot be read: {error}") from error
    return TextTokenizer(definition, add_special_tokens=manifest.add_special_tokens)
