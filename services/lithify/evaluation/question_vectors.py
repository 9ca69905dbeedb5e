"""Keeps the vectors of a benchmark's questions on disk: a slow model is asked for each of them once."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np

from lithify.embedding import Embedder, Health, Manifest, Vectors


class QuestionVectorFile:
    """Implements Embedder around another one; what it was asked is written when it is left.

    The file is named by the fingerprint, so another model or precision has another file. Not for several threads that
    ask for the same text at once: both would embed it.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._path = folder / f"questions-{short(embedder.fingerprint)}.npz"
        self._vectors = _read(self._path)
        self._known = len(self._vectors)

    @property
    def manifest(self) -> Manifest:
        return self._embedder.manifest

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        key = hashlib.sha256(text.encode()).hexdigest()
        if key not in self._vectors:
            self._vectors[key] = self._embedder.embed_query(text)
        return self._vectors[key]

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def health(self) -> Health:
        return self._embedder.health()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if len(self._vectors) > self._known:
            _write(self._path, self._vectors)


def short(fingerprint: str) -> str:
    """Fit for a file's name, whatever a fingerprint may be made of."""
    return hashlib.sha256(fingerprint.encode()).hexdigest()[:12]


def _read(path: Path) -> dict[str, Vectors]:
    # Whatever is wrong with a cache, the vectors can be made anew.
    with suppress(OSError, ValueError, KeyError, BadZipFile), path.open("rb") as file, np.load(file) as stored:
        return dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))
    return {}


def _write(path: Path, vectors: dict[str, Vectors]) -> None:
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        np.savez(file, keys=np.array(list(vectors)), vectors=np.stack(list(vectors.values())))
    fresh.replace(path)
