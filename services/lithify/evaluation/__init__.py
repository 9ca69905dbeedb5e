"""Measures recall on conversations with known evidence, through the system as hosts use it."""
