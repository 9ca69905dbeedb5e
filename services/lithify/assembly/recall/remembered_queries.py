"""Remembers the vectors of recent questions: an agent asks the same one again after every tool call."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final

from lithify.embedding import Embedder, Health, Manifest, Vectors

SIZE: Final = 256


class RememberedQueries:
    """Implements Embedder around another one. Keeps vectors under digests: the words asked are not kept."""

    def __init__(self, embedder: Embedder, size: int = SIZE) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = Lock()  # questions are embedded on several threads

    @property
    def manifest(self) -> Manifest:
        return self._embedder.manifest

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        key = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
        with self._lock:
            known = self._vectors.get(key)
            if known is not None:
                self._vectors.move_to_end(key)
                return known
        vector = self._embedder.embed_query(text)
        with self._lock:
            self._vectors[key] = vector
            if len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return vector

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def health(self) -> Health:
        return self._embedder.health()
