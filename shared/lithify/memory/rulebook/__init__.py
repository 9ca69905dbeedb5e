"""Operator documents split into rules that always apply, advice, and searchable text (spec 06)."""
