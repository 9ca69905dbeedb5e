"""Docs memory at work: reads folders of documents, makes their vectors, and measures how well they are found."""
