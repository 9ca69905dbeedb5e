"""Makes the vectors of a record from its text, the same way for every worker that writes records."""

from lithify.indexing.vectors import (
    TextVectors,
    Tiers,
    attach_vectors,
    embed_each,
    embed_tiers,
    lexical_vector,
    record_text,
    text_to_embed,
    tier_names,
)

__all__ = [
    "TextVectors",
    "Tiers",
    "attach_vectors",
    "embed_each",
    "embed_tiers",
    "lexical_vector",
    "record_text",
    "text_to_embed",
    "tier_names",
]
