"""Makes the vectors of a record from its text, the same way for every worker that writes records."""

from lithify.records.dense import Embedded, Tiers, embed_each, tier_names, vectors_of
from lithify.records.lexical import lexical_of

__all__ = ["Embedded", "Tiers", "embed_each", "lexical_of", "tier_names", "vectors_of"]
