"""Summarises a cluster by its most central turns, without any model but the embedder (spec 05 §5)."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lithify.memory.bounds import clamp01, number_or
from lithify.memory.compaction.cluster_geometry import Vectors, as_matrix, centroid, cosines
from lithify.memory.tokens import estimate_tokens

DENSITY = 0.4

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？]")


@dataclass(frozen=True, slots=True)
class Extract:
    text: str
    kept: tuple[int, ...]
    confidence: float  # centrality of what was kept; not yet the summary's confidence


def extract(texts: Sequence[str], vectors: Vectors, density: float = DENSITY, max_tokens: int | None = None) -> Extract:
    """Keeps the share `density` of the texts, nearest to the centroid, in their own order.

    With `max_tokens` the result never costs more than that.
    """
    rows = as_matrix(vectors)
    if len(texts) != len(rows):
        raise ValueError(f"{len(texts)} texts but {len(rows)} vectors")
    if max_tokens is not None and max_tokens < 1:
        raise ValueError(f"a summary needs at least one output token, got {max_tokens}")
    centrality = cosines(rows, centroid(rows))
    ranked = np.argsort(-centrality, kind="stable").tolist()[: keep_count(len(texts), density)]
    kept = _drop_excess(ranked, texts, max_tokens)
    text = _shorten(_join_texts(texts, kept), max_tokens)
    return Extract(text, tuple(sorted(kept)), clamp01(float(centrality[kept].mean())))


def keep_count(n: int, density: float) -> int:
    """Counts the turns to keep: at least one, at most all; a density outside (0, 1] means the default."""
    valid = number_or(density, 0.0)
    share = valid if 0.0 < valid <= 1.0 else DENSITY
    # The margin stops 0.28 * 25 = 7.000000000000001 from keeping an eighth turn.
    return min(max(math.ceil(share * n - 1e-9), 1), n)


def _drop_excess(ranked: list[int], texts: Sequence[str], max_tokens: int | None) -> list[int]:
    """Drops the least central turns that do not fit (X26); the most central one always stays."""
    kept = list(ranked)
    while max_tokens is not None and len(kept) > 1 and estimate_tokens(_join_texts(texts, kept)) > max_tokens:
        kept.pop()
    return kept


def _join_texts(texts: Sequence[str], kept: Iterable[int]) -> str:
    trimmed = (texts[index].strip() for index in sorted(kept))
    return " ".join(text for text in trimmed if text)


def _shorten(text: str, max_tokens: int | None) -> str:
    """Cuts at the last sentence end that fits (X26), else the last word, else the last character."""
    if max_tokens is None or estimate_tokens(text) <= max_tokens:
        return text
    # A longer prefix never costs less, so the longest affordable one can be bisected.
    limit = bisect_right(range(len(text)), max_tokens, key=lambda end: estimate_tokens(text[:end])) - 1
    sentences = [end for match in _SENTENCE_END.finditer(text) if (end := match.end()) <= limit]
    if sentences:
        return text[: sentences[-1]]
    word_end = text.rfind(" ", 0, limit + 1)
    return text[: word_end if word_end > 0 else limit].rstrip()
