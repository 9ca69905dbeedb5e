"""An embedder that fails where a test wants it to, on top of the hash embedder."""

from collections.abc import Sequence

from lithify.embedding import Embedder, HashEmbedder, Health, Vectors
from lithify.errors import LithifyError

BAD = "unspeakable"


class FaultyEmbedder(HashEmbedder):
    """Refuses texts with the word it `refuses`; while `broken`, everything. Counts its calls."""

    def __init__(self, like: Embedder, error: Exception | None = None) -> None:
        super().__init__(like.manifest.dimensions, like.manifest.tiers)
        self.broken = False
        self.refuses: str | None = BAD
        self.calls = 0
        self._error = error or LithifyError("the model failed")

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.broken or any(self.refuses is not None and self.refuses in text for text in texts):
            raise self._error
        return super().embed_documents(texts)

    def health(self) -> Health:
        return Health(not self.broken, "primary")
