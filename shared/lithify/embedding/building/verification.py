"""Compares a freshly written model with vectors that other software computed from the same weights."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lithify.embedding.contract import Vectors
from lithify.embedding.manifest import Manifest
from lithify.embedding.onnx_embedder import OnnxEmbedder
from lithify.errors import LithifyError

REFERENCE_TEXTS = "reference.json"
REFERENCE_VECTORS = "reference.npy"

# The least cosine with the reference a variant may show. Float32 differs by rounding only; what bytes cost
# in recall at this distance is in docs/models.md.
LEAST_COSINE = {"fp32": 0.99999, "int8": 0.975}

THREADS = 2
BATCH_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Reference:
    """Texts and their vectors, before any rotation; documents first, then queries."""

    documents: list[str]
    queries: list[str]
    vectors: Vectors


def read_reference(assets: Path) -> Reference:
    texts = json.loads((assets / REFERENCE_TEXTS).read_text())
    return Reference(texts["documents"], texts["queries"], np.load(assets / REFERENCE_VECTORS))


def verify(folder: Path, manifest: Manifest, reference: Reference) -> dict[str, float]:
    """The least cosine of each variant. Raises LithifyError if one is worse than it may be."""
    cosines = {
        variant: least_cosine(folder, manifest.with_variant(variant), reference) for variant in manifest.variants
    }
    for variant, cosine in cosines.items():
        if not cosine >= LEAST_COSINE[variant]:
            raise LithifyError(
                f"{manifest.name} {variant} was written wrongly: its vectors agree with the reference to {cosine:.5f} "
                f"only, {LEAST_COSINE[variant]} is expected"
            )
    return cosines


def least_cosine(folder: Path, manifest: Manifest, reference: Reference) -> float:
    unrotated = manifest.model_copy(update={"rotation": None})
    embedder = OnnxEmbedder(folder, unrotated, "primary", threads=THREADS, batch_tokens=BATCH_TOKENS)
    documents = embedder.embed_documents(reference.documents)
    queries = [embedder.embed_query(text) for text in reference.queries]
    return float(np.einsum("ij,ij->i", np.vstack([documents, *queries]), reference.vectors).min())
