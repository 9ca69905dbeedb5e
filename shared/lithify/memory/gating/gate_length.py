"""The gate's own length estimate; never to be used for a budget, so it lives apart from the host estimator."""

CODE_POINTS_PER_UNIT = 4


def gate_length(text: str) -> int:
    """L(t), at least 1. Counts code points, not bytes (X07)."""
    return max(len(text) // CODE_POINTS_PER_UNIT, 1)
