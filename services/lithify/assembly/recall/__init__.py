"""Finds memories for a question: what is searched, how it is weighed, and what is kept between two questions."""
