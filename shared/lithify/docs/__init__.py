"""Docs memory: operator documents cut into citable chunks, found by words and by meaning (spec 10).

Names are imported from the modules: `sources` loads nothing heavy, so that a command which only compares digests
starts at once.
"""
