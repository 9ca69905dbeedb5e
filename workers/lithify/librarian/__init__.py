"""The jobs of docs memory: refresh documents from folders, make their vectors, measure how well they are found."""
