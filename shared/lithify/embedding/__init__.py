"""Embedding: texts to vectors of one space, on local models only."""

from lithify.embedding.configured import load_configured_embedder, load_embedder
from lithify.embedding.contract import Embedder, Health, Mode, Vectors
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.embedding.manifest import Manifest

__all__ = [
    "Embedder",
    "HashEmbedder",
    "Health",
    "Manifest",
    "Mode",
    "Vectors",
    "load_configured_embedder",
    "load_embedder",
]
