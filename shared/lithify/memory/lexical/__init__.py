"""Texts as sparse vectors of their words (spec 10)."""
