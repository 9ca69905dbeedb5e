"""Embedding: texts to vectors of one space, on local models only."""

from lithify.embedding.contract import Embedder, Health, Mode, Vectors
from lithify.embedding.fingerprint import check_fingerprint
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.embedding.loader import load_embedder
from lithify.embedding.manifest import Manifest
from lithify.embedding.vectors import check_dimensions

__all__ = [
    "Embedder",
    "HashEmbedder",
    "Health",
    "Manifest",
    "Mode",
    "Vectors",
    "check_dimensions",
    "check_fingerprint",
    "load_embedder",
]
