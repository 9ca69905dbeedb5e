"""The retrieval benchmark of docs memory: questions with the documents they should find, and the scores."""
