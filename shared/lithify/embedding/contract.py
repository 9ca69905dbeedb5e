"""What the rest of the system knows about embedding."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from lithify.embedding.manifest import Manifest

Vectors = npt.NDArray[np.float32]

# `primary` is a profile that ships with Lithify, `onnx-local` any other folder with a manifest; a `custom-local`
# backend that is not ONNX would report itself under that name.
Mode = Literal["primary", "onnx-local", "custom-local", "fallback", "unavailable"]


@dataclass(frozen=True, slots=True)
class Health:
    """`ready` is true only if a real model answers with vectors of the promised length."""

    ready: bool
    mode: Mode
    reason: str | None = None


class Embedder(Protocol):
    """Turns texts into vectors of one space. Safe to call from several threads at once."""

    @property
    def manifest(self) -> Manifest: ...

    @property
    def fingerprint(self) -> str:
        """Names the vector space by content: equal fingerprints may share a collection, others must not."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Returns one row per text, in order. Text beyond the model's limit is read in windows, so nothing is lost.

        Raises Invalid for a text without a single token, LithifyError when the runtime fails.
        """

    def embed_query(self, text: str) -> Vectors:
        """Returns one vector, never windowed: what exceeds the model's limit is cut."""

    def count_tokens(self, text: str) -> int:
        """Counts the tokens of the text itself, without prefix and special tokens."""

    def health(self) -> Health: ...
