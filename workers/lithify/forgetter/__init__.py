"""The forgetting worker: removes what is to be forgotten from every place that keeps it, and looks again."""
