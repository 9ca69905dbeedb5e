"""Everything in one process on embedded parts: what `lithify up` runs."""
