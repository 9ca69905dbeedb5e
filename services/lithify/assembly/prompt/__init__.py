"""Builds the memory part of a prompt from what was read, and the receipt that explains it."""
