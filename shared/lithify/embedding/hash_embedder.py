"""The hash fallback: deterministic vectors without a model, good for tests and never reported healthy."""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lithify.embedding.contract import Health, Vectors
from lithify.embedding.manifest import Manifest, settings_digest
from lithify.embedding.vectors import unit_rows

HASH_PROFILE = "hash"
UNLIMITED = 1_048_576  # words; it never cuts


class HashEmbedder:
    """Implements Embedder by adding up word hashes (spec 03 §6): rank 32 at most, and blind to meaning."""

    def __init__(self, dimensions: int = 384, tiers: tuple[int, ...] = ()) -> None:
        self._manifest = Manifest(
            name=HASH_PROFILE, model=HASH_PROFILE, dimensions=dimensions, tiers=tiers, max_tokens=UNLIMITED
        )

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(settings_digest(self._manifest)).hexdigest()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        sums = [self._sum(text.lower().split() or [text]) for text in texts]
        return unit_rows(np.array(sums, np.float64).reshape(len(texts), self._manifest.dimensions))

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def health(self) -> Health:
        return Health(False, "fallback", "vectors are hashes of words, not of meaning; run `lithify models build`")

    def _sum(self, words: Sequence[str]) -> npt.NDArray[np.float64]:
        digests = [hashlib.sha256(word.encode(errors="surrogatepass")).digest() for word in words]
        numbers = np.frombuffer(b"".join(digests), np.uint8).reshape(len(words), -1) / 127.5 - 1.0
        repeated: npt.NDArray[np.float64] = np.resize(numbers.sum(axis=0), self._manifest.dimensions)
        return repeated
