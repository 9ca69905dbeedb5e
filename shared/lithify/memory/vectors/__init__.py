"""Prefix tiers of embeddings, the cascade over them, and windows for long texts (spec 03)."""
